// Requests of a cache: what is not there is read from a source, written, and then served. A request has one outcome: served,
// when the last of its keys is there, or lost with a cause.
import { versionIn, versionText } from '../../probes/stale.js'
import { addDistinct } from '../../traffic/batches.js'
import { timesIn } from '../../traffic/times.js'
import { fifo } from '../../transport/fifo.js'
import { noValues } from '../../wire/encode.js'
import { ackedOf, none, recordsOf, writtenOf } from './operation.js'

/**
 * @import { Kind, Router } from '../../transport/router.js'
 * @import { Loss } from '../../probes/ledger.js'
 * @import { CacheCounts } from '../../measures/cache.js'
 * @import { BundleCommands } from '../../workloads/bind/bundle.js'
 * @import { ReplySink } from '../../wire/values.js'
 * @import { Lane } from '../../transport/lane.js'
 * @import { FlowNeeds } from './flow.js'
 * @import { Plan } from '../plan.js'
 * @import { Machine } from '../../base/timers.js'
 *
 * @typedef {object} Caching
 * @property {NonNullable<Plan['cache']>} cache
 * @property {BundleCommands | null} many the command of several keys; null: a request has one
 * @property {CacheCounts} counts
 * @property {(client: number) => number} draw what is asked for besides, at the same time
 */

// The source behind a cache: answers after a time, and so many at once; the rest waits in order.

/**
 * @template T
 * @param {object} needs
 * @param {string} needs.missTime
 * @param {number | null} needs.missConcurrency null: all at once
 * @param {(one: T, tookMs: number) => void} needs.onRead
 * @param {(atOnce: number) => void} needs.onBegin with how many it reads now
 * @param {Machine} needs.machine
 */
export const sourceOf = ({ missTime, missConcurrency, onRead, onBegin, machine }) => {
  const { clock, random, timers } = machine
  const time = timesIn(missTime)
  if (!time) throw new TypeError(`no time: ${missTime}`)
  const most = missConcurrency ?? Number.POSITIVE_INFINITY
  /** Since when. @type {Map<T, number>} */
  const reading = new Map()
  /** @type {ReturnType<typeof fifo<T>>} */
  const waiting = fifo()
  let ended = false

  const read = (/** @type {T} */ one) => {
    if (ended) return
    if (reading.size >= most) {
      waiting.push(one)
      return
    }
    if (time.meanMs === 0 && most === Number.POSITIVE_INFINITY) {
      onBegin(1)
      return onRead(one, 0)
    }
    reading.set(one, clock())
    onBegin(reading.size)
    timers.setTimeout(answered, time.draw(random), one)
  }
  const answered = (/** @type {T} */ one) => {
    const beganMs = reading.get(one)
    if (beganMs === undefined) return
    reading.delete(one)
    onRead(one, clock() - beganMs)
    const next = waiting.first()
    if (next === undefined || ended) return
    waiting.shift()
    read(next)
  }
  return {
    read,
    /** It answers no more; returns what it had not answered. */
    end() {
      ended = true
      const left = [...reading.keys(), ...waiting.takeAll()]
      reading.clear()
      return left
    },
  }
}

/** What is sent: a request, a fill, or a write that invalidates; the order of the operations. */
export const phases = Object.freeze({ serve: 0, fill: 1, drop: 2 })
const { serve, fill: filling } = phases

// No number of an item has more digits.
const longest = 1e12

/** Something to be sent; it takes its own reply, since one may come in several reads. @implements {ReplySink} */
class CacheRequest {
  client = 0
  /** @type {number} */
  kind = serve
  n = 0
  /** Of several keys. @type {number[]} */
  keys = []
  dueMs = 0.5
  measured = false
  repeatable = true
  firstMs = 0.5
  attempts = 0
  /** @type {string | null} */
  goTo = null
  notBeforeMs = 0.5
  isOver = false
  version = 0
  floor = 0
  floorMs = 0.5
  sentMs = 0.5
  multiStep = none
  found = Number.NaN
  /** Of a request: keys that are not there yet, and its commands without a reply. */
  pending = 0
  commands = 1
  isHit = true
  /** The request that a command is of: in a cluster it has one for each slot. @type {CacheRequest} */
  whole = this
  /** Of a request: its other commands, until the first is sent. @type {CacheRequest[]} */
  others = []
  /** Of a fill: the requests that wait for it. @type {CacheRequest[]} */
  waiting = []
  /** Keys of the reply so far, and which of them are not there. */
  at = 0
  /** @type {number[]} */
  missed = []
  /** @type {string | null} */
  refusal = null

