// What the fetches of all consumers came to: counts, and times in histograms; a second at a time and as a whole.
import { series } from './latency.js'

/**
 * @typedef {import('../run/fetch.js').Fetched} Fetched
 * @typedef {Map<number, number>} Sizes how many fetches had so many items
 */

const timed = /** @type {const} */ (['duration', 'ids', 'values'])

/** What was counted. */
const noCounts = () => ({
  count: 0,
  failed: 0,
  overrun: 0,
  items: 0,
  values: 0,
  nils: 0,
  bytes: 0,
  duplicates: 0,
})

/** Histograms keep whole numbers: times in µs, so that a short one is not lost. */
export const fetchesOf = () => {
  const whole = noCounts()
  /** @type {Record<string, number>} */
  const failedBy = {}
  /** @type {Record<string, { sum: number, last: number, count: number }>} */
  const numbers = {}
  const times = Object.fromEntries(timed.map((name) => [name, series()]))
  /** How many fetches had so many items: exact, and few different ones. @type {Sizes} */
  const sizes = new Map()
  /** @type {Fetched | null} */
  let last = null

  const recordMs = (/** @type {string} */ name, /** @type {number | null} */ ms) => {
    if (ms !== null) times[name].record(Math.max(0, ms) * 1000)
  }
  const failed = (/** @type {string} */ cause) => {
    whole.failed++
    failedBy[cause] = (failedBy[cause] ?? 0) + 1
  }
  return {
    whole,
    failedBy,
    failed,
    /** The last fetch that succeeded. */
    last: () => last,
    /** @param {Fetched} fetched @returns {boolean} whether it was whole */
    fetched(fetched) {
      const causes = Object.entries(fetched.failedBy)
      if (causes.length > 0) {
        // A fetch fails once, by its most frequent cause.
        const [cause] = causes.sort(([, a], [, b]) => b - a)[0]
        failed(cause)
        return false
      }
      last = fetched
      whole.count++
      whole.items += fetched.ids
      whole.values += fetched.values
      whole.nils += fetched.nils
      whole.bytes += fetched.bytes
      whole.duplicates += fetched.duplicates
      sizes.set(fetched.ids, (sizes.get(fetched.ids) ?? 0) + 1)
      recordMs('duration', fetched.durationMs)
      recordMs('ids', fetched.idsMs)
      recordMs('values', fetched.valuesMs)
      for (const [name, n] of Object.entries(fetched.numbers)) {
        numbers[name] ??= { sum: 0, last: 0, count: 0 }
        const known = numbers[name]
        known.sum += n
        known.last = n
        known.count++
      }
      return true
    },
    /** @param {number} deadlines */
    overrun(deadlines) {
      whole.overrun += deadlines
    },
    /** Ends a second. */
    turn: () => Object.fromEntries(timed.map((name) => [`${name}_us`, times[name].turn()])),
    sizes,
    /** Percentiles in ms, and of items. */
    summary: () => ({
      items_p50: medianOf(sizes),
      duration_ms: inMs(times.duration.whole()),
      ids_ms: inMs(times.ids.whole()),
      values_ms: inMs(times.values.whole()),
      numbers: Object.fromEntries(
        Object.entries(numbers).map(([name, { sum, last: latest, count }]) => [
          name,
          { mean: sum / count, last: latest },
        ]),
      ),
    }),
    close() {
      for (const name of timed) times[name].close()
    },
  }
}

/** Of the items of a fetch; null: there was none. @param {Sizes} sizes */
export const medianOf = (sizes) => {
  const count = [...sizes.values()].reduce((sum, times) => sum + times, 0)
  let left = Math.ceil(count / 2)
  for (const [size, times] of [...sizes].sort(([one], [other]) => one - other)) {
    left -= times
    if (left <= 0) return size
  }
  return null
}

/** @param {import('./latency.js').Percentiles | null} us */
const inMs = (us) =>
  us && {
    p50: us.p50 / 1000,
    p90: us.p90 / 1000,
    p99: us.p99 / 1000,
    p999: us.p999 / 1000,
    max: us.max / 1000,
    count: us.count,
  }
