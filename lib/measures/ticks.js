// How late batches were begun: from when each was due to its first byte, in us.
import * as S from '../base/shape.js'
import { timesField } from './fields.js'
import { measure, metric, percentileMetrics, percentilesIn, someTimes } from './measure.js'
import { section } from './section.js'

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
  S.object({ count: S.number, late: S.maybe(S.figure), lateness_us: someTimes }),
  {
    isNeeded: true,
    empty: { count: 0, late: null },
    metrics: { 'ticks.late': metric('ticks late', 'count') },
  },
)
