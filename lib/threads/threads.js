// The threads of a run, as it sees them. A thread is what a box is to a fleet, and its messages are bounded by seconds: an order
// and an answer in each.
import { Worker } from 'node:worker_threads'
import { TargetError } from '../base/errors.js'
import { untilStopped } from '../base/interrupts.js'
import { rangesText } from '../base/ranges.js'
import { atMost, deferred } from '../base/timers.js'

/**
 * @import { ResourceLimits } from 'node:worker_threads'
 * @import { Warning } from '../measures/warnings.js'
 * @import { End, Second, threadSeconds } from './seconds.js'
 * @import { Order } from './thread.js'
 *
 * @typedef {{ encodeMs: number, encodedBytes: number }} Ready
 * @typedef {{ ready?: Ready, encoding?: number, event?: [kind: string, text: string], offered?: true, failed?: string,
 *   said?: string, warning?: Warning, second?: Second, end?: End }} Said
 * @typedef {{ onSaid: (said: Said) => void, onLost: (cause: string) => void, program?: URL, resourceLimits?: ResourceLimits }} Heard
 * @typedef {Pick<ReturnType<typeof threadSeconds>, 'isLost' | 'take' | 'end'>} Known of a thread
 */

const threadProgram = new URL('./thread.js', import.meta.url)
// A second does not wait longer for a thread that is busy: what it says later is in the next one.
const gatherLimitMs = 400
// The last one has no next: without it the latencies of the end, and why items failed, would be missing.
const lastGatherLimitMs = 5000
const graceMs = 2000
const closeLimitMs = 3000

/** @param {Known} records @param {object} orders @param {number} number @param {Heard} heard */
const startThread = (records, orders, number, heard) => {
  const { onSaid, onLost, program = threadProgram, resourceLimits } = heard
  const name = `sender ${number + 1}`
  // It needs neither arguments nor an environment, which may have secrets.
  const worker = new Worker(program, { workerData: orders, env: {}, argv: [], name, resourceLimits })
  const [ready, offered, settled, exited] = Array.from({ length: 4 }, deferred)
  let answered = deferred()
  let unanswered = 0
  let cause = 'it ended by itself'
  let isClosing = false
  /** @type {Ready} */
  let encoded = { encodeMs: 0, encodedBytes: 0 }
  worker.on('message', (/** @type {Said} */ said) => {
    if (said.ready) {
      encoded = said.ready
      ready.finish()
    }
    if (said.offered) offered.finish()
    if (said.second) {
      records.take(said.second)
      if (--unanswered === 0) answered.finish()
    }
    if (said.end) {
      records.end = said.end
      settled.finish()
    }
    onSaid(said)
  })
  worker.on('error', ({ message }) => {
    cause = message
  })
  worker.once('exit', () => {
    if (!isClosing) onLost(cause)
    for (const one of [ready, offered, settled, exited, answered]) one.finish()
  })
  const tell = (/** @type {Order} */ order) => worker.postMessage(order)
  return {
    records,
    tell,
    ready: ready.over,
    offered: offered.over,
    encoded: () => encoded,
    cause: () => cause,
    /** Asks for its second, and waits so long. @param {number} limitMs */
    async second(limitMs) {
      if (records.isLost) return
      if (unanswered++ === 0) answered = deferred()
      tell({ second: true })
      await atMost(limitMs, answered.over)
    },
    /** It has said all that it was asked for. */
    hasSaid: () => unanswered === 0 || records.isLost,
    /** Whether everything was settled. @param {number} limitMs @param {number} moreMs for what is looked at afterwards */
    async settle(limitMs, moreMs) {
      if (records.isLost) return false
      tell({ settleMs: limitMs })
      await atMost(limitMs + moreMs + graceMs, settled.over)
      return records.end?.whole === true
    },
    async close() {
      isClosing = true
      tell({ close: true })
      await atMost(closeLimitMs, exited.over)
      await worker.terminate()
    },
  }
}

/** @typedef {ReturnType<typeof startThread>} Thread */

/** What the threads saw of the servers is looked for by the run too, once a second. @param {{ refresh: () => Promise<unknown> }} target */
export const followerOf = ({ refresh }) => {
  let isDue = false
  return {
    saw() {
      isDue = true
    },
    second() {
      if (!isDue) return
      isDue = false
      refresh().catch(() => {
        isDue = true
      })
    },
  }
}

/**
 * Starts all threads of a run; where one cannot open its part, none stays.
 * @template {Known} OfThread
 * @param {readonly OfThread[]} records of each
 * @param {(one: OfThread) => object} ordersOf
 * @param {{ onSaid: (said: Said, number: number) => void, onLost: (number: number, cause: string) => void,
 *   warn: (warning: Warning) => void, program?: URL, resourceLimits?: ResourceLimits }} on program: that a thread runs
 */
export const startThreads = async (records, ordersOf, { onSaid, onLost, warn, ...given }) => {
  const threads = records.map((one, number) =>
    startThread(one, ordersOf(one), number, {
      onSaid: (said) => onSaid(said, number),
      onLost: (cause) => onLost(number, cause),
      ...given,
    }),
  )
  const close = async () => {
    await Promise.all(threads.map((thread) => thread.close()))
  }
  await Promise.all(threads.map(({ ready }) => ready))
  const failed = threads.findIndex((thread) => thread.records.isLost)
  if (failed >= 0) {
    await close()
    const cause = threads[failed].cause()
    throw new TargetError(`thread ${failed + 1} of ${threads.length}: ${cause}`, { code: 'THREAD' })
  }
  return {
    encoded: threads.map((thread) => thread.encoded()),
    offered: Promise.all(threads.map(({ offered }) => offered)),
    /** @param {Order} order */
    tell(order) {
      for (const thread of threads) if (!thread.records.isLost) thread.tell(order)
    },
    /** Asks all of them for their second. @param {AbortSignal} [last] of the run's last one: until then they have more time */
    async second(last) {
      const limitMs = last ? lastGatherLimitMs : gatherLimitMs
      const asked = Promise.all(threads.map((thread) => thread.second(limitMs)))
      // One listener of the signal for all: Node warns of more than ten.
      await (last ? untilStopped(last, asked, undefined) : asked)
      const silent = threads.flatMap(({ hasSaid }, number) => (hasSaid() ? [] : number + 1))
      if (!last || silent.length === 0) return
      const which = `${silent.length === 1 ? 'thread' : 'threads'} ${rangesText(silent)} of ${threads.length}`
      const message = `${which} did not answer at the end: the last latencies and causes of failures are missing`
      warn({ code: 'thread', message, invalidates: true })
    },
    /** Whether everything was settled. @param {number} limitMs @param {number} [moreMs] for what is looked at afterwards */
    async settle(limitMs, moreMs = 0) {
      const whole = await Promise.all(threads.map((thread) => thread.settle(limitMs, moreMs)))
      return whole.every(Boolean)
    },
    close,
  }
}
