// Takes requests to the servers that own their slots, over a lane for each client and server. What is refused or lost is tried
// again by its rules, at the owner of its slot then, or gets its outcome; a lost lane is made again while its server owns slots.
import { TargetError } from '../base/errors.js'
import { systemTimers } from '../base/timers.js'
import { askingBytes } from '../wire/encode.js'
import { halfOpenOf } from './half-open.js'
import { laneOf, outboxOf } from './lane.js'
import { policyOf } from './policy.js'
import { renewalsOf } from './reconnecting-socket.js'
import { refresherOf } from './refresher.js'
import { slotMapOf } from './slot-map.js'
import { closed as closedReason, topologyEventsOf } from './topology-events.js'

/**
 * @import { Timers } from '../base/timers.js'
 * @import { Loss } from '../measure/ledger.js'
 * @import { DriverTarget } from './socket.js'
 * @import { Decoder, Lane, LaneEvents } from './lane.js'
 *
 * @typedef {object} Routed what a request knows of its way; the rest is its kind's
 * @property {number} client whose lanes it takes
 * @property {number} dueMs
 * @property {boolean} repeatable it may be sent again though it may have been executed
 * @property {number} attempts refused or lost so far; kept by the router
 * @property {string | null} goTo the server that ASK named for this once: push it with a lead of 1; kept by the router
 * @property {number} notBeforeMs kept by the router
 */

/**
 * @template {Routed} R
 * @typedef {object} Kind what is done with requests; each has exactly one outcome: by a reply, or by `lose`
 * @property {(request: R) => number} slotOf
 * @property {(request: R, lane: Lane<R>, nowMs: number) => void} send pushes it to the lane and writes its bytes
 * @property {number} [most] bytes of one in the outbox
 * @property {(request: R, out: Buffer, at: number) => number} [put] into the outbox
 * @property {(request: R) => R | null} [again] what is tried in place of one that is lost; null: it has its outcome
 * @property {(request: R, outcome: Loss, cause: string) => void} lose
 * @property {LaneEvents<R>['onAnswered']} [answered]
 * @property {LaneEvents<R>['onReplied']} [replied]
 * @property {LaneEvents<R>['onReply']} [reply]
 * @property {LaneEvents<R>['onTaken']} [taken]
 * @property {LaneEvents<R>['onRefused']} [refused] calls the router's `refused`, unless that is its outcome
 * @property {() => void} [settled] the replies of one read were handed out, or a lane was lost
 */

/**
 * @template {Routed} R
 * @typedef {object} RouterNeeds
 * @property {Kind<R>} kind
 * @property {number} clients
 * @property {Pick<DriverTarget, 'topology' | 'dial' | 'refresh' | 'follows'>} target
 * @property {DriverTarget['dial']} [dial] else the target's
 * @property {number} maxBehindMs
 * @property {Decoder} decoder
 * @property {readonly string[]} [waitsFor] causes of refusals that a request waits for, at most so long
 * @property {readonly number[]} [slots] to whose owners there is always a lane; none: to all masters
 * @property {(address: string) => Promise<void>} [loadScripts] none: a script that is not there is a failure
 * @property {boolean} [listens] a silent server is given up: not where requests block
 * @property {{ commands: { refused: number }, retried: (cause: string) => void }} ledger
 * @property {(client: number, nowMs: number) => void} onRoom there may be room for more of this client
 * @property {(cause: string) => void} [onRefused]
 * @property {(tookMs: number) => void} [onRenewed]
 * @property {(kind: string, text: string) => void} onEvent
 * @property {() => number} clock
 * @property {() => number} random
 * @property {Timers} [timers]
 */

/** @template {Routed} R @typedef {ReturnType<typeof routerOf<R>>} Router */

// Not more at once than the queue of new connections of a server takes.
const mostAtOnce = 100

/** Connects all, not too many at once; false: one failed. @param {readonly Lane<any>[]} lanes */
const connectAll = async (lanes) => {
  for (let i = 0; i < lanes.length; i += mostAtOnce) {
    const some = lanes.slice(i, i + mostAtOnce)
    await Promise.all(some.map((lane) => lane.connect()))
    if (!some.every((lane) => lane.isUp())) return false
  }
  return true
}

