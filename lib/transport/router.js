// Takes requests to the servers that own their slots, over a lane for each client and server. What is refused or lost is tried
// again by its rules, at the owner of its slot then, or gets its outcome; a lost lane is made again while its server owns slots.
import { TargetError } from '../base/errors.js'
import { askingBytes } from '../wire/encode.js'
import { laneOf, outboxOf } from './lane.js'
import { netOf } from './net.js'
import { policyOf } from './policy.js'
import { renewalsOf } from './reconnecting-socket.js'
import { readServersOf } from './slot-map.js'
import { closed as closedReason } from './topology-events.js'

/**
 * @import { Machine } from '../base/timers.js'
 * @import { Loss } from '../probes/ledger.js'
 * @import { DriverTarget } from './socket-writer.js'
 * @import { Decoder, Lane, LaneEvents } from './lane.js'
 * @import { ReadTarget } from './read-driver.js'
 * @import { Reads, slotMapOf } from './slot-map.js'
 * @import { Net } from './net.js'
 * @import { Ruling } from './policy.js'
 *
 * @typedef {object} Routed what a request knows of its way; the rest is its kind's
 * @property {number} client whose lanes it takes
 * @property {number} dueMs
 * @property {boolean} repeatable it may be sent again though it may have been executed
 * @property {number} attempts refused or lost so far; kept by the router
 * @property {string | null} goTo the server that ASK named for this once: push it with a lead of 1; kept by the router
 * @property {number} notBeforeMs kept by the router
 */

// Requests that are tried again: those that were refused or lost, and those whose lane is not up. They wait by client, and go
// before new ones.

/**
 * @template {Routed} R
 * @param {RouterNeeds<R>} needs
 * @param {object} way
 * @param {Net} way.net
 * @param {(request: R, nowMs: number) => boolean} way.send over the lane to its server; false: that is not up
 * @param {(client: number, waitMs: number) => void} way.lookLater
 */
const requestRetriesOf = (needs, { net, send, lookLater }) => {
  const { kind, maxBehindMs, waitsFor = [], loadScripts, ledger, machine } = needs
  const { clock, random } = machine
  const { again = (request) => request, lose } = kind
  const policy = policyOf({ maxBehindMs, clock, follows: needs.target.follows })
  /** @type {R[][]} by client */
  const waiting = Array.from({ length: needs.clients }, () => [])

  /** @param {R} request @param {string | null} goTo @param {number} [waitMs] */
  const wait = (request, goTo = null, waitMs = 0) => {
    request.goTo = goTo
    request.notBeforeMs = waitMs > 0 ? clock() + waitMs : 0
    waiting[request.client].push(request)
    if (waitMs > 0) lookLater(request.client, waitMs)
  }
  /** @param {number} attempts */
  const backOffMs = (attempts) => policy.waitFor(attempts) * (0.5 + random())

  /** Tries it again: at the owner by the map, at the address that the refusal named, or later. @param {R} request @param {Ruling} ruling @param {string} from */
  const follow = (request, { action, cause, slot, address, waitMs }, from) => {
    net.events.refused(cause)
    // An address that the map does not know is not followed: first the cluster must confirm it.
    const isKnown = address !== null && net.isOwner(address)
    const againMs = waitMs > 0 ? backOffMs(request.attempts) : 0
    if (action === 'there' && isKnown && slot !== null) {
      net.moved(slot, address)
      return wait(request, null, againMs)
    }
    if (action === 'asking' && isKnown) return wait(request, address, againMs)
    const later = () => wait(request, null, backOffMs(request.attempts))
    if (action === 'load') return void loadScripts?.(from).then(later, later)
    net.refresh()
    later()
  }

  return {
    wait,
    ruling: policy.refused,
    follow,
    /** A server refused it: it was not executed. @param {R} request @param {string} line @param {Lane<R>} lane */
    refused(request, line, { address }) {
      request.attempts++
      ledger.commands.refused++
      const ruling = policy.refused(line, address, request.dueMs, request.attempts)
      const { action, cause, lost } = ruling
      needs.onRefused?.(cause)
      if (waitsFor.includes(cause)) {
        if (clock() - request.dueMs > maxBehindMs) return lose(request, 'dropped', '')
        ledger.retried(cause)
        return wait(request, null, backOffMs(1))
      }
      if (lost || (action === 'load' && !loadScripts)) return lose(request, 'failed', cause)
      ledger.retried(cause)
      follow(request, ruling, address)
    },
    /** The requests in flight of a lane that is lost. @param {Lane<R>} lane */
    laneLost(lane) {
      // It may never be up again: the owner of the slot names it once more.
      for (const request of waiting[lane.client]) if (request.goTo === lane.address) request.goTo = null
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
    },
    hasWaiting: (/** @type {number} */ client) => waiting[client].length > 0,
    /** Sends what waits; what finds no lane for too long is dropped. @param {number} client @param {number} nowMs */
    resend(client, nowMs) {
      const list = waiting[client]
      waiting[client] = []
      for (const request of list) {
        if (request.notBeforeMs > nowMs) waiting[client].push(request)
        else if (!send(request, nowMs)) {
          if (nowMs - request.dueMs > maxBehindMs) lose(request, 'dropped', '')
          else waiting[client].push(request)
        }
      }
    },
    /** The run has ended: requests without an outcome are unsettled. @param {readonly Lane<R>[]} lanes */
    abandon(lanes) {
      const inFlight = lanes.flatMap((lane) => lane.drain())
      const left = inFlight.flatMap((request) => again(request) ?? [])
      for (const request of [...left, ...waiting.flat()]) lose(request, 'unsettled', '')
    },
  }
}

