// How late batches were begun: from when each was due to its first byte, in us.
import { timesField } from './fields.js'
import { measure, percentileMetrics, percentilesIn, someTimes } from './measure.js'

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