/** The owners of slots; changes are reported as events. @param {Pick<RouterNeeds<any>, 'target' | 'onEvent' | 'clock' | 'timers'>} needs */
const ownersOf = ({ target, onEvent, clock, timers }) => {
  const map = slotMapOf(target.topology)
  const events = topologyEventsOf({ onEvent, clock })
  const refresher = refresherOf({
    ask: target.refresh,
    learn: (topology) => {
      events.topology(topology)
      const left = map.replace(topology)
      if (left.size > 0) events.left(left, map.ownerOf)
    },
    clock,
    timers,
  })
  events.topology(target.topology)
  return { map, events, refresher }
}

/** @template {Routed} R @param {RouterNeeds<R>} needs */
export const routerOf = (needs) => {
  const {
    kind,
    clients,
    target,
    maxBehindMs,
    decoder,
    waitsFor = [],
    slots,
    loadScripts,
    listens = true,
    ledger,
  } = needs
  const { onRoom, onRefused, onRenewed, onEvent, clock, random, timers = systemTimers } = needs
  const {
    slotOf,
    send,
    most = 0,
    put = (_, __, at) => at,
    again = (request) => request,
    lose,
    settled,
  } = kind
  const { map, events, refresher } = ownersOf({ ...needs, timers })
  const { dial = target.dial } = needs
  const addresses = slots ? () => [...new Set(slots.map(map.ownerOf))] : map.addresses
  const policy = policyOf({ maxBehindMs, clock, follows: target.follows })
  const listen = halfOpenOf({ dial, onEvent, timers })
  const outbox = outboxOf(most, put)
  /** @type {Map<string, Lane<R>>[]} by client, by address */
  const lanes = Array.from({ length: clients }, () => new Map())
  /** @type {(Lane<R> | null)[]} by client: the one that was asked for last */
  const recent = Array.from({ length: clients }, () => null)
  /** @type {R[][]} by client: they go before new ones */
  const waiting = Array.from({ length: clients }, () => [])
  /** @type {Error | null} the last */
  let fault = null
  let opened = false
  let closed = false

  const all = () => lanes.flatMap((each) => [...each.values()])

  /** What waits goes first. @param {number} client @param {number} nowMs */
  const look = (client, nowMs) => {
    if (closed) return
    if (waiting[client].length > 0) resend(client, nowMs)
    onRoom(client, nowMs)
    outbox.end()
  }
  const lookNow = (/** @type {number} */ client) => look(client, clock())
  const lookLater = (/** @type {number} */ client, /** @type {number} */ waitMs) =>
    timers.setTimeout(lookNow, waitMs + 1, client)

  /** @param {R} request @param {string | null} goTo @param {number} [waitMs] */
  const wait = (request, goTo = null, waitMs = 0) => {
    request.goTo = goTo
    request.notBeforeMs = waitMs > 0 ? clock() + waitMs : 0
    waiting[request.client].push(request)
    if (waitMs > 0) lookLater(request.client, waitMs)
  }
  /** @param {number} attempts */
  const backOffMs = (attempts) => policy.waitFor(attempts) * (0.5 + random())

  /** @param {Lane<R>} lane */
  const laneLost = (lane) => {
    const cause = lane.givenUp()
    for (const request of lane.drain()) {
      const one = again(request)
      if (one === null) continue
      if (cause !== null) lose(one, 'failed', cause)
      else if (!one.repeatable) lose(one, 'uncertain', 'CLOSED')
      else {
        one.attempts++
        ledger.retried('CLOSED')
        wait(one)
      }
    }
  }
  /** @type {LaneEvents<R>} */
  const laneEvents = {
    onAnswered: kind.answered,
    onReplied: kind.replied,
    onReply: kind.reply,
    onTaken: kind.taken,
    onRefused: kind.refused,
    onRead({ client }, nowMs) {
      settled?.()
      look(client, nowMs)
    },
    onUp({ address, client }) {
      if (closed || !opened) return
      events.up(address)
      lookNow(client)
    },
    onDown(lane, error) {
      const { address, client } = lane
      laneLost(lane)
      settled?.()
      fault = error ?? new TargetError(`${address}: ${closedReason}`, { code: 'CONNECT' })
      if (closed || !opened) return
      events.down(address, fault.message)
      refresher.request()
      if (!addresses().includes(address)) {
        lane.close()
        lanes[client].delete(address)
        recent[client] = null
      }
      timers.setImmediate(() => lookNow(client))
    },
    onRenewed({ client }, tookMs) {
      if (closed) return
      onRenewed?.(tookMs)
      lookNow(client)
    },
  }

  /** @param {number} client @param {string} address */
  const laneAt = (client, address) => {
    const last = recent[client]
    if (last !== null && last.address === address) return last
    let lane = lanes[client].get(address)
    if (lane === undefined) {
      const open = (/** @type {Parameters<typeof dial>[1]} */ handlers) => dial(address, handlers)
      lane = laneOf({ client, address, decoder, open, events: laneEvents, clock, random, timers })
      lanes[client].set(address, lane)
      if (opened) lane.connect()
    }
    recent[client] = lane
    return lane
  }

  /** Sends it over the lane to its server; false: that is not up. @param {R} request @param {number} nowMs */
  const sent = (request, nowMs) => {
    const { client, goTo } = request
    const lane = laneAt(client, goTo ?? map.ownerOf(slotOf(request)))
    if (!lane.isUp()) return false
    if (goTo !== null) outbox.plain(lane, askingBytes)
    send(request, lane, nowMs)
    return true
  }
  /** @param {number} client @param {number} nowMs */
  const resend = (client, nowMs) => {
    const list = waiting[client]
    waiting[client] = []
    for (const request of list) {
      if (request.notBeforeMs > nowMs) waiting[client].push(request)
      else if (!sent(request, nowMs)) {
        if (nowMs - request.dueMs > maxBehindMs) lose(request, 'dropped', '')
        else waiting[client].push(request)
      }
    }
  }

  /** Tries it again: at the owner by the map, at the address that the refusal named, or later. @param {R} request @param {ReturnType<typeof policy.refused>} ruling @param {string} from */
  const follow = (request, { action, cause, slot, address }, from) => {
    events.refused(cause)
    // An address that the map does not know is not followed: first the cluster must confirm it.
    const isKnown = address !== null && map.addresses().includes(address)
    if (action === 'there' && isKnown && slot !== null) {
      const was = map.ownerOf(slot)
      if (was !== address) {
        map.move(slot, address)
        events.moved(was, address, 1)
      }
      return wait(request)
    }
    if (action === 'asking' && isKnown) return wait(request, address)
    const later = () => wait(request, null, backOffMs(request.attempts))
    if (action === 'load') return void loadScripts?.(from).then(later, later)
    refresher.request()
    later()
  }

  return {
    outbox,
    lanes: all,
    ownerOf: map.ownerOf,
    ruling: policy.refused,
    follow,
    /** @param {number} client @param {number} slot */
    isUp: (client, slot) => laneAt(client, map.ownerOf(slot)).isUp(),
    topologyEvents: events,
    refresher,
    look,
    lookNow,
    lookLater,

    /** Sends a new request, or keeps it until its lane is up. @param {R} request @param {number} nowMs */
    begin(request, nowMs) {
      if (!sent(request, nowMs)) wait(request)
    },
    /** A server refused it: it was not executed. @param {R} request @param {string} line @param {Lane<R>} lane */
    refused(request, line, { address }) {
      request.attempts++
      ledger.commands.refused++
      const ruling = policy.refused(line, address, request.dueMs, request.attempts)
      const { action, cause, lost } = ruling
      onRefused?.(cause)
      if (waitsFor.includes(cause)) {
        if (clock() - request.dueMs > maxBehindMs) return lose(request, 'dropped', '')
        ledger.retried(cause)
        return wait(request, null, backOffMs(1))
      }
      if (lost || (action === 'load' && !loadScripts)) return lose(request, 'failed', cause)
      ledger.retried(cause)
      follow(request, ruling, address)
    },

    /** Connects every client to every server. */
    async open() {
      for (const client of lanes.keys()) for (const address of addresses()) laneAt(client, address)
      opened = await connectAll(all())
      if (opened) return
      close()
      throw fault instanceof TargetError ? fault : new TargetError(String(fault), { cause: fault })
    },
    renew: renewalsOf(clients, (client) => [...lanes[client].values()]),
    /** Once a second: what waits, silent servers, and events. */
    watch() {
      if (closed) return
      if (listens) listen(all)
      for (const [client, { length }] of waiting.entries()) if (length > 0) lookNow(client)
      events.tell()
    },
    /** The run has ended: requests without an outcome are unsettled. */
    abandon() {
      closed = true
      const inFlight = all().flatMap((lane) => lane.drain())
      const left = inFlight.flatMap((request) => again(request) ?? [])
      for (const request of [...left, ...waiting.flat()]) lose(request, 'unsettled', '')
    },
    waitingBytes: () => all().reduce((sum, lane) => sum + lane.waitingBytes(), 0),
    close,
  }

  function close() {
    closed = true
    refresher.close()
    for (const lane of all()) lane.close()
  }
}