// Who answers the reads of clients, where that need not be the master: replicas, the nearest node, or any.

/**
 * @param {Pick<RouterNeeds<any>, 'readFrom' | 'target' | 'dial'>} needs
 * @param {ReturnType<typeof slotMapOf>} map
 */
export const readersOf = ({ readFrom = 'master', target, dial = target.dial }, map) => {
  const { nodes, tripMs } = target
  if (readFrom === 'master' || !nodes) return null
  const now = () => readServersOf(map, nodes(), readFrom, tripMs)
  const isCluster = target.topology.owners !== null
  const isReplica = (/** @type {string} */ address) => isCluster && !map.addresses().includes(address)
  let servers = now()
  /** Addresses whose connections were told that stale reads will do. @type {Set<string>} */
  const told = new Set()

  return {
    all: () => servers.all,
    /** @param {number} slot @param {number} client */
    serverOf: (slot, client) => servers.serverOf(slot, client),
    /** @type {typeof target.dial} */
    async dial(address, events) {
      const readOnly = isReplica(address)
      if (readOnly) told.add(address)
      else told.delete(address)
      const socket = await dial(address, { ...events, readOnly })
      // It became a replica meanwhile.
      if (!readOnly && isReplica(address)) socket.destroy()
      return socket
    },
    /** A new map is in use: a master that became a replica must be told. @param {readonly { address: string, renew: () => unknown }[]} lanes */
    learned(lanes) {
      servers = now()
      // All of them, before the first is dialled anew.
      const untold = lanes.filter(({ address }) => isReplica(address) && !told.has(address))
      for (const lane of untold) lane.renew()
    },
  }
}

// The lanes of clients: one for each client and server, made when it is first asked for.

// Not more at once than the queue of new connections of a server takes.
const mostAtOnce = 100

/**
 * @template R
 * @param {object} needs
 * @param {number} needs.clients
 * @param {DriverTarget['dial']} needs.dial
 * @param {Decoder} needs.decoder
 * @param {Omit<LaneEvents<R>, 'onDown'> & { onDown: (lane: Lane<R>, error: Error) => void }} needs.events
 * @param {Machine} needs.machine
 */
const lanesOf = ({ clients, dial, decoder, machine, ...needs }) => {
  /** @type {Map<string, Lane<R>>[]} by client, by address */
  const lanes = Array.from({ length: clients }, () => new Map())
  /** @type {(Lane<R> | null)[]} by client: the one that was asked for last */
  const recent = Array.from({ length: clients }, () => null)
  let opened = false
  /** @type {Error | null} the last */
  let fault = null
  const events = {
    ...needs.events,
    onDown(/** @type {Lane<R>} */ lane, /** @type {Error | undefined} */ error) {
      fault = error ?? new TargetError(`${lane.address}: ${closedReason}`, { code: 'CONNECT' })
      needs.events.onDown(lane, fault)
    },
  }
  const all = () => lanes.flatMap((each) => [...each.values()])

  const close = () => {
    for (const lane of all()) lane.close()
  }

  /** @param {number} client @param {string} address */
  const made = (client, address) => {
    const open = (/** @type {Parameters<typeof dial>[1]} */ handlers) => dial(address, handlers)
    /** @type {Lane<R>} */
    const lane = laneOf({ client, address, decoder, open, events, machine })
    lanes[client].set(address, lane)
    if (opened) lane.connect()
    return lane
  }
  /** @param {number} client @param {string} address */
  const at = (client, address) => {
    const last = recent[client]
    if (last !== null && last.address === address) return last
    const lane = lanes[client].get(address) ?? made(client, address)
    recent[client] = lane
    return lane
  }

  return {
    all,
    at,
    isOpened: () => opened,
    /** Connects every client to every server. @param {readonly string[]} addresses */
    async open(addresses) {
      for (const client of lanes.keys()) for (const address of addresses) at(client, address)
      const first = all()
      for (let i = 0; i < first.length; i += mostAtOnce) {
        const some = first.slice(i, i + mostAtOnce)
        await Promise.all(some.map((lane) => lane.connect()))
        if (some.every((lane) => lane.isUp())) continue
        close()
        throw fault instanceof TargetError ? fault : new TargetError(String(fault), { cause: fault })
      }
      opened = true
    },
    /** @param {Lane<R>} lane */
    drop(lane) {
      lane.close()
      lanes[lane.client].delete(lane.address)
      recent[lane.client] = null
    },
    renew: renewalsOf(clients, (client) => [...lanes[client].values()]),
    waitingBytes: () => all().reduce((sum, lane) => sum + lane.waitingBytes(), 0),
    close,
  }
}

