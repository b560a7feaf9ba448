// How long items take from their due time, and from when they were sent (service time), to their last answer, in us. Of those
// that were due in the measured window; each counts once.
import { times } from './fields.js'
import { percentileMetrics, percentilesIn, someTimes } from './measure.js'

/** @import { Measure } from './measure.js' */

/** @type {Measure} */
export const latency = {
  name: 'latency',
  record: { 'latency_us.intended': times(), 'latency_us.service': times() },
  by: 'each',
  open: ({ records: { latency: taken } }) => ({
    second: () => ({
      'latency_us.intended': taken.intended.turn(),
      'latency_us.service': taken.service.turn(),
    }),
  }),
  summary: ({ window }) => ({
    'latency_us.intended': percentilesIn(window['latency_us.intended']),
    'latency_us.service': percentilesIn(window['latency_us.service']),
  }),
  result: { 'latency_us.intended': someTimes, 'latency_us.service': someTimes },
  metrics: {
    ...percentileMetrics('latency.intended', 'latency'),
    ...percentileMetrics('latency.service', 'service time'),
  },
  times: [
    { name: 'from the due time', path: 'latency_us.intended', unit: 'us' },
    { name: 'service time', path: 'latency_us.service', unit: 'us' },
  ],
}
