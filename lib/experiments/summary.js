// The turns of a matrix as experiment.json: a pure function, so that a matrix that was stopped has what was measured.
import { cpus, totalmem } from 'node:os'
import { count, times } from '../base/units.js'
import { grossCost, netCost } from '../measures/server.js'
import { stateBy, stateWords } from '../measures/warnings.js'
import { commonColumns, drawnBeside, drawnOfAll } from '../result/chief-metrics.js'
import { measureNamed } from '../result/metrics.js'
import { ratioOf, standing } from '../result/ratio.js'
import { figureOfRow, quotable } from '../result/statistics.js'
import { optionWords } from './options.js'
import { publishedFigures, trueRate } from './published.js'

/**
 * @import { ExperimentDocument, ExperimentRatio, ExperimentRow } from '../result/experiment-document.js'
 * @import { Cell, Leg } from './matrix.js'
 * @import { PublishedExperiment } from './published.js'
 * @import { Experiment, Ratio } from './schema.js'
 * @import { Standing } from '../result/ratio.js'
 *
 * @typedef {object} LegTurn what one turn measured of one row
 * @property {string} row
 * @property {string} folder relative to that of the experiment
 * @property {Record<string, number>} figures
 * @property {boolean} valid
 * @property {string[]} reasons codes of what made it invalid
 * @property {boolean} clientLimited
 * @property {{ from_ms: number, to_ms: number } | null} span
 *
 * @typedef {object} TurnResult a line of turns.ndjson
 * @property {string} cell
 * @property {number} round from 1
 * @property {number} factor of the quantity
 * @property {LegTurn[]} legs
 * @property {string | null} timeline
 * @property {string} [skipped] why it was not run
 * @property {string} [failed] why it came to no result
 * @property {string[]} [servers] their versions
 *
 * @typedef {object} Matrix what is fixed for all turns
 * @property {Experiment} experiment
 * @property {Cell[]} cells
 * @property {number} repeat
 * @property {number} seconds
 * @property {number} warmUpS
 * @property {number} scale
 * @property {number} seed
 * @property {PublishedExperiment | null} published
 */

/** What the turns measured of a row. @param {TurnResult[]} turns @param {string} row */
const legsOf = (turns, row) =>
  turns.flatMap((turn) => turn.legs.filter((leg) => leg.row === row).map((leg) => ({ ...leg, turn })))

