// How long items take from their due time, and from when they were sent (service time), to their last answer, in us. Of those
// that were due in the measured window; each counts once.
import * as S from '../base/shape.js'
import { histogramSum } from '../probes/latency.js'
import { encoded, timesField } from './fields.js'
import { figure, measure, percentileMetrics, percentilesIn, someTimes } from './measure.js'
import { section } from './section.js'

/** @import { FoldedTimes } from './fields.js' */

export const latency = measure({
  name: 'latency',
  of: ['writers', 'workers'],
  record: { 'latency_us.intended': timesField(), 'latency_us.service': timesField() },
  facts: { 'latency_us.commands': encoded() },
  by: 'each',
  open: ({ records: { latency } }) => ({
    second: () => ({
      'latency_us.intended': latency.intended.endSecond(),
      'latency_us.service': latency.service.endSecond(),
    }),
    facts: () => ({ 'latency_us.commands': latency.commands?.() }),
  }),
  summary: ({ window, facts, plan }) => ({
    'latency_us.intended': percentilesIn(window['latency_us.intended']),
    'latency_us.service': withMean(window['latency_us.service']),
    ...(plan.flow === 'ticks' &&
      facts['latency_us.commands'] && { 'latency_us.commands': commandsIn(facts['latency_us.commands']) }),
  }),
  result: {
    'latency_us.intended': someTimes,
    'latency_us.service': { ...someTimes, properties: { ...someTimes.properties, mean: figure } },
  },
  metrics: {
    ...percentileMetrics('latency.intended', 'latency'),
    ...percentileMetrics('latency.service', 'service time'),
  },
  times: [
    { name: 'from the due time', path: 'latency_us.intended', unit: 'us' },
    { name: 'service time', path: 'latency_us.service', unit: 'us' },
  ],
})

const ofItems = {
  intended: S.nullable(someTimes),
  service: S.nullable(someTimes),
}

/** As run.json has them. */
export const latencyOfWriters = section(
  'latency_us',
  S.object({ ...ofItems, commands: S.maybe(S.byName(someTimes)) }),
  { isNeeded: true },
)
export const latencyOfWorkers = section('latency_us', S.object(ofItems), { isNeeded: true })

/** By its mean, what is in flight says how many a second can be done. @param {FoldedTimes | null} [sum] */
function withMean(sum) {
  const found = sum && percentilesIn(sum)
  return found ? { ...found, mean: sum.buckets.percentiles()?.mean } : null
}

/** @param {Record<string, string[]>} texts */
function commandsIn(texts) {
  return Object.fromEntries(
    Object.entries(texts).map(([name, all]) => {
      const sum = histogramSum()
      for (const text of all) sum.add(text)
      const found = { ...sum.percentiles(), count: sum.count() }
      sum.close()
      return [name, found]
    }),
  )
}
