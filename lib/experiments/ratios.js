// Ratios of an experiment's rows, beside the published ones.
import { times } from '../base/units.js'
import { grossCost, netCost } from '../measures/server.js'
import { measureNamed } from '../result/metrics.js'
import { ratioOf, standing } from '../result/ratio.js'
import { quotable } from '../result/statistics.js'
import { legsOf } from './matrix.js'
import { publishedFigures } from './published.js'

/**
 * @import { ExperimentRatio } from '../result/experiment-document.js'
 * @import { Leg } from './matrix.js'
 * @import { Standing } from '../result/ratio.js'
 * @import { Ratio } from './schema.js'
 * @import { LegTurn, Matrix, TurnResult } from './summary.js'
 */

const cpuFigure = /(^|_)(master|replica)\.(engine_)?cpu_pct$/

/**
 * As in rows, only runs at the lowest rate of any round count. Nothing is scaled to another rate, since CPU per item
 * varies with it.
 * @param {ReturnType<typeof legsOf>} of @param {string} figure @param {ReturnType<typeof legsOf>} to @param {string} toFigure
 */
const pairsOf = (of, figure, to, toFigure) => {
  const slowest = Math.min(...[...of, ...to].map(({ turn }) => turn.factor))
  return of.flatMap((leg) => {
    const other = to.find(({ turn }) => turn.round === leg.turn.round)
    if (!other || leg.turn.factor !== slowest || other.turn.factor !== slowest) return []
    if (leg.figures[figure] === undefined || other.figures[toFigure] === undefined) return []
    return [{ of: leg.figures[figure], to: other.figures[toFigure], valid: leg.valid && other.valid }]
  })
}

/** The ratio of two published rows; null: unknown. @param {Ratio} ratio @param {Leg} of @param {Leg} to @param {Matrix} matrix */
const publishedRatio = (
  { published: said, figure = 'master.cpu_pct', toFigure = figure },
  of,
  to,
  { published },
) => {
  if (said !== undefined) return said
  if (of.published === null || to.published === null || !published) return null
  const above = publishedFigures(published.rows[of.published])[figure]
  const below = publishedFigures(published.rows[to.published])[toFigure]
  return above === undefined || below === undefined ? null : above / below
}

/** A ratio of two phases of one case names the phases only. @param {Ratio} ratio */
const pairName = ({ of, to }) => {
  const [cell, phase] = of.split(' / ')
  return phase && to.startsWith(`${cell} / `) ? `${phase} / ${to.slice(cell.length + 3)}` : `${of} / ${to}`
}

const wideInterval =
  'these rounds show no clear difference: more rounds (--rounds) or longer ones (--duration) narrow the interval'

/**
 * What explains a ratio that differs from the published one; null: no difference, or no known reason.
 * @param {Standing} stands
 * @param {Ratio} ratio
 * @param {Leg} of
 * @param {Matrix} matrix
 */
const reasonOf = (stands, { why, figure = 'master.cpu_pct' }, { options }, { published }) => {
  if (stands === 'agrees') return null
  if (stands === 'undecided') return wideInterval
  if (why !== undefined) return why
  if (stands !== 'contradicts' || !published || !cpuFigure.test(figure)) return null
  return options.pacing === 'closed'
    ? 'The published figures are the CPU of the host, averaged over a minute; ours are that of the server process.'
    : 'The published figures are the CPU of the host, averaged over a minute, at rates that the writers did not sustain; ours are that of the server process at the rate asked.'
}

/**
 * The metrics that are divided. Idle cost draws a ratio of costs towards 1, so net costs are used if every turn has them.
 * @param {Ratio} ratio
 * @param {readonly LegTurn[]} legs
 */
const figuresIn = ({ figure = 'master.cpu_pct', toFigure = figure }, legs) => {
  const isNet =
    figure === grossCost && toFigure === grossCost && legs.every(({ figures }) => netCost in figures)
  return isNet ? { figure: netCost, toFigure: netCost } : { figure, toFigure }
}

