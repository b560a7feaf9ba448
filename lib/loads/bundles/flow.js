// One client that sends bundle after bundle, each when all replies to the one before it are there: whole ones, or at a rate
// what is due by then. A refusal means that nothing was executed, so it may be retried; a reply that was lost, and an error
// from inside a script, leave their items uncertain.
import { deferred, settledWithin } from '../../base/timers.js'
import { routerOf } from '../../transport/router.js'
import { slotOf } from '../../wire/slot.js'
import { duesOf } from '../dues.js'

/**
 * @import { Machine } from '../../base/timers.js'
 * @import { Operations } from '../../probes/operations.js'
 * @import { DriverTarget } from '../../transport/socket-writer.js'
 * @import { Carrier } from './socket-carrier.js'
 * @import { ClientsNeeds } from '../clients/flow.js'
 *
 * @import { Kind, Routed } from '../../transport/router.js'
 *
 * @typedef {Routed & { ns: Float64Array, count: number }} Bundle its numbers are the first of ns
 *
 * @typedef {object} BundlesNeeds
 * @property {{ bundleSize: number, items: number, maxBehindMs: number }} plan
 * @property {string} key that all bundles are about
 * @property {(items: number) => number} commandsOf how many commands carry so many items
 * @property {Carrier} carrier
 * @property {Pick<DriverTarget, 'topology' | 'dial' | 'refresh' | 'follows'> & { loadScripts: (at: string, names: string[]) => Promise<void> }} target
 * @property {string[]} scripts
 * @property {Operations} ledger
 * @property {{ record: (dueMs: number, sentMs: number, nowMs: number, operations: number) => void }} latency
 * @property {Machine} machine
 * @property {(kind: string, text: string) => void} onEvent
 * @property {ClientsNeeds['schedule']} [schedule] when operations are due; null: whole bundles, as the replies come
 * @property {(lateMs: number, nowMs: number) => void} [onSent] how late after it was due an operation is sent
 */

/** Redis 6 and 7 name the script in an error from inside it: its first increments are done. @param {string} line */
export const isFromInside = (line) => / script: |^ERR Error running script/.test(line)

