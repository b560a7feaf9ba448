// compare.json: its shape, and a comparison as such a document and back.
import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import { plainData } from '../base/units.js'
import { measureNamed } from '../result/metrics.js'
import { conclusionOf } from './conclusion.js'

/**
 * @import { Shaped } from '../base/shape-types.js'
 * @import { Comparison, Row } from './comparison.js'
 */

const side = S.object({
  centre: S.said('geometric mean', S.number),
  samples: S.list(S.number),
})
const verdicts = S.oneOf('better', 'worse', 'same', 'unclear', null)

const metric = S.object({
  ...S.each(['label', 'name', 'title', 'unit'], S.text),
  better: S.oneOf('less', 'more', 'neither'),
  primary: S.said('only these have a verdict', S.flag),
  ...S.each(['baseline', 'other'], side),
  relative: S.said('true: changes are parts, 0.05 for 5 % more', S.flag),
  change: S.number,
  low: S.said('ends of the 95 % interval', S.figure),
  high: S.figure,
  equivalence: S.said(
    'the 90 % interval that decides for no difference',
    S.orNull(S.object(S.each(['low', 'high'], S.number))),
  ),
  detectable: S.said('the smallest change that as many runs detect in four of five comparisons', S.figure),
  verdict: verdicts,
})

const rank = S.object({
  name: S.text,
  primary: S.flag,
  order: S.said('the best value first', S.list(S.object({ name: S.text, centre: S.number }))),
  best: S.said(
    'sides than which no other is better beyond the smallest effect; the best one is among them in at least 95 % of comparisons. Empty: the metric has no verdict',
    S.list(S.text),
  ),
  alike: S.said('those are several, and no two differ beyond the smallest effect', S.flag),
})

const round = S.object({
  round: S.whole,
  runs: S.said(
    'as they ran',
    S.list(S.object({ side: S.text, folder: S.text, figures: S.byName(S.number) })),
  ),
})

/** What only a comparison's own rounds have. */
const ran = {
  valid: S.flag,
  ...S.each(['started', 'command', 'hardware', 'method', 'where'], S.text),
  duration_s: S.number,
  versions: S.object({ ...S.each(['millrace', 'node'], S.text), servers: S.list(S.text) }),
  rate_factor: S.said(
    'below 1: the load generator was the limit, and all sides ran at this part of the rate',
    S.number,
  ),
  rounds: S.said('those that count', S.list(round)),
  stopping: S.orNull(S.object({ rule: S.text, looks: S.list(S.number) })),
  earlier: S.said('comparisons of the same sides whose rounds do not count', S.list(S.text)),
}

export const schema = S.document('compare.json: the answer of millrace compare, and of millrace diff', {
  schema: S.just(3),
  kind: S.just('comparison'),
  design: S.said(
    'paired: rounds that were run in turn; separate: finished runs',
    S.oneOf('paired', 'separate'),
  ),
  baseline: S.text,
  other: S.said('of more than two sides all others, with commas', S.text),
  effect: S.said('the smallest change that matters: 0.03', S.number),
  conclusions: S.list(S.object(S.each(['label', 'text'], S.text))),
  settings: S.list(S.object({ name: S.text, ...S.each(['baseline', 'other'], S.list(S.text)) })),
  runs: S.said('by label', S.byName(S.object(S.each(['a', 'b'], S.number)))),
  invalid: S.said('runs that are compared although they are not valid', S.list(S.text)),
  ranks: S.maybe(
    S.said(
      'of more than two sides: their order by each metric. The rows of metrics have the names of the sides as labels, each against the baseline; the intervals of a metric hold together for all sides',
      S.list(rank),
    ),
  ),
  metrics: S.list(metric),
  thresholds: S.list(
    S.object({
      ...S.each(['threshold', 'label', 'name'], S.text),
      relative: S.said('a limit of the change', S.flag),
      ...S.each(['value', 'low', 'high'], S.figure),
      outcome: S.oneOf('passed', 'failed', 'unclear'),
    }),
  ),
  warnings: S.list(S.object(S.each(['code', 'message'], S.text))),
  unmatched: S.list(S.text),
  ...Object.fromEntries(Object.entries(ran).map(([name, shape]) => [name, S.maybe(shape)])),
})

/** @typedef {{ [N in keyof typeof ran]: Shaped<(typeof ran)[N]> }} Ran what is known of rounds that were run for the comparison */
/** @typedef {Ran['rounds'][number]} Round */
/** @typedef {Omit<Shaped<typeof schema>, keyof Ran> & Partial<Ran>} CompareAnswer */

/** @param {Comparison} comparison @param {Partial<Ran>} [ran] @returns {CompareAnswer} */
export const compareDocument = (comparison, ran = {}) => {
  const { design, baseline, other, effect, runs, rows, rulings, ranks } = comparison
  const { settings, warnings, unmatched } = comparison
  const labels = [...new Set([...(ranks ? [''] : []), ...rows.map(({ label }) => label)])]
  return plainData({
    schema: 3,
    kind: 'comparison',
    design,
    baseline: baseline.name,
    other: other.name,
    effect,
    conclusions: labels.map((label) => ({ label, text: conclusionOf(comparison, label) })),
    settings,
    runs,
    invalid: [...baseline.invalid, ...other.invalid],
    ...(ranks && { ranks: ranks.map(({ figure, ...one }) => ({ name: figure.name, ...one })) }),
    metrics: rows.map(({ label, figure, primary, a, b, difference }) => {
      const { name, title, unit, better } = figure
      const { centreA, centreB, verdict, ...found } = difference
      return {
        label,
        name,
        title,
        unit,
        better,
        primary,
        baseline: { centre: centreA, samples: a },
        other: { centre: centreB, samples: b },
        ...found,
        verdict: primary ? verdict : null,
      }
    }),
    thresholds: rulings.map(({ figure, ...ruling }) => ({ ...ruling, name: figure.name })),
    warnings,
    unmatched,
    ...ran,
  })
}

/** @param {Pick<CompareAnswer['metrics'][number], 'baseline' | 'other' | 'verdict'> & Omit<Row['difference'], 'centreA' | 'centreB' | 'verdict'>} metric */
const differenceIn = ({ baseline, other, verdict, ...found }) => ({
  ...found,
  centreA: baseline.centre,
  centreB: other.centre,
  verdict: verdict ?? exactly('unclear'),
})

/** The comparison of a document. @param {CompareAnswer} answer @returns {Comparison} */
export const comparisonIn = ({ metrics, thresholds, ranks, invalid, ...answer }) => ({
  ...answer,
  baseline: { name: answer.baseline, invalid },
  other: { name: answer.other, invalid: [] },
  rows: metrics.map(({ label, name, primary, ...found }) => ({
    label,
    primary,
    a: found.baseline.samples,
    b: found.other.samples,
    figure: measureNamed(name),
    difference: differenceIn(found),
  })),
  rulings: thresholds.map(({ name, ...ruling }) => ({ ...ruling, figure: measureNamed(name) })),
  ...(ranks && { ranks: ranks.map(({ name, ...ranked }) => ({ ...ranked, figure: measureNamed(name) })) }),
})