// Ratios of an experiment's rows, beside the published ones.

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
const ratiosOf = (matrix, turns) => {
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
const publishedRatioSentence = (one) => {
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

/** @param {ReturnType<typeof legsOf>} legs @param {Cell} cell @param {TurnResult[]} turns */
const marksOf = (legs, cell, turns) => {
  const own = turns.filter((turn) => turn.cell === cell.id)
  const last = legs.at(-1)
  const invalid = legs.filter(({ valid }) => !valid)
  const reasons = [...new Set(invalid.flatMap((leg) => leg.reasons))]
  const factor = Math.min(1, ...legs.map(({ turn }) => turn.factor))
  const skipped = own.find((turn) => turn.skipped)?.skipped
  const failed = own.filter((turn) => turn.failed)
  /** @type {[boolean, string, string][]} */
  const marks = [
    [skipped !== undefined, 'skipped', `not run: ${skipped}`],
    [
      failed.length > 0,
      'failed',
      `${failed.length} of ${own.length} runs came to no result: ${failed[0]?.failed}`,
    ],
    [
      factor < 1,
      'slower',
      `the load generator was the limit, so it was repeated at ${+(factor * 100).toFixed(1)} % of the rate; costs are per item`,
    ],
    [
      last?.clientLimited === true,
      'client',
      'the load generator was the limit: the cost per item is valid, the rate is not',
    ],
    [
      invalid.length > 0,
      'invalid',
      `${invalid.length} of ${legs.length} runs ${stateWords({ valid: false, state: stateBy(reasons) })} (${reasons.join(', ')})`,
    ],
    [cell.note !== null, 'note', cell.note ?? ''],
  ]
  return marks.filter(([applies]) => applies).map(([, code, text]) => ({ code, text }))
}

/** @param {Matrix} matrix @param {TurnResult[]} turns @returns {ExperimentRow[]} */
const rowsOf = ({ cells, published }, turns) => {
  const several = new Set(cells.map(({ variant }) => variant)).size > 1
  const phased = cells.some(({ legs }) => legs.length > 1)
  return cells.flatMap((cell) =>
    cell.legs.map((leg) => {
      const all = legsOf(turns, leg.row)
      // If the load generator was the limit in a later round only, earlier rounds ran at another rate.
      const slowest = Math.min(...all.map(({ turn }) => turn.factor))
      const counted = quotable(all.filter(({ turn }) => turn.factor === slowest))
      const names = [...new Set(counted.flatMap(({ figures }) => Object.keys(figures)))]
      const theirs = leg.published === null ? undefined : published?.rows[leg.published]
      return {
        label: leg.row,
        factors: {
          case: cell.name,
          ...(several && { variant: cell.variant ?? '' }),
          ...(phased && { phase: leg.name }),
          ...(cell.label && { node: cell.label }),
        },
        figures: Object.fromEntries(
          names.map((name) => [
            name,
            figureOfRow(counted.flatMap(({ figures }) => (name in figures ? [figures[name]] : []))),
          ]),
        ),
        published: theirs ? publishedFigures(theirs) : null,
        runs: all.map(({ folder }) => folder),
        marks: marksOf(all, cell, turns),
      }
    }),
  )
}

/** Columns of the experiment, and those that every table has. @param {Matrix} matrix @param {ExperimentRow[]} rows */
const columnsOf = ({ experiment }, rows) => {
  const ratios = (experiment.ratios ?? []).flatMap(({ figure = 'master.cpu_pct', toFigure }) =>
    toFigure ? [figure, toFigure] : [figure],
  )
  const wanted = [...new Set([...commonColumns, ...ratios, ...(experiment.columns ?? [])])]
  const measured = wanted.filter((name) => rows.some(({ figures }) => name in figures))
  // Other columns are in the table only.
  const charted = new Set([
    ...drawnOfAll.filter((name) => name !== (measured.includes(netCost) ? grossCost : netCost)),
    ...drawnBeside,
    ...ratios,
    ...(experiment.columns ?? []),
  ])
  return measured.map((name) => (charted.has(name) ? { name } : { name, chart: false }))
}

/** The first ratio in a sentence. @param {ExperimentRatio[]} ratios @param {ExperimentRow[]} rows */
const verdictOf = (ratios, rows) => {
  const measured = rows.filter(({ runs }) => runs.length > 0)
  if (measured.length === 0) return 'Nothing was measured.'
  const [main] = ratios
  if (!main) return `${measured.length} of ${rows.length} rows were measured.`
  const compared = ratios.filter(({ published }) => published !== null)
  const contradicted = compared.filter(({ contradicts }) => contradicts).length
  const against =
    contradicted === 0
      ? ''
      : compared.length === 1
        ? ' This contradicts what was published.'
        : ` ${contradicted} of ${compared.length} published ratios ${contradicted === 1 ? 'is' : 'are'} contradicted.`
  return `${publishedRatioSentence(main)}${against}`
}

/** The rates that the published writers can have sustained by their own rule. @param {Matrix} matrix @returns {string[]} */
const trueRates = ({ published, experiment }) => {
  if (!published || !experiment.cells.some(({ published: row }) => row !== undefined)) return []
  const rows = published.rows.filter(({ writers, per_writer: perWriter }) => writers && perWriter)
  if (rows.length < 2 || experiment.scaled === false) return []
  const list = rows.map(({ writers, per_writer: perWriter, interval_ms: intervalMs = 1000 }) => {
    const nominal = (writers * perWriter * 1000) / intervalMs
    const rateHz = trueRate({ writers, perWriter, intervalMs })
    return `${writers} x ${count(perWriter)}${intervalMs === 1000 ? '' : ` every ${intervalMs} ms`}: ${Math.round(rateHz / 1000)}k of ${Math.round(nominal / 1000)}k`
  })
  return [
    `Items a second that the published writers would have sent if an item cost the client 16 µs: ${list.join(', ')}`,
  ]
}

const serious = ['unfinished', 'nothing', 'none-valid', 'rows-not-valid']

/** @param {Matrix} matrix @param {ExperimentRow[]} rows @param {ExperimentRatio[]} ratios @param {TurnResult[]} turns */
const warningsOf = (matrix, rows, ratios, turns) => {
  const { experiment, published } = matrix
  const done = new Set(turns.map(({ cell, round }) => `${cell}/${round}`)).size
  const left = matrix.cells.length * matrix.repeat - done
  const valid = turns.flatMap(({ legs }) => legs.map((leg) => leg.valid))
  const doubtful = matrix.cells
    .flatMap((cell) => cell.legs.map(({ row }) => row))
    .filter((row) => {
      const legs = legsOf(turns, row)
      return legs.some((leg) => !leg.valid) && quotable(legs).some((leg) => !leg.valid)
    })
  /** @type {[boolean, string, string][]} */
  const found = [
    [left > 0, 'unfinished', `${left} runs of the matrix are missing: --resume runs them`],
    [left === 0 && rows.every(({ runs }) => runs.length === 0), 'nothing', 'no run came to a result'],
    [
      valid.length > 0 && !valid.includes(true),
      'none-valid',
      'no run is valid: do not quote these figures; the notes of the rows say why',
    ],
    [
      rows.some(({ marks }) => marks.some(({ code }) => code === 'skipped')),
      'skipped',
      'some rows were not run: see their marks',
    ],
    [
      rows.some(({ marks }) => marks.some(({ code }) => code === 'client')),
      'client',
      'the load generator was the limit of some rows',
    ],
    [
      valid.includes(true) && doubtful.length > 0,
      'rows-not-valid',
      `fewer than two runs of ${doubtful.length === 1 ? 'a row' : `${doubtful.length} rows`} are valid, so invalid ones count too (${doubtful.slice(0, 3).join('; ')}${doubtful.length > 3 ? '; ...' : ''}): do not quote ${doubtful.length === 1 ? 'it' : 'them'}`,
    ],
    ...ratios
      .filter(({ contradicts }) => contradicts)
      .map(
        (ratio) =>
          /** @type {[boolean, string, string]} */ ([
            true,
            'contradicts',
            `${ratio.label}: ${ratio.contradicts}`,
          ]),
      ),
    ...trueRates(matrix).map(
      (text) => /** @type {[boolean, string, string]} */ ([true, 'published-rate', text]),
    ),
    [experiment.note !== undefined, 'note', experiment.note ?? ''],
    [published?.note !== undefined, 'published-note', `of the published run: ${published?.note}`],
  ]
  return found
    .filter(([applies]) => applies)
    .map(([, code, message]) => ({ code, message, invalidates: serious.includes(code) }))
}

/** @param {Matrix} matrix */
const setupOf = (matrix) => {
  const { experiment, repeat, published } = matrix
  const [{ place }] = matrix.cells
  const servers = place.cluster
    ? `${place.shards} shards of a master and ${place.replicas} replica${place.replicas === 1 ? '' : 's'}`
    : `one master with ${place.replicas} replica${place.replicas === 1 ? '' : 's'}`
  const options = optionWords(experiment.options ?? {}).join(' ')
  const scaled = experiment.scaled === false ? 'not scaled' : `quantities x ${matrix.scale}`
  const theirs = published
    ? `; published: ${published.instance ?? 'ElastiCache'}, ${published.shards ?? 1} shard${published.shards ? 's' : ''}`
    : ''
  return `${servers}; ${options || 'no common options'}; ${scaled}; ${matrix.seconds} s measured after ${matrix.warmUpS} s, ${repeat === 1 ? '1 round in shuffled order' : `${repeat} rounds in shuffled, then mirrored order`}${theirs}`
}

export const hardware = () =>
  `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'processor'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}`

/**
 * @param {Matrix} matrix
 * @param {TurnResult[]} turns those that have ended
 * @param {{ started: string, durationS: number, command: string, millrace: string }} known
 * @returns {ExperimentDocument}
 */
export const experimentDocument = (matrix, turns, { started, durationS, command, millrace }) => {
  const rows = rowsOf(matrix, turns)
  const ratios = ratiosOf(matrix, turns)
  const continuous = turns.find(({ timeline }) => timeline)
  return {
    schema: 1,
    kind: 'experiment',
    id: matrix.experiment.id,
    question: matrix.experiment.question,
    setup: setupOf(matrix),
    started,
    duration_s: durationS,
    command,
    versions: {
      millrace,
      node: process.versions.node,
      servers: [...new Set(turns.flatMap(({ servers = [] }) => servers))],
    },
    hardware: hardware(),
    columns: columnsOf(matrix, rows),
    rows,
    ratios,
    phases: (continuous?.legs ?? []).flatMap(({ row, span }) => (span ? [{ label: row, ...span }] : [])),
    ...(continuous?.timeline && { timeline: continuous.timeline }),
    verdict: verdictOf(ratios, rows),
    warnings: warningsOf(matrix, rows, ratios, turns),
  }
}