/** @param {BundlesNeeds} needs */
export const bundlesFlow = async (needs) => {
  const { plan, carrier, target, ledger, latency, machine } = needs
  const { schedule = null, onSent = () => {} } = needs
  const { clock, timers } = machine
  const { outcome } = carrier
  const slot = slotOf(needs.key)
  const ns = new Float64Array(plan.bundleSize)
  const dues = schedule && duesOf(schedule, plan.maxBehindMs, () => startMs)
  const times = new Float64Array(dues ? plan.bundleSize : 0) // when each of ns was due
  /** @type {Bundle} the one that is sent, again and again */
  const bundle = {
    client: 0,
    dueMs: 0,
    repeatable: false,
    attempts: 0,
    goTo: null,
    notBeforeMs: 0,
    ns,
    count: 0,
  }
  let sentMs = 0 // first, of the bundle under way
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let next = 1
  let calls = 0
  let isMeasured = false
  let underWay = false // until all its numbers have an outcome
  let wasBusy = false
  let running = false
  let closed = false
  let startMs = 0
  let lastSettledMs = 0
  const { over: offered, finish } = deferred()
  const stop = () => {
    running = false
    finish()
  }

  /** What is due now. What was due in a stretch that is over and did not fit is dropped. @param {number} nowMs */
  const takeDue = (nowMs) => {
    if (!dues) return
    while (bundle.count < plan.bundleSize) {
      const at = dues.nextMs(nowMs)
      if (at > nowMs) return
      const isDropped = dues.isDropped(at, nowMs, !wasBusy)
      dues.take()
      ledger.offered(1, isMeasured)
      if (isDropped) ledger.lost('dropped', '', isMeasured)
      else {
        onSent(nowMs - at, nowMs)
        times[bundle.count] = at
        ns[bundle.count++] = next++
      }
    }
  }
  const look = () => router.lookNow(0)
  const lookLater = () => {
    if (!dues) return
    timers.clearTimeout(timer)
    timer = timers.setTimeout(look, dues.waitMs(clock()))
  }

  const begin = () => {
    if (closed || underWay) return
    if (!running || (dues ? dues.isOver() : next > plan.items)) return stop()
    if (!router.isUp(0, slot)) return
    isMeasured = ledger.isMeasured()
    sentMs = clock()
    bundle.count = 0
    if (dues) takeDue(sentMs)
    else {
      while (bundle.count < plan.bundleSize && next <= plan.items) ns[bundle.count++] = next++
      ledger.offered(bundle.count, isMeasured)
    }
    wasBusy = false
    if (bundle.count === 0) return lookLater()
    bundle.attempts = 0
    bundle.goTo = null
    bundle.notBeforeMs = 0
    bundle.dueMs = dues ? times[0] : sentMs
    underWay = true
    router.begin(bundle, sentMs)
  }

  /** @param {number} nowMs */
  const acknowledge = (nowMs) => {
    const acked = outcome.acked()
    if (acked === 0) return
    ledger.acked(acked, isMeasured ? acked : 0)
    if (!isMeasured) return
    if (!dues) latency.record(bundle.dueMs, bundle.dueMs, nowMs, acked)
    else
      for (let i = 0; i < bundle.count; i++)
        if (acked === bundle.count || outcome.lineOf(i) === null) latency.record(times[i], sentMs, nowMs, 1)
  }
  /** All replies are there, or will not come: what was refused goes again. @param {number} nowMs @param {string} from */
  const ended = (nowMs, from) => {
    lastSettledMs = nowMs
    acknowledge(nowMs)
    bundle.attempts++
    /** @type {ReturnType<typeof router.ruling>[]} */
    const rulings = []
    let left = 0
    for (let i = 0; outcome.acked() < bundle.count && i < bundle.count; i++) {
      const line = outcome.lineOf(i)
      if (line === null) continue
      if (line === undefined) {
        ledger.lost('uncertain', 'CLOSED', isMeasured)
        continue
      }
      ledger.commands.refused++
      const ruling = router.ruling(line, from, bundle.dueMs, bundle.attempts)
      const { cause, lost } = ruling
      if (isFromInside(line)) ledger.lost('uncertain', cause, isMeasured)
      else if (lost) ledger.lost(lost, cause, isMeasured)
      else {
        ledger.retried(cause)
        rulings.push(ruling)
        times[left] = times[i]
        ns[left++] = ns[i]
      }
    }
    bundle.count = left
    if (left > 0)
      return router.follow(bundle, rulings.find(({ action }) => action === 'load') ?? rulings[0], from)
    underWay = false
    wasBusy = true
  }

  /** @type {Kind<Bundle>} */
  const kind = {
    slotOf: () => slot,
    send(_, lane, nowMs) {
      calls++
      ledger.commands.sent += needs.commandsOf(bundle.count)
      carrier.send(bundle, lane, nowMs, bundle.goTo === null ? 0 : 1)
    },
    reply: carrier.reply,
    taken(_, left, nowMs, { address }) {
      carrier.taken?.(bundle, left)
      if (left === 0) ended(nowMs, address)
    },
    replied(_, results, __, nowMs, { address }) {
      carrier.replied?.(bundle, results)
      ended(nowMs, address)
    },
    again() {
      if (!closed) ended(clock(), router.ownerOf(slot))
      return null
    },
    lose(_, loss, cause) {
      if (!underWay) return
      for (let i = 0; i < bundle.count; i++) ledger.lost(loss, cause, isMeasured)
      underWay = false
    },
  }
  /** @type {ReturnType<typeof routerOf<Bundle>>} */
  const router = routerOf({
    kind,
    clients: 1,
    slots: [slot],
    target,
    dial: carrier.dial,
    maxBehindMs: plan.maxBehindMs,
    decoder: carrier.decoder,
    loadScripts: (at) => target.loadScripts(at, needs.scripts),
    ledger,
    onRoom: begin,
    onEvent: needs.onEvent,
    machine,
  })
  await router.open()

  return {
    offered,
    elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
    lastSettledMs: () => lastSettledMs - startMs,
    calls: () => calls,
    times: carrier.times,
    start() {
      startMs = clock()
      running = true
      look()
    },
    stop() {
      running = false
      timers.clearTimeout(timer)
      if (!underWay) finish()
    },
    watch: router.watch,
    /** @param {number} limitMs @param {AbortSignal} atOnce */
    settle: (limitMs, atOnce) => settledWithin(limitMs, () => underWay, { clock, atOnce, timers }),
    /** The run has ended: operations without an outcome are unsettled. */
    abandon() {
      closed = true
      if (underWay) kind.lose(bundle, 'unsettled', '')
      router.abandon()
    },
    close() {
      closed = true
      timers.clearTimeout(timer)
      router.close()
    },
    waitingBytes: router.waitingBytes,
  }
}
