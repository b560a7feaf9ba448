// A load of writers in threads, as its run sees it: the same as one in its own thread.
import { namesOfKind } from '../loads/names.js'
import { monotonicMs } from '../probes/monotonic.js'
import { followerOf, startThreads } from './threads.js'

/**
 * @import { WriterRun } from '../loads/ticks/open.js'
 * @import { Opened } from '../loads/index.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { RecordsInThreads, ThreadRecords } from './records.js'
 */

const stopCheckMs = 50
// Of batches that are encoded before, little is left, and it does not live long: with room for it as in V8's default, each of
// eight threads took 8 MB more, and all of them 6 % more CPU (medians of three pairs, 50,000 items/s). Client libraries have the
// room that they have elsewhere.
const youngMb = 12
/** @param {Plan} plan */
const limitsOf = (plan) =>
  namesOfKind(plan).inBatches && plan.driver === 'socket' ? { maxYoungGenerationSizeMb: youngMb } : undefined

/** The clock that all threads share, at a moment of this one's. @param {() => number} clock */
export const sharedClock = (clock) => {
  const aheadMs = monotonicMs() - clock()
  return (/** @type {number} */ atMs) => atMs + aheadMs
}

/**
 * All threads may see the same: it is an event as often as the one saw it that saw it most often.
 * @param {(kind: string, text: string) => void} onEvent
 */
export const eventsOfThreads = (onEvent) => {
  /** @type {Map<string, number[]>} by thread, how often it saw it */
  const seen = new Map()
  return (/** @type {number} */ number, /** @type {string} */ kind, /** @type {string} */ text) => {
    const times = seen.get(text) ?? []
    seen.set(text, times)
    const before = Math.max(0, ...times.filter(Boolean))
    times[number] = (times[number] ?? 0) + 1
    if (times[number] > before) onEvent(kind, text)
  }
}

/** When a fleet stops, as its threads were told. @param {WriterRun['stopsAtMs']} known @param {() => void} tell it is another moment */
const stopMoment = (known, tell) => {
  let stopsMs = Number.POSITIVE_INFINITY
  const look = () => {
    const now = known?.() ?? stopsMs
    if (now === stopsMs) return
    stopsMs = now
    tell()
  }
  const timer = known && setInterval(look, stopCheckMs)
  return { atMs: () => stopsMs, look, close: () => clearInterval(timer) }
}

/**
 * @param {WriterRun & { records: RecordsInThreads }} run
 * @param {{ onLost: (text: string) => void, warn?: (warning: Warning) => void }} told onLost: a thread has ended by itself
 * @returns {Promise<Opened>}
 */
export const writingInThreads = async (run, { onLost, warn = () => {} }) => {
  const { target, records, clock, time, measuredFromMs = () => 0, stopsAtMs } = run
  const shared = sharedClock(clock)
  const of = records.threads.length
  const encoding = new Float64Array(of)
  const onEvent = eventsOfThreads(run.onEvent)
  const follower = followerOf(target)
  let isOpen = false
  const place = target.place()
  const onEncoding = (/** @type {number} */ number, /** @type {number} */ share) => {
    encoding[number] = share
    try {
      run.onEncoding(Math.min(...encoding))
    } catch {} // It was interrupted, which is noticed where the load is opened.
  }
  const ordersOf = (/** @type {ThreadRecords} */ { part, memory }) => ({
    kind: 'writing',
    plan: part,
    ...{ memory, place },
  })
  const threads = await startThreads(records.threads, ordersOf, {
    onSaid({ event, encoding: share, failed }, number) {
      if (event) {
        follower.saw()
        onEvent(number, ...event)
      }
      if (failed) onLost(failed)
      if (share !== undefined) onEncoding(number, share)
    },
    onLost(number, cause) {
      records.lose(number)
      if (isOpen) onLost(`thread ${number + 1} of ${of} ended: ${cause}`)
    },
    warn,
    resourceLimits: limitsOf(records.threads[0].part),
  })
  isOpen = true
  target.access.renewed?.((password) => threads.tell({ password }))
  let startMs = 0
  let isLate = false
  let fromMs = measuredFromMs()
  const stopping = stopMoment(stopsAtMs, () => tellState())
  const tellState = () =>
    threads.tell({
      state: { fromMs, aheadMs: time.now() - shared(clock()), stopsAtMs: shared(stopping.atMs()) },
    })
  return {
    driver: {
      encodeMs: Math.max(...threads.encoded.map(({ encodeMs }) => encodeMs)),
      encodedBytes: threads.encoded.reduce((sum, { encodedBytes }) => sum + encodedBytes, 0),
      watch: () => {},
      // Threads do it themselves when they have waited long enough.
      abandon: () => {},
      waitingBytes: () => 0,
      async close() {
        stopping.close()
        await threads.close()
      },
    },
    counts: records.counts,
    writing: {
      elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
      offered: threads.offered,
      async gather(last) {
        tellState()
        follower.second()
        await threads.second(last)
        records.add()
      },
      settle(limitMs, atOnce) {
        const now = () => threads.tell({ now: true })
        if (atOnce.aborted) now()
        atOnce.addEventListener('abort', now, { once: true })
        return threads.settle(limitMs)
      },
      stop() {
        // What is due after the moment at which a fleet stops is not begun.
        stopping.look()
        threads.tell({ stop: true })
      },
      lastSettledMs: records.lastSettledMs,
      measuredTicks: records.measuredTicks,
      nextTick: records.nextTick,
      measureFrom(ms) {
        fromMs = ms
        tellState()
      },
      beginAt(atMs, late) {
        startMs = atMs
        isLate = late
      },
      start() {
        if (startMs === 0) startMs = clock()
        fromMs = measuredFromMs()
        tellState()
        threads.tell({ beginAtMs: shared(startMs), late: isLate })
      },
    },
  }
}
