// The driver on a client library: what a Node application would see. Commands in flight are bounded, and what the
// library rejects is sent again by the same verdicts as on plain sockets.
import { itemTimesOf } from '../measure/item-times.js'
import { isScheduled } from '../plan/pacer.js'
import { plainCommand } from '../wire/encode.js'
import { patienceOf, pausedMs } from './catch-up.js'
import { occasionsOf } from './due-steps.js'
import { silenceOf } from './half-open.js'
import { connectLibrary, keyIn, libraryNamed } from './library.js'
import { turnsOf } from './library-turns.js'
import { isOverdue, policyOf } from './policy.js'
import { refresherOf } from './refresher.js'
import { causeOf } from './refusals.js'
import { slotMapOf } from './slot-map.js'
import { tapesOf } from './tapes.js'
import { storyOf } from './topology-events.js'

/**
 * @import { Loss } from '../measure/ledger.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Tick } from './connection.js'
 * @import { Tape } from './encoded-batch.js'
 * @import { Redirect } from './library.js'
 * @import { DriverOptions } from './socket.js'
 *
 * @typedef {{ tick: Tick, tape: Tape, values: TickValues, i: number, attempts: number, left: boolean, to: Redirect | null, from: string, write: number }} One
 * a command; `left` when it may have left this process, `to` where a redirect has sent it, `from` where it was sent,
 * `write` as that of an Entry
 */

// A library that takes a command back again and again would be asked without end.
const mostAtOnce = 3