/**
 * @template {Routed} R
 * @typedef {object} Kind what is done with requests; each has exactly one outcome: by a reply, or by `lose`
 * @property {(request: R) => number} slotOf
 * @property {(request: R) => boolean} [reads] it changes nothing, so a replica may answer
 * @property {(request: R, lane: Lane<R>, nowMs: number) => void} send pushes it to the lane and writes its bytes
 * @property {number} [most] bytes of one in the outbox
 * @property {(request: R, out: Buffer, at: number, nowMs: number) => number} [put] out of the outbox, as it is written
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
 * @property {Pick<DriverTarget, 'topology' | 'dial' | 'refresh' | 'follows'> & Partial<Pick<ReadTarget, 'nodes' | 'tripMs'>>} target
 * @property {Reads} [readFrom] of what reads; else from the masters
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
 * @property {Machine} machine
 */

/** @template {Routed} R @typedef {ReturnType<typeof routerOf<R>>} Router */

/** @template {Routed} R @param {Kind<R>} kind */
const repliesTo = (kind) => ({
  onAnswered: kind.answered,
  onReplied: kind.replied,
  onReply: kind.reply,
  onTaken: kind.taken,
  onRefused: kind.refused,
})

/**
 * Sends a request over the lane to its server; false: that is not up.
 * @template {Routed} R
 * @param {Kind<R>} kind
 * @param {{ outbox: ReturnType<typeof outboxOf<R>>, laneAt: (client: number, address: string) => Lane<R>, ownerOf: (slot: number) => string,
 *   readerOf: ((slot: number, client: number) => string | undefined) | null }} way
 */
const sendingOf = ({ slotOf, send, reads }, { outbox, laneAt, ownerOf, readerOf }) => {
  /** Where stale reads will do, once: what a replica refused or lost goes to the master. @param {R} request @param {number} slot */
  const replicaFor = (request, slot) => {
    if (readerOf === null || request.attempts > 0 || !reads?.(request)) return null
    const address = readerOf(slot, request.client)
    const lane = address === undefined ? null : laneAt(request.client, address)
    return lane?.isUp() ? lane : null
  }
  return (/** @type {R} */ request, /** @type {number} */ nowMs) => {
    const { client, goTo } = request
    const slot = slotOf(request)
    const lane = (goTo === null ? replicaFor(request, slot) : null) ?? laneAt(client, goTo ?? ownerOf(slot))
    if (!lane.isUp()) return false
    if (goTo !== null) outbox.plain(lane, askingBytes)
    send(request, lane, nowMs)
    return true
  }
}

/** The owners of slots, and who answers reads. @template {Routed} R @param {RouterNeeds<R>} needs @param {() => Lane<R>[]} lanes */
const serversOf = (needs, lanes) => {
  const { target, slots, onEvent, machine } = needs
  const net = netOf({
    target: { topology: target.topology, refresh: target.refresh, dial: needs.dial ?? target.dial },
    connections: lanes,
    onLearned: () => readers?.learned(lanes()),
    onEvent,
    machine,
  })
  const { ownerOf, addresses: all } = net.map
  const readers = readersOf(needs, net.map)
  const masters = slots ? () => [...new Set(slots.map(ownerOf))] : all
  return {
    net,
    readerOf: readers?.serverOf ?? null,
    dial: readers?.dial ?? needs.dial ?? target.dial,
    addresses: readers ? () => [...new Set([...masters(), ...readers.all()])] : masters,
  }
}

// More in one go would keep the server waiting: with all 50 the rate falls to half at times.
const mostLooks = 16

