// How late batches were begun: from when each was due to its first byte, in us.
import * as S from '../base/shape.js'
import { micros, threeDigits } from '../base/units.js'
import { bunchesIn } from './arrivals.js'
import { timesField } from './fields.js'
import { measure, metric, percentileMetrics, percentilesIn, someTimes } from './measure.js'
import { section } from './section.js'
import { note } from './warnings.js'

export const ticks = measure({
  name: 'ticks',
  of: ['writers'],
  record: { lateness_us: timesField() },
  by: 'each',
  open: ({ records }) => ({ second: () => ({ lateness_us: records.lateOfSecond() }) }),
  summary: ({ window }) => ({ 'ticks.lateness_us': percentilesIn(window.lateness_us) }),
  result: { 'ticks.lateness_us': someTimes },
  metrics: percentileMetrics('ticks.lateness', 'lateness', ['p50', 'p99']),
})

/** As run.json has them. */
export const ticksSection = section(
  'ticks',
  S.object({
    count: S.number,
    late: S.maybe(S.figure),
    lateness_us: someTimes,
    ...S.each(['due_dispersion', 'sent_dispersion'], S.maybe(S.figure)),
  }),
  {
    isNeeded: true,
    empty: { count: 0, late: null },
    metrics: { 'ticks.late': metric('ticks late', 'count') },
    reasons: (_, run) => ({ 'in-batches': bunchesIn(run) && note(batchesNote(run)) }),
  },
)

// The variance of single arrivals by their mean is about 1.
const single = 1.5

/** Random arrivals that were sent in larger batches than they were due in; empty: they were not. @param {Record<string, any>} run */
export const batchesWords = (run) => {
  const found = bunchesIn(run)
  if (!found) return ''
  return `sent in batches of ${threeDigits(found.sent)}, not ${found.due < single ? 'one by one' : `of ${threeDigits(found.due)}`}`
}

/** @param {Record<string, any>} run */
function batchesNote(run) {
  const late = run.ticks.lateness_us?.p99
  return `random arrivals were ${batchesWords(run)}: the load generator was late${typeof late === 'number' ? ` (p99 ${micros(late)})` : ''}; give it a core of its own`
}