/** @param {DriverOptions} options */
export const libraryDriver = async (options) => {
  const { plan, steps, target, ledger, latency, clock, random, onEvent, onBegun, onProgress, onReply } =
    options
  const occasions = occasionsOf(plan)
  const encodeFrom = clock()
  // Kept tapes would be in vain: the library encodes for itself.
  const { portionItems: items, onEncoding } = options
  const { portionsOf, carriersOf } = await tapesOf(plan, steps, { items, onEncoding, keep: false })
  const encodeMs = clock() - encodeFrom
  const itemTimes = itemTimesOf({ steps, latency })
  const [first] = target.topology.masters
  const turns = turnsOf(ledger)
  /** @type {One[]} */
  let repeats = []
  /** @type {Map<One, NodeJS.Timeout | null>} */
  const postponed = new Map()
  /** @type {Set<One>} */
  const inFlight = new Set()
  let started = false
  let closed = false

  const listen = silenceOf({ dial: target.dial, onEvent })
  const story = storyOf({ onEvent, clock })
  const patience = patienceOf({ plan, clock })
  let answeredMs = clock()
  const isRunning = () => started && !closed
  const openLibrary = await libraryNamed(plan.driver)
  const library = openLibrary({
    cluster: plan.cluster,
    target,
    address: first,
    reads: 'master',
    bytes: false,
    options: plan.library?.options ?? {},
    clock,
    events: {
      up: (address) => {
        story.up(address)
        if (!isRunning()) return
        patience.disturbed()
        // It may be another server's place by now.
        refresher.request()
      },
      down: (address, reason) => {
        if (!isRunning()) return
        patience.disturbed()
        story.down(address, reason)
      },
      // Commands that wait for the server go out as soon as it is back.
      ready: () => {
        for (const [one, timer] of postponed) {
          if (timer === null) continue
          clearTimeout(timer)
          due(one)
        }
      },
      turnedAway: (line) => {
        if (isRunning()) ledger.sentAgain(causeOf(line))
      },
      stray: () => refresher.request(),
    },
  })
  // The library has a map of its own; this one is for the events.
  const map = slotMapOf(target.topology)
  const policy = policyOf({ maxBehindMs: plan.maxBehindMs, clock, follows: target.follows })
  const refresher = refresherOf({
    ask: target.refresh,
    learn: (topology) => {
      story.topology(topology)
      const left = map.replace(topology)
      story.left(left, map.ownerOf)
      if (left.size === 0) return
      patience.disturbed()
      library.refreshSlots()
    },
    clock,
  })

  /** @param {One} one @param {Loss} outcome @param {string} cause */
  const lose = ({ tick, tape, i }, outcome, cause) => {
    ledger.lose(tick.account, tape, i, i + 1, outcome, cause)
    turns.finished(tick)
  }
  /** @param {One} one @param {number} sentMs @param {unknown} reply */
  const succeeded = (one, sentMs, reply) => {
    const { tick, tape, i } = one
    inFlight.delete(one)
    answeredMs = clock()
    if (closed) return
    const items = tape.from[i + 1] - tape.from[i]
    const stored = itemTimes.answered(tick, tape, i, i + 1, one.write, sentMs, clock())
    onReply?.(tape.step, Array.isArray(reply) ? undefined : /** @type {any} */ (reply))
    ledger.answered(tick.account, 1, items, stored)
    turns.finished(tick)
    progressSoon()
  }

  /** @param {One} one @param {unknown} error */
  const rejected = (one, error) => {
    inFlight.delete(one)
    if (closed) return
    const { line, left: mayHaveLeft, atOnce } = library.faultOf(error)
    if (line !== null) answeredMs = clock()
    one.attempts++
    one.left ||= mayHaveLeft
    if (line !== null) refused(one, line)
    else if (atOnce) repeat(one, one.attempts > mostAtOnce ? policy.waitFor(one.attempts) : 0)
    else {
      refresher.request()
      const { tick, tape, left, attempts } = one
      const outcome = policy.unanswered(tape.step, left, tick.dueMs, attempts, isScheduled(plan))
      if (outcome) lose(one, outcome, outcome === 'dropped' ? '' : 'CLOSED')
      else {
        if (mayHaveLeft) ledger.sentAgain('CLOSED')
        repeat(one, policy.waitFor(attempts))
      }
    }
    progressSoon()
  }
  /** @param {One} one @param {string} line */
  const refused = (one, line) => {
    ledger.commands.refused++
    const { action, cause, address, waitMs, lost } = policy.refused(
      line,
      one.from,
      one.tick.dueMs,
      one.attempts,
    )
    if (lost) return lose(one, lost, cause)
    story.refused(cause)
    ledger.sentAgain(cause)
    if (action !== 'asking') refresher.request()
    if ((action === 'there' || action === 'asking') && address !== null)
      one.to = { address, asking: action === 'asking' }
    if (action === 'there') library.refreshSlots()
    if (action === 'load') loadThenRepeat(one, waitMs)
    else repeat(one, waitMs)
  }

  /** @param {One} one @param {number} waitMs */
  const repeat = (one, waitMs) => {
    ledger.commands.repeated++
    if (waitMs === 0) {
      repeats.push(one)
      return
    }
    postponed.set(one, setTimeout(due, waitMs * (0.5 + random()), one))
  }
  const due = (/** @type {One} */ one) => {
    if (closed || !postponed.delete(one)) return
    repeats.push(one)
    progressSoon()
  }
  const loadThenRepeat = (/** @type {One} */ one, /** @type {number} */ waitMs) => {
    postponed.set(one, null)
    const again = () => {
      if (!closed) repeat(one, waitMs)
    }
    Promise.all(target.topology.masters.map((address) => target.loadScripts(address))).then(again, again)
  }

  /** @param {One} one */
  const send = (one) => {
    const { tick, tape, values, i } = one
    const args = plainCommand(tape.args(i), values)
    const sentMs = clock()
    if (tick.firstMs === null) {
      tick.firstMs = sentMs
      onBegun(tick)
    }
    if (one.write === 0) one.write = tick.sends.push(sentMs)
    inFlight.add(one)
    ledger.commands.sent++
    const { to } = one
    one.to = null
    one.from = to?.address ?? ((plan.cluster && library.ownerOf(tape.slotAt(i, values))) || one.from)
    try {
      library.send(args, keyIn(args), to).then(
        (reply) => succeeded(one, sentMs, reply),
        (error) => rejected(one, error),
      )
    } catch (error) {
      // A library throws at once for a slot that has no owner now.
      queueMicrotask(() => rejected(one, error))
    }
  }

  let scheduled = false
  const progressSoon = () => {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      if (closed) return
      pump()
      if (started) onProgress()
    })
  }

  const pump = () => {
    for (const one of repeats.splice(0)) send(one)
    const [from] = map.addresses()
    while (inFlight.size + postponed.size < library.limit) {
      const next = turns.next()
      if (!next) break
      const { tick, job, i } = next
      send({ tick, ...job, i, attempts: 0, left: false, to: null, from, write: 0 })
    }
  }
  /** @param {Tick} tick @param {number} portion */
  const offer = (tick, portion) => {
    const { account } = tick
    const jobs = []
    for (const tape of portionsOf(tick)[portion]) {
      const times = occasions(tape, account.agent, tick.values)
      for (let i = 0; i < times && tape.count > 0; i++) {
        ledger.expect(account, tape.count)
        jobs.push({ tape, values: tick.values })
      }
    }
    if (jobs.length > 0) turns.add(tick, jobs)
    pump()
  }

  const close = () => {
    closed = true
    refresher.close()
    library.close()
  }

  story.topology(target.topology)
  await connectLibrary(library, first, target.access)
  started = true

  return {
    encodeMs,
    tapeBytes: 0,
    portionsOf,
    carriersOf,
    offer,
    watch: () => {
      if (closed) return
      const isUp = !map.addresses().some(story.isDown)
      const deadline = policy.deadline(isScheduled(plan))
      turns.lose((turn) => isOverdue(turn, deadline, isUp), 'dropped')
      listen(library.connections)
      // A library goes over to a new master without a word.
      if (refresher.isStale() || !isUp) refresher.request()
      story.tell()
    },
    /** Gives up what has no outcome yet: the run has ended first. */
    abandon: () => {
      close()
      for (const one of [...inFlight, ...repeats, ...postponed.keys()]) lose(one, 'unsettled', '')
      repeats = []
      turns.lose(() => true, 'unsettled')
    },
    close,
    /** Its connections are its own. */
    renew: () => false,
    /** How long a tick may wait for room. */
    waitLimitMs: () =>
      patience.limitMs(postponed.size > 0 || (inFlight.size > 0 && clock() - answeredMs > pausedMs)),
    hasRoom: () => turns.count() < 2,
    waitingBytes: () => 0,
  }
}
