// How old the newest item is that a fetch finds, by the clock of the server that it was read from. A line has us, run.json
// ms, of all fetches that were whole. An item that is younger than now has no known age, and is counted apart.
import { amount, times, worst } from './fields.js'
import { percentileMetrics, percentiles, percentilesIn, timesText } from './measure.js'

// What a clock may be off without being worth a word; below it an age is 0.
const aheadMs = 100

/** @type {import('./measure.js').Measure} */
export const freshness = {
  name: 'freshness',
  record: {
    freshness_us: times(),
    'future.fetches': amount('count'),
    'future.max_ms': worst('ms'),
  },
  by: 'each',

  async open() {
    const { series } = await import('../measure/latency.js')
    const ages = series()
    let future = { fetches: 0, max_ms: 0 }
    return {
      /** @param {number | null} ageMs of its newest item */
      fetched(ageMs) {
        if (ageMs === null) return
        if (ageMs >= -aheadMs) return ages.record(Math.max(0, ageMs) * 1000)
        future = { fetches: future.fetches + 1, max_ms: Math.max(future.max_ms, -ageMs) }
      },
      second() {
        const { fetches, max_ms } = future
        future = { fetches: 0, max_ms: 0 }
        return {
          freshness_us: ages.turn(),
          ...(fetches > 0 && { 'future.fetches': fetches, 'future.max_ms': max_ms }),
        }
      },
      close: ages.close,
    }
  },

  summary({ window }) {
    const fetches = window['future.fetches'] ?? 0
    return {
      freshness_ms: percentilesIn(window.freshness_us, 1000),
      ...(fetches > 0 && { 'fetches.from_future': { fetches, max_ms: window['future.max_ms'] } }),
    }
  },
  result: { freshness_ms: { ...percentiles, type: 'object' } },
  metrics: percentileMetrics('freshness_ms', 'age of the newest item', undefined, 'ms'),
  prometheus: [
    {
      name: 'fetch_seconds',
      help: 'of a whole fetch, its ids, its values, and the age of the newest item',
      type: 'histogram',
      path: 'freshness_us',
      labels: { part: 'age' },
    },
  ],
  times: [{ name: 'age of the newest item', path: 'freshness_ms', unit: 'ms' }],
  part: 'reads',
  answer({ freshness_ms: found }) {
    const text = timesText(found, 1000)
    return text ? { label: 'freshness', text: `the newest item is ${text} old when its id is read` } : []
  },
}