/**
 * @param {Ratio} ratio
 * @param {Leg} of
 * @param {Leg} to
 * @param {string | null} variant
 * @param {Matrix} matrix
 * @param {TurnResult[]} turns
 * @returns {ExperimentRatio[]}
 */
const ratioIn = (ratio, of, to, variant, matrix, turns) => {
  const [above, below] = [legsOf(turns, of.row), legsOf(turns, to.row)]
  const { figure, toFigure } = figuresIn(ratio, [...above, ...below])
  const pairs = quotable(pairsOf(above, figure, below, toFigure))
  const ours = ratioOf(pairs)
  if (!ours) return []
  const theirs = publishedRatio(ratio, of, to, matrix)
  const stands = theirs === null ? 'agrees' : standing(ours, theirs)
  const why = reasonOf(stands, ratio, of, matrix)
  const name = ratio.name ?? pairName(ratio)
  const said =
    theirs === null
      ? ''
      : `published ${times(theirs)}${ratio.claim ? ` ("${ratio.claim}")` : ''}, here ${times(ours.ratio)}`
  return [
    {
      label: variant ? `${name} (${variant})` : name,
      figure,
      ...(toFigure !== figure && { denominator_figure: toFigure }),
      numerator: of.row,
      denominator: to.row,
      ours: { ratio: ours.ratio, low: ours.low, high: ours.high },
      samples: ours.samples,
      published: theirs,
      standing: theirs === null ? null : stands,
      claim: ratio.claim ?? null,
      contradicts: stands === 'contradicts' ? [said, why].filter(Boolean).join('. ') : null,
      why,
    },
  ]
}

/** Every ratio, within each variant that has both of its rows. @param {Matrix} matrix @param {TurnResult[]} turns @returns {ExperimentRatio[]} */
export const ratiosOf = (matrix, turns) => {
  const variants = [...new Set(matrix.cells.map(({ variant }) => variant))]
  const named = (/** @type {string | null} */ variant, /** @type {string} */ name) =>
    matrix.cells
      .filter((cell) => cell.variant === variant)
      .flatMap(({ legs }) => legs)
      .find(({ ratioName }) => ratioName === name)
  return (matrix.experiment.ratios ?? []).flatMap((ratio) =>
    variants.flatMap((variant) => {
      const of = named(variant, ratio.of)
      const to = named(variant, ratio.to)
      return of && to ? ratioIn(ratio, of, to, variants.length > 1 ? variant : null, matrix, turns) : []
    }),
  )
}

/** 0.83 (0.80 to 0.86) @param {ExperimentRatio['ours']} ours */
export const publishedRatioWords = ({ ratio, low, high }) =>
  low === null || high === null ? times(ratio) : `${times(ratio)} (${times(low)} to ${times(high)})`

/** list: 23 % less CPU of the masters than sorted set (ratio 0.77, 95 % interval 0.61 to 0.98; published 0.81). @param {ExperimentRatio} one */
export const publishedRatioSentence = (one) => {
  const { numerator, denominator, denominator_figure: other, published } = one
  const { ratio, low, high } = one.ours
  const { title } = measureNamed(one.figure)
  const what = title.includes(',') ? `${title},` : title
  const theirs = published === null ? '' : `; published ${times(published)}`
  const interval =
    low === null || high === null
      ? ' of one round: an interval needs three'
      : `, 95 % interval ${times(low)} to ${times(high)}`
  const found = `(ratio ${times(ratio)}${interval}${theirs})`
  if (other) return `${one.label}: ${title} against ${measureNamed(other).title} ${found}.`
  if (low !== null && high !== null && low <= 1 && high >= 1)
    return `These rounds show no clear difference in ${what} between ${numerator} and ${denominator} ${found}.`
  if (ratio >= 3) return `${numerator}: ${times(ratio)} times the ${what} of ${denominator} ${found}.`
  if (ratio < 0.1) return `${denominator}: ${times(1 / ratio)} times the ${what} of ${numerator} ${found}.`
  return `${numerator}: ${Math.round(Math.abs(ratio - 1) * 100)} % ${ratio > 1 ? 'more' : 'less'} ${what} than ${denominator} ${found}.`
}