  open() {}
  /** @param {Buffer} bytes @param {number} from @param {number} to */
  bulk(bytes, from, to) {
    this.at++
    if (this.floor > 0) this.found = versionIn(bytes, from, to)
  }
  number() {}
  nil() {
    this.missed.push(this.at++)
  }
  /** @param {string} line */
  error(line) {
    this.refusal = line
  }
}

/** Whether it counts: after the first that is measured, only what is measured does. @param {CacheCounts} counts @param {CacheRequest} request */
const isCounted = (counts, { measured }) => {
  if (measured && !counts.isMeasuring) counts.startMeasuring()
  return measured || !counts.isMeasuring
}

/** Fills under way: of each key how many, and with coalesce the one that others wait for. @param {CacheCounts} counts */
const fillsOf = (counts) => {
  /** @type {Map<number, { count: number, fill: CacheRequest }>} */
  const known = new Map()
  return {
    of: (/** @type {number} */ n) => known.get(n)?.fill ?? null,
    /** @param {CacheRequest} fill */
    add(fill) {
      const same = known.get(fill.n)
      if (same) same.count++
      else known.set(fill.n, { count: 1, fill })
      if (isCounted(counts, fill)) counts.fills++
      if ((same?.count ?? 1) > counts.stampede) counts.stampede = same?.count ?? 1
    },
    /** @param {CacheRequest} fill */
    remove(fill) {
      const same = known.get(fill.n)
      if (same && --same.count === 0) known.delete(fill.n)
    },
  }
}

