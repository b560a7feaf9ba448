// One client that sends chunk after chunk, each when all replies to the one before it are there: whole ones, or at a rate
// what is due by then. A refusal means that nothing was executed, so it may be retried; a reply that was lost, and an error
// from inside a script, leave their items uncertain.
import { deferred, settledWithin, systemTimers } from '../../base/timers.js'
import { ownerOf } from '../../servers/topology.js'
import { halfOpenOf } from '../../transport/half-open.js'
import { policyOf } from '../../transport/policy.js'

/**
 * @import { Timers } from '../../base/timers.js'
 * @import { Operations } from '../../measure/operations.js'
 * @import { DriverTarget } from '../../transport/socket.js'
 * @import { Carrier } from './socket.js'
 * @import { ClientsNeeds } from '../clients/flow.js'
 *
 * @typedef {object} ChunksNeeds
 * @property {{ chunkSize: number, items: number, maxBehindMs: number }} plan
 * @property {string} key that all chunks are about
 * @property {(items: number) => number} commandsOf how many commands carry so many items
 * @property {(on: { onDone: (nowMs: number) => void, onEnd: (error?: Error) => void }) => Carrier} carrierOf
 * @property {Pick<DriverTarget, 'topology' | 'dial' | 'refresh' | 'follows'> & { loadScripts: (at: string, names: string[]) => Promise<void> }} target
 * @property {string[]} scripts
 * @property {Operations} ledger
 * @property {{ record: (dueMs: number, sentMs: number, nowMs: number, operations: number) => void }} latency
 * @property {() => number} clock
 * @property {() => number} random
 * @property {Timers} [timers]
 * @property {(kind: string, text: string) => void} onEvent
 * @property {ClientsNeeds['schedule']} [schedule] when operations are due; null: whole chunks, as the replies come
 * @property {(lateMs: number) => void} [onSent] how late after it was due an operation is sent
 */

// How soon operations that a course adds later are seen.
const lookMs = 4
const reconnectMs = [50, 100, 200, 500, 1000]

/** Redis 6 and 7 name the script in an error from inside it: its first increments are done. @param {string} line */
export const isFromInside = (line) => / script: |^ERR Error running script/.test(line)

