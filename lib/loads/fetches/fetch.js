// One fetch: the ids with what the reader asks beside, then their values.
import { stampBytes } from '../../traffic/payload.js'
import { ReadError } from '../../transport/read-driver.js'
import { idList, scoreIn } from '../../wire/id-list.js'
import { newestOf, sinkOf } from '../../workloads/shapes.js'

/**
 * @import { ReadPlan } from './plan.js'
 * @import { ReadDriver } from '../../transport/read-driver.js'
 * @import { IdList } from '../../wire/id-list.js'
 * @import { Reader as Declaration } from '../../workloads/bind/reader.js'
 * @import { ValueSink } from '../../workloads/shapes.js'
 *
 * @typedef {object} Fetched
 * @property {Record<string, number>} numbers cardinality and what else the reader asked for
 * @property {number} ids or items, where they come without ids
 * @property {number} values
 * @property {number} nils ids without a value
 * @property {number} bytes of values
 * @property {number} duplicates ids that came twice
 * @property {number | null} newestMs epoch of the newest item seen
 * @property {number} idsMs
 * @property {number} valuesMs
 * @property {number} durationMs
 * @property {number | null} ageMs of the newest item when the ids were there, or when its value was there that has it
 * @property {Record<string, number>} failedBy values that were refused for good; an ids phase that failed counts 1
 *
 * @typedef {object} Inspector looks at every value of a fetch
 * @property {(list: IdList, server: string) => ValueSink} inspect
 */

const attempts = 5

const emptyTally = () => ({
  values: 0,
  nils: 0,
  bytes: 0,
  newest: Number.NEGATIVE_INFINITY,
  newestAt: Number.NaN,
  server: '',
})

/**
 * What one attempt collects.
 * @param {Declaration} reader
 * @param {boolean} stamped
 * @param {(server: string) => number} nowAt
 */
const attemptOf = (reader, stamped, nowAt) => {
  const list = idList({ unique: reader.unique })
  let tally = emptyTally()
  /** @type {Record<string, number>} */
  const numbers = {}
  /** @type {Record<string, number>} */
  const failedBy = {}
  return {
    list,
    tally: () => tally,
    numbers,
    failedBy,
    /** @type {ValueSink} */
    values: {
      value: (_, bytes, from, to) => {
        tally.values++
        tally.bytes += to - from
        if (!stamped || to - from < stampBytes) return
        const stamp = scoreIn(bytes, from, from + stampBytes)
        if (stamp <= tally.newest) return
        tally.newest = stamp
        tally.newestAt = nowAt(tally.server)
      },
      nil: () => {
        tally.nils++
      },
    },
    clear() {
      list.clear()
      tally = emptyTally()
      for (const name in numbers) delete numbers[name]
      for (const name in failedBy) delete failedBy[name]
    },
  }
}

/** Passes each value to two sinks. @param {ValueSink} first @param {ValueSink} then @returns {ValueSink} */
const both = (first, then) => ({
  value: (i, bytes, from, to) => {
    first.value(i, bytes, from, to)
    then.value(i, bytes, from, to)
  },
  nil: (i) => {
    first.nil(i)
    then.nil(i)
  },
})

/** The first so many places, in an array that grows. */
const firstPlacesOf = () => {
  let every = new Uint32Array(0)
  return (/** @type {number} */ count) => {
    if (every.length < count) every = Uint32Array.from({ length: Math.ceil(count * 1.25) }, (_, i) => i)
    return every.subarray(0, count)
  }
}

/**
 * The fetches of one consumer; its lists are reused.
 * @param {object} needs
 * @param {ReadPlan} needs.plan
 * @param {Declaration} needs.reader
 * @param {ReadDriver} needs.driver
 * @param {() => number} needs.clock
 * @param {(server: string) => number} needs.nowAt epoch by the clock of a server
 * @param {Inspector | null} needs.inspector
 * @param {number} consumer of all consumers of the run, from 0
 */
export const fetcherOf = ({ plan, reader, driver, clock, nowAt, inspector }, consumer) => {
  const stamped = plan.stamp && !reader.dated
  let attempt = attemptOf(reader, stamped, nowAt)
  const firstPlaces = firstPlacesOf()
  // Each fetch goes to the next node of a shard, so that a consumer alone reads from all of them.
  let turn = consumer - 1

  /** @param {ValueSink} values @param {number} nowMs */
  const askIds = async (values, nowMs) => {
    const { list, numbers, failedBy } = attempt
    const tally = attempt.tally()
    const collector = {
      list,
      values,
      limit: plan.limit,
      number: (/** @type {string} */ name, /** @type {number} */ n) => {
        numbers[name] = (numbers[name] ?? 0) + n
      },
      newest: (/** @type {number} */ score) => {
        if (score > tally.newest) tally.newest = score
      },
      refused: (/** @type {string} */ line) => {
        const cause = line.split(' ', 1)[0]
        failedBy[cause] = (failedBy[cause] ?? 0) + 1
      },
    }
    const asks = reader.asks({ nowMs })
    await Promise.all(asks.map((ask) => driver.ask(ask.args, ask.key, sinkOf(ask, collector), turn)))
  }

  /** Repeats until all replies are complete: after a lost connection everything is asked again. */
  const ids = async () => {
    for (let left = attempts; ; left--) {
      const server = driver.serverOf(plan.sets[0], turn)
      const { list, values } = attempt
      attempt.tally().server = server
      const sink = inspector ? both(values, inspector.inspect(list, server)) : values
      try {
        await askIds(sink, nowAt(server))
        return { sink, server }
      } catch (error) {
        if (!(error instanceof ReadError)) throw error
        const cause = error.causeName
        const again = (cause === 'CLOSED' || cause === 'CONNECT') && left > 1
        // Replies of the lost attempt may still arrive: they have their own lists.
        attempt = attemptOf(reader, stamped, nowAt)
        if (!again) {
          attempt.failedBy[cause] = 1
          return null
        }
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }

  /** @returns {Promise<Fetched>} */
  return async () => {
    attempt.clear()
    turn++
    const startMs = clock()
    const found = await ids()
    const idsMs = clock() - startMs
    const { list, numbers, failedBy } = attempt
    const tally = attempt.tally()
    const idsAt = found ? nowAt(found.server) : 0
    const chosen = newestOf(list, plan.limit)
    const count = chosen ? chosen.length : list.count
    if (found && !reader.value && tally.values + tally.nils === 0) {
      // The ids are the values, and were kept until all sets had answered.
      for (let k = 0; k < count; k++) {
        const i = chosen ? chosen[k] : k
        found.sink.value(-1, list.bytes, list.startOf(i), list.endOf(i))
      }
    }
    if (found && plan.values && reader.value && count > 0) {
      const places = chosen ?? firstPlaces(count)
      const refused = await driver.values(list, places, reader.value, found.sink, turn)
      for (const [cause, n] of Object.entries(refused)) failedBy[cause] = (failedBy[cause] ?? 0) + n
    }
    const durationMs = clock() - startMs
    // The age of undated items is in the stamp in their values.
    const { newest: newestMs, newestAt } = tally
    return {
      numbers: { ...numbers },
      ids: count > 0 ? count : tally.values,
      values: tally.values,
      nils: tally.nils,
      bytes: tally.bytes,
      duplicates: list.duplicates,
      newestMs: Number.isFinite(newestMs) ? newestMs : null,
      idsMs,
      valuesMs: durationMs - idsMs,
      durationMs,
      ageMs: Number.isFinite(newestMs) ? (stamped ? newestAt : idsAt) - newestMs : null,
      failedBy: { ...failedBy },
    }
  }
}