/** @param {FlowNeeds} needs @param {() => Router<CacheRequest>} routing @param {Caching} caching */
export const cacheOperationsOf = (needs, routing, { cache, many, counts, draw }) => {
  const { plan, clients, operations, ledger, latency, stale = null } = needs
  const { clock } = needs.machine
  const own = { ...noValues }
  const { batch, coalesce } = cache
  const timed = (/** @type {CacheCounts['hitTimes']} */ times) =>
    ackedOf({
      ledger,
      latency: {
        record(dueMs, sentMs, nowMs, weight) {
          latency.record(dueMs, sentMs, nowMs, weight)
          times?.record((nowMs - dueMs) * 1000, weight)
        },
      },
    })
  const hits = timed(counts.hitTimes)
  const misses = timed(counts.missTimes)
  const writes = timed(null)
  const fills = fillsOf(counts)
  const { first: recordOf, free } = recordsOf(operations, () => new CacheRequest())
  let lastMs = 0

  /** @type {typeof recordOf} */
  const first = (client, kind, n, dueMs, measured) => {
    const one = recordOf(client, kind, n, dueMs, measured)
    one.keys.length = 0
    one.pending = 0
    one.commands = 1
    one.isHit = true
    one.whole = one
    return one
  }
  const slotOf = (/** @type {number} */ n) => operations[serve].command.slotOf(n)
  /** A command for the keys of each slot, as libraries do it. @param {CacheRequest} whole */
  const split = (whole) => {
    const { keys, others, client, dueMs, measured } = whole
    let kept = 1
    for (let i = 1; i < keys.length; i++) {
      const n = keys[i]
      const slot = slotOf(n)
      if (slot === slotOf(whole.n)) {
        keys[kept++] = n
        continue
      }
      let at = 0
      while (at < others.length && slotOf(others[at].n) !== slot) at++
      if (at === others.length) {
        others.push(first(client, serve, n, dueMs, measured))
        others[at].whole = whole
      }
      others[at].keys.push(n)
    }
    keys.length = kept
    whole.commands += others.length
  }
  /** @type {typeof first} */
  const begun = (client, kind, n, dueMs, measured) => {
    const one = first(client, kind, n, dueMs, measured)
    if (many === null || kind !== serve) return one
    addDistinct(one.keys, n, batch, () => draw(client))
    if (plan.cluster) split(one)
    return one
  }
  const source = sourceOf({
    ...cache,
    machine: needs.machine,
    onBegin(atOnce) {
      if (atOnce > counts.atOnce) counts.atOnce = atOnce
    },
    onRead(/** @type {CacheRequest} */ fill, tookMs) {
      if (isCounted(counts, fill)) {
        counts.sourced++
        counts.sourceMs += tookMs
      }
      routing().begin(fill, clock())
      routing().outbox.end()
    },
  })

  const written = writtenOf(needs)

  /** @param {CacheRequest} command @param {Loss} outcome @param {string} cause */
  const lost = ({ whole: request }, outcome, cause) => {
    if (request.isOver) return
    request.isOver = true
    ledger.lost(outcome, cause, request.measured)
    clients[request.client].inFlight--
    lastMs = clock()
  }
  /** @param {CacheRequest} request @param {ReturnType<typeof ackedOf>} as @param {number} nowMs */
  const served = (request, as, nowMs) => {
    as.add(request, nowMs)
    clients[request.client].inFlight--
    free.push(request)
  }
  /** A key that is not there. @param {CacheRequest} request @param {number} n */
  const missed = (request, n) => {
    const known = coalesce ? fills.of(n) : null
    if (known) {
      if (isCounted(counts, request)) counts.coalesced++
      known.waiting.push(request)
      return
    }
    const fill = first(request.client, filling, n, request.dueMs, request.measured)
    fill.waiting.push(request)
    fills.add(fill)
    source.read(fill)
  }
  /** @param {CacheRequest} command @param {number} nowMs */
  const found = (command, nowMs) => {
    const { missed: places, keys, n, whole } = command
    const asked = many === null ? 1 : keys.length
    const counted = isCounted(counts, whole)
    const sums = counted ? counts : counts.late
    sums.hits += asked - places.length
    sums.misses += places.length
    if (counted && counts.decile !== null) {
      if (many === null) counts.decile(n, places.length === 0)
      else for (let i = 0; i < asked; i++) counts.decile(keys[i], !places.includes(i))
    }
    whole.commands--
    whole.pending += places.length
    if (places.length > 0) whole.isHit = false
    for (let i = 0; i < places.length; i++) missed(whole, many === null ? n : keys[places[i]])
    if (command !== whole) free.push(command)
    complete(whole, nowMs)
  }
  /** @param {CacheRequest} request @param {number} nowMs */
  const complete = (request, nowMs) => {
    if (request.pending > 0 || request.commands > 0 || request.isOver) return
    served(request, request.isHit ? hits : misses, nowMs)
  }
  /** @param {CacheRequest} fill @param {number} nowMs */
  const filled = (fill, nowMs) => {
    fills.remove(fill)
    for (const request of fill.waiting) {
      request.pending--
      complete(request, nowMs)
      // Its client reads nothing now.
      if (request.client !== fill.client) routing().look(request.client)
    }
    fill.waiting.length = 0
    free.push(fill)
  }

  /** @type {Kind<CacheRequest>} */
  const kind = {
    most: Math.max(
      ...operations.map(({ command }) => command.most),
      many?.size(Array(batch).fill(longest), batch) ?? 0,
    ),
    slotOf: ({ kind: one, n }) => (plan.cluster ? operations[one].command.slotOf(n) : 0),
    reads: ({ kind: one }) => one === serve,
    put(request, out, at, nowMs) {
      written(request, nowMs)
      const { kind: one, n, keys, version } = request
      if (many !== null && one === serve) return many.put(keys, keys.length, out, at)
      if (version > 0) own.stamp = versionText(version)
      return operations[one].command.put(n, out, at, own)
    },
    send(request, lane, nowMs) {
      request.sentMs = nowMs
      if (stale !== null) {
        if (request.kind === serve) stale.ask(request.n, request)
        else if (request.version === 0) stale.begin(request.n, request)
      }
      lane.push(request, 1, nowMs, request.goTo === null ? 0 : 1)
      routing().outbox.put(lane, request)
      ledger.commands.sent++
      for (const other of request.others) routing().begin(other, nowMs)
      request.others.length = 0
    },
    reply(request) {
      request.at = 0
      request.found = Number.NaN
      request.missed.length = 0
      request.refusal = null
      return request
    },
    /** @param {Lane<CacheRequest>} lane */
    taken(request, _, nowMs, lane) {
      if (request.refusal !== null) return routing().refused(request, request.refusal, lane)
      if (stale !== null) {
        if (request.version > 0) stale.end(request.n, true, nowMs)
        else stale.answered(request, request.found, request.sentMs)
      }
      if (request.kind === serve) found(request, nowMs)
      else if (request.kind === filling) filled(request, nowMs)
      else {
        if (isCounted(counts, request)) counts.invalidated++
        served(request, writes, nowMs)
      }
    },
    lose(request, outcome, cause) {
      if (request.version > 0) stale?.end(request.n, false, 0)
      if (request.kind !== filling) return lost(request, outcome, cause)
      fills.remove(request)
      for (const one of request.waiting) {
        lost(one, outcome, cause)
        if (one.client !== request.client) routing().lookLater(one.client, 0)
      }
    },
    settled() {
      hits.tell()
      misses.tell()
      writes.tell()
    },
  }

  return {
    kind,
    first: begun,
    lastSettledMs: () => Math.max(lastMs, hits.lastMs, misses.lastMs, writes.lastMs),
    /** What is at the source comes no more. */
    abandon() {
      for (const fill of source.end()) kind.lose(fill, 'unsettled', '')
    },
  }
}