/** @param {ChunksNeeds} needs */
export const chunksFlow = async ({ plan, key, target, scripts, ledger, latency, ...needs }) => {
  const { carrierOf, commandsOf, clock, random, timers = systemTimers, onEvent } = needs
  const { schedule = null, onSent = () => {} } = needs
  const ns = new Float64Array(plan.chunkSize)
  const dues = new Float64Array(schedule ? plan.chunkSize : 0) // index into ns
  let scheduled = 0 // operations that were due
  let sentMs = 0 // first, of the chunk under way
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let next = 1
  let count = 0 // of the chunk under way; its numbers are the first of ns
  let redo = 0 // numbers that were refused: they go before new ones
  let attempts = 0
  let calls = 0
  let dueMs = 0 // when its numbers were first sent
  let isMeasured = false
  let inFlight = false
  let waiting = false // for its connection
  let pausing = false // before it retries
  let running = false
  let closed = false
  let startMs = 0
  let lastSettledMs = 0
  const { over: offered, finish } = deferred()

  const policy = policyOf({ maxBehindMs: plan.maxBehindMs, clock, follows: target.follows })
  const listen = halfOpenOf({ dial: target.dial, onEvent, timers })
  const address = () => ownerOf(target.topology, key)
  const stop = () => {
    running = false
    finish()
  }

  /** What is due now. What was due in a stretch that is over and did not fit is dropped. @param {number} nowMs @param {boolean} wasBusy */
  const takeDue = (nowMs, wasBusy) => {
    if (!schedule) return
    const elapsedMs = nowMs - startMs
    for (; count < plan.chunkSize && !schedule.isOver(scheduled); scheduled++) {
      const at = startMs + schedule.due(scheduled, elapsedMs)
      if (at > nowMs) return
      ledger.offered(1, isMeasured)
      if (nowMs - at > plan.maxBehindMs || (wasBusy && schedule.isLeft?.(elapsedMs)))
        ledger.lost('dropped', '', isMeasured)
      else {
        onSent(nowMs - at)
        dues[count] = at
        ns[count++] = next++
      }
    }
  }
  const lookLater = () => {
    if (!schedule) return
    const waitMs = startMs + schedule.due(scheduled, clock() - startMs) - clock()
    timers.clearTimeout(timer)
    timer = timers.setTimeout(send, Math.max(1, Math.min(lookMs, waitMs)))
  }

  const send = (wasBusy = false) => {
    if (closed || inFlight || pausing) return
    if (redo === 0 && (!running || (schedule ? schedule.isOver(scheduled) : next > plan.items))) return stop()
    if (!carrier.isUp()) {
      waiting = true
      return
    }
    waiting = false
    count = redo
    if (redo === 0) {
      isMeasured = ledger.isMeasured()
      sentMs = clock()
      if (schedule) {
        takeDue(sentMs, wasBusy)
        if (count === 0) return lookLater()
      } else {
        while (count < plan.chunkSize && next <= plan.items) ns[count++] = next++
        ledger.offered(count, isMeasured)
      }
      attempts = 0
      dueMs = schedule ? dues[0] : sentMs
    }
    redo = 0
    inFlight = true
    calls++
    ledger.commands.sent += commandsOf(count)
    carrier.send(ns, count)
  }

  const pause = () => {
    pausing = true
    const waitMs = policy.waitFor(attempts) * (0.5 + random())
    timers.setTimeout(() => {
      pausing = false
      send()
    }, waitMs)
  }

  /** What a retry needs first; null: nothing. @param {string} line @param {number} i of the chunk */
  const refused = (line, i) => {
    ledger.commands.refused++
    const { action, cause, lost } = policy.refused(line, address(), dueMs, attempts)
    if (isFromInside(line)) ledger.lost('uncertain', cause, isMeasured)
    else if (lost) ledger.lost(lost, cause, isMeasured)
    else {
      ledger.retried(cause)
      dues[redo] = dues[i]
      ns[redo++] = ns[i]
      return action
    }
    return null
  }

  /** @param {number} nowMs */
  const onChunkEnd = (nowMs) => {
    if (!inFlight) return
    inFlight = false
    lastSettledMs = nowMs
    const { outcome } = carrier
    const acked = outcome.acked()
    if (acked > 0) {
      ledger.acked(acked, isMeasured ? acked : 0)
      if (isMeasured && !schedule) latency.record(dueMs, dueMs, nowMs, acked)
      if (isMeasured && schedule)
        for (let i = 0; i < count; i++)
          if (acked === count || outcome.lineOf(i) === null) latency.record(dues[i], sentMs, nowMs, 1)
    }
    if (acked === count) return send(true)
    attempts++
    const actions = new Set()
    for (let i = 0; i < count; i++) {
      const line = outcome.lineOf(i)
      if (line === undefined) ledger.lost('uncertain', 'CLOSED', isMeasured)
      else if (line !== null) actions.add(refused(line, i))
    }
    if (redo === 0) return send(true)
    if (actions.has('load')) target.loadScripts(address(), scripts).then(pause, pause)
    else relocate().then(pause, pause)
  }

  /** Another server may own the slot by now. */
  const relocate = async () => {
    const before = address()
    await target.refresh()
    if (address() !== before) carrier.cut()
  }

  /** @param {number} attempt */
  const reconnect = (attempt) => {
    if (closed) return
    carrier.connect(address()).then(
      () => {
        onEvent('reconnected', `${address()}: connected again`)
        if (waiting) send()
      },
      () => {
        const waitMs = reconnectMs[Math.min(attempt, reconnectMs.length - 1)] * (0.5 + random())
        const again = () => reconnect(attempt + 1)
        timers.setTimeout(() => void target.refresh().then(again, again), waitMs)
      },
    )
  }

  const carrier = carrierOf({
    onDone: onChunkEnd,
    onEnd(error) {
      if (closed) return
      onEvent('disconnected', `${address()}: ${error?.message ?? 'closed the connection'}`)
      reconnect(0)
    },
  })

  await carrier.connect(address())

  return {
    offered,
    elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
    lastSettledMs: () => lastSettledMs - startMs,
    calls: () => calls,
    times: carrier.times,
    start() {
      startMs = clock()
      running = true
      send()
    },
    stop() {
      running = false
      timers.clearTimeout(timer)
      if (!inFlight) finish()
    },
    watch() {
      if (!closed) listen(() => [{ address: address(), silentMs: carrier.silentMs, cut: carrier.cut }])
    },
    /** @param {number} limitMs @param {AbortSignal} atOnce */
    settle: (limitMs, atOnce) =>
      settledWithin(limitMs, () => inFlight || redo > 0, { clock, atOnce, timers }),
    /** The run has ended: operations without an outcome are unsettled. */
    abandon() {
      closed = true
      for (let i = 0; i < (inFlight ? count : redo); i++) ledger.lost('unsettled', '', isMeasured)
      inFlight = false
    },
    close() {
      closed = true
      timers.clearTimeout(timer)
      carrier.close()
    },
    waitingBytes: carrier.waitingBytes,
  }
}
