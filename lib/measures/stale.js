// Answers of replicas that were older than what had been acknowledged when they were asked for, and by how much at least: how
// long before the question the newest write that they missed had been acknowledged. A line has us, run.json ms.
import { count, percent } from '../base/units.js'
import { amount, timesField } from './fields.js'
import {
  counter,
  figure,
  histogram,
  measure,
  partMetric,
  per,
  percentileMetrics,
  percentiles,
  percentilesIn,
  timesText,
} from './measure.js'

/** @import { StaleCounts } from '../probes/stale.js' */

export const staleReads = measure({
  name: 'stale_reads',
  of: ['writers'],
  record: {
    'stale_reads.compared': amount('count'),
    'stale_reads.stale': amount('count'),
    'stale_reads.age_us': timesField(),
  },
  by: 'each',
  // Threads, and boxes of a cache, would number their writes apart.
  applies: ({ versions, threads = 1, totalAgents = 1 }) =>
    versions === true && threads === 1 && totalAgents === 1,
  async open() {
    const { series } = await import('../probes/latency.js')
    const ages = series({ isFolded: true })
    /** @type {StaleCounts} */
    const counts = { compared: 0, stale: 0, ages }
    return {
      counts,
      second() {
        const { compared, stale } = counts
        counts.compared = counts.stale = 0
        return {
          'stale_reads.compared': compared,
          'stale_reads.stale': stale,
          'stale_reads.age_us': ages.endSecond(),
        }
      },
      close: ages.close,
    }
  },
  summary({ window }) {
    const [compared, stale] = [window['stale_reads.compared'], window['stale_reads.stale']]
    if (compared == null) return {}
    return {
      stale_reads: {
        compared,
        stale,
        pct: per(stale, compared, 100),
        age_ms: percentilesIn(window['stale_reads.age_us'], 1000),
      },
    }
  },
  result: {
    stale_reads: {
      type: 'object',
      properties: { compared: figure, stale: figure, pct: figure, age_ms: percentiles },
      required: [],
    },
  },
  metrics: {
    'stale_reads.pct': partMetric('stale answers', 'pct'),
    ...percentileMetrics('stale_reads.age', 'age of stale answers', ['p50', 'p99', 'max'], 'ms'),
  },
  prometheus: [
    counter('stale_answers_total', 'answers older than what was acknowledged', 'stale_reads.stale'),
    histogram(
      'stale_age_seconds',
      'how long the newest write that they missed had been acknowledged',
      'stale_reads.age_us',
    ),
  ],
  answers: {
    brief({ stale_reads: found }) {
      if (!found) return []
      const { compared, stale, pct, age_ms: age } = found
      if (pct === null) return { label: 'stale', text: 'no answer was about a key that the run had written' }
      const text = `${percent(pct)} of ${count(compared)} answers were older than what was acknowledged`
      return { label: 'stale', text: stale > 0 ? `${text}, by at least ${timesText(age, 1000)}` : text }
    },
  },
})