/**
 * Looks after several clients in one go, when what a turn of the loop reads is taken: the same code for one after the other gets 1.11 of
 * the answers with one in flight on each of 50 connections, for 0.91 of the CPU, and as many with ten, for 0.97.
 * @param {object} needs
 * @param {number} needs.clients
 * @param {(client: number, nowMs: number) => void} needs.look
 * @param {() => void} needs.end all that were due have been looked after
 * @param {Machine} needs.machine
 */
export const turnOf = ({ clients, look, end, machine: { clock, timers } }) => {
  const due = new Uint32Array(mostLooks)
  const isDue = new Uint8Array(clients)
  let count = 0

  const endTurn = () => {
    const nowMs = clock()
    const n = count
    count = 0
    for (let i = 0; i < n; i++) isDue[due[i]] = 0
    try {
      for (let i = 0; i < n; i++) look(due[i], nowMs)
      end()
    } catch (error) {
      // It is not of the connection whose replies were read last.
      timers.setImmediate(() => {
        throw error
      })
    }
  }
  return {
    /** @param {number} client */
    look(client) {
      if (isDue[client] === 1) return
      isDue[client] = 1
      due[count++] = client
      if (count === mostLooks) endTurn()
      else if (count === 1) timers.setImmediate(endTurn)
    },
    /** @param {number} client */
    lookNow(client) {
      look(client, clock())
      end()
    },
  }
}

/** @template {Routed} R @param {RouterNeeds<R>} needs */
export const routerOf = (needs) => {
  const { kind, listens = true } = needs
  const { onRoom, onRenewed, machine } = needs
  const { clock, timers } = machine
  const { most = 0, put = (_, __, at) => at, settled } = kind
  const outbox = outboxOf({ most, put, clock })
  let closed = false

  const servers = serversOf(needs, /** @returns {Lane<R>[]} */ () => lanes.all())
  const { net, addresses, dial } = servers
  const { ownerOf } = net.map

  /** @type {Parameters<typeof lanesOf<R>>[0]['events']} */
  const events = {
    ...repliesTo(kind),
    onRead({ client }) {
      settled?.()
      turn.look(client)
    },
    onUp({ address, client }) {
      if (closed || !lanes.isOpened()) return
      net.events.up(address)
      lookNow(client)
    },
    onDown(lane, { message }) {
      const { address, client } = lane
      retries.laneLost(lane)
      settled?.()
      if (closed || !lanes.isOpened()) return
      net.events.down(address, message)
      net.refresh()
      if (!addresses().includes(address)) lanes.drop(lane)
      timers.setImmediate(() => lookNow(client))
    },
    onRenewed({ client }, tookMs) {
      if (closed) return
      onRenewed?.(tookMs)
      lookNow(client)
    },
  }
  const lanes = lanesOf({ ...needs, dial, events })
  const laneAt = lanes.at
  const sent = sendingOf(kind, { outbox, laneAt, ownerOf, readerOf: servers.readerOf })

  /** What waits goes first. @param {number} client @param {number} nowMs */
  const look = (client, nowMs) => {
    if (closed) return
    if (retries.hasWaiting(client)) retries.resend(client, nowMs)
    onRoom(client, nowMs)
  }
  const turn = turnOf({ clients: needs.clients, look, end: outbox.end, machine })
  const { lookNow } = turn
  const lookLater = (/** @type {number} */ client, /** @type {number} */ waitMs) =>
    timers.setTimeout(lookNow, waitMs + 1, client)
  const retries = requestRetriesOf(needs, { net, send: sent, lookLater })

  const close = () => {
    closed = true
    net.close()
    lanes.close()
  }
  return {
    outbox,
    lanes: lanes.all,
    ownerOf,
    ruling: retries.ruling,
    follow: retries.follow,
    refused: retries.refused,
    look: turn.look,
    lookNow,
    lookLater,
    /** @param {number} client @param {number} slot */
    isUp: (client, slot) => laneAt(client, ownerOf(slot)).isUp(),
    /** Sends a new request, or keeps it until its lane is up. @param {R} request @param {number} nowMs */
    begin(request, nowMs) {
      if (!sent(request, nowMs)) retries.wait(request)
    },
    /** Connects every client to every server. */
    async open() {
      await lanes.open(addresses()).catch((error) => {
        close()
        throw error
      })
    },
    renew: lanes.renew,
    /** Once a second: silent servers, what waits, and events. */
    watch() {
      if (closed) return
      if (listens) net.listen()
      for (let client = 0; client < needs.clients; client++) if (retries.hasWaiting(client)) lookNow(client)
      net.watch()
    },
    /** The run has ended: requests without an outcome are unsettled. */
    abandon() {
      closed = true
      retries.abandon(lanes.all())
    },
    waitingBytes: lanes.waitingBytes,
    close,
  }
}
