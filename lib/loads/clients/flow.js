// N clients with up to P operations in flight each: in a closed loop, or at an open rate whose latencies begin when an
// operation was due. A client has a connection to every node, as an application's pool has.
import { deferred, settledWithin } from '../../base/timers.js'
import { asValues, counting, intoSinks } from '../../transport/lane.js'
import { reconnectsOf } from '../../transport/reconnects.js'
import { routerOf } from '../../transport/router.js'
import { duesOf } from '../dues.js'
import { clientOperationsOf } from './operation.js'

/**
 * @import { Machine } from '../../base/timers.js'
 * @import { Operations } from '../../probes/operations.js'
 * @import { Lane } from '../../transport/lane.js'
 * @import { Kind, Router } from '../../transport/router.js'
 * @import { DriverTarget } from '../../transport/socket-writer.js'
 * @import { Tally } from '../../wire/decode.js'
 * @import { ClientCommand } from '../../workloads/bind/client.js'
 * @import { multiStepsOf } from '../../workloads/bind/multi-step.js'
 * @import { Durable } from '../../transport/durable.js'
 * @import { ReadTarget } from '../../transport/read-driver.js'
 * @import { Reads } from '../../transport/slot-map.js'
 * @import { Stale } from '../../probes/stale.js'
 * @import { Operation } from './operation.js'
 *
 * @typedef {object} Played an operation that the clients play
 * @property {ClientCommand} command
 * @property {boolean} repeatable a command whose reply was lost may be retried
 * @property {boolean} reads it changes nothing
 * @property {((n: number) => number) | null} [compared] as its command says
 * @property {Pick<ReturnType<typeof multiStepsOf>, 'begin'>} [multiStep] of one whose replies are read
 * @property {boolean} [isSequence] whose commands do not depend on replies
 * @property {readonly string[]} [fatal] refusals that are outcomes
 *
 * @typedef {object} ClientsPlan
 * @property {number} clients
 * @property {number} pipeline operations in flight of each
 * @property {boolean} cluster
 * @property {number} maxBehindMs
 * @property {readonly string[]} [waitsFor] causes of refusals that an operation waits for, at most so long
 * @property {Reads} [readFrom]
 * @property {number | null} [reconnectHz] connections a second that are closed and opened anew
 * @property {number | null} [timeoutMs] after which a reply is no longer waited for
 *
 * @typedef {{ due: (i: number, elapsedMs: number) => number, isOver: (i: number) => boolean, isLeft?: (elapsedMs: number) => boolean } | null}
 *   Schedule when operation i is due, in milliseconds after the start, whether it is due after the end, and whether the
 *   time for the one that was asked for last is over; null: a closed loop
 *
 * @typedef {object} ClientsNeeds
 * @property {ClientsPlan} plan
 * @property {readonly Played[]} operations
 * @property {() => number} pick which of them is next
 * @property {(atMs: number, client: number) => number} draw what the next one of a client is about, at a time after the
 *   start; -1: there is none any more
 * @property {Schedule} schedule
 * @property {Pick<DriverTarget, 'topology' | 'dial' | 'refresh' | 'follows'> & Partial<Pick<ReadTarget, 'nodes' | 'tripMs'>>} target
 * @property {Operations} ledger
 * @property {{ record: (dueMs: number, sentMs: number, nowMs: number, operations: number) => void }} latency
 * @property {(operation: Operation, client: number) => void} [onBegun] a multi-step operation is about to be sent
 * @property {(operation: Operation, nowMs: number) => void} [onDone] a multi-step operation is over
 * @property {(tookMs: number) => void} [onRenewed] a connection was opened anew
 * @property {(behindMs: number, nowMs: number) => void} onSent how late the first byte was, at an open rate
 * @property {Tally} tally
 * @property {Durable | null} [durable] what writes wait for
 * @property {Stale | null} [stale] compares what is read with what was acknowledged
 * @property {(needs: FlowNeeds, routing: () => Router<any>) => Making} [making] what operations are, where they are not commands and
 *   their replies
 * @property {(clockMs: number) => number} [epochOf] epoch milliseconds by the servers, for operations that carry when they were due
 * @property {(cause: string) => void} [onRefused]
 * @property {(n: number) => void} [onAcked] what an acknowledged operation was about
 * @property {Machine} machine
 * @property {(kind: string, text: string) => void} onEvent
 *
 * @typedef {object} ClientState of each client, by its number
 * @property {number} inFlight operations
 * @property {number} pausedUntilMs
 *
 * @typedef {Pick<ReturnType<typeof clientOperationsOf>, 'lastSettledMs'> & { kind: Kind<any>, abandon?: () => void,
 *   first: (client: number, kind: number, n: number, dueMs: number, measured: boolean) => any }} Making
 * @typedef {ClientsNeeds & { clients: ClientState[] }} FlowNeeds
 */

// When clients begin operations: as soon as there is room in a closed loop, or when they are due at an open rate.

/** The next client with room, counted from `from`; -1: none. @param {FlowNeeds} needs @param {number} from @param {number} nowMs */
const roomIn = ({ clients, plan: { pipeline } }, from, nowMs) => {
  for (let k = 0; k < clients.length; k++) {
    const one = (from + k) % clients.length
    if (clients[one].inFlight < pipeline && clients[one].pausedUntilMs <= nowMs) return one
  }
  return -1
}

/** Time since the start, which is the first play or a moment that boxes have in common, and what is due in it. @param {FlowNeeds} needs */
const timeOf = ({ schedule, plan, machine: { clock } }) => {
  let startMs = 0
  const dues = schedule && duesOf(schedule, plan.maxBehindMs, () => startMs)
  return {
    dues,
    startMs: () => startMs,
    elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
    sinceStart: (/** @type {number} */ atMs) => atMs - startMs,
    begin() {
      if (startMs === 0) startMs = clock()
    },
    /** What was due before a late box came, none plays. @param {number} atMs @param {boolean} isLate */
    beginAt(atMs, isLate) {
      startMs = atMs
      if (isLate) dues?.skipTo(clock())
    },
  }
}

/** Whether what begins at a moment is measured: clients that are looked after in one go ask once. @param {Operations} ledger */
const measuredAt = (ledger) => {
  let lastMs = 0
  let is = false
  return (/** @type {number} */ nowMs) => {
    if (nowMs !== lastMs) is = ledger.isMeasured()
    lastMs = nowMs
    return is
  }
}

/**
 * @param {FlowNeeds} needs
 * @param {Making['first']} first
 * @param {Pick<Router<Operation>, 'begin' | 'outbox'>} router
 * @param {{ start: () => void, stop: () => void }} renewing connections are closed and made anew
 */
const offeringOf = (needs, first, router, renewing) => {
  const { plan, clients, schedule, ledger, onSent } = needs
  const { clock, timers } = needs.machine
  let { draw, pick } = needs
  const time = timeOf(needs)
  const { dues, startMs } = time
  const isMeasured = measuredAt(ledger)
  let running = false
  let nextClient = 0 // the next client at an open rate
  let all = deferred() // resolves when everything was offered
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const close = () => {
    running = false
    renewing.stop()
    timers.clearTimeout(timer)
  }
  const stop = () => {
    close()
    all.finish()
  }

  /** Fills one client in a closed loop. @param {number} client @param {number} nowMs */
  const fill = (client, nowMs) => {
    if (clients[client].pausedUntilMs > nowMs) return
    const measured = isMeasured(nowMs)
    let count = 0
    for (const room = plan.pipeline - clients[client].inFlight; count < room; count++) {
      const n = draw(nowMs - startMs(), client)
      if (n < 0) {
        stop()
        break
      }
      clients[client].inFlight++
      router.begin(first(client, pick(), n, nowMs, measured), nowMs)
    }
    ledger.offered(count, measured)
  }

  /** At an open rate; false: there is nothing any more to draw. @param {number} client @param {number} dueMs @param {number} nowMs @param {boolean} measured */
  const begin = (client, dueMs, nowMs, measured) => {
    nextClient = (client + 1) % plan.clients
    const n = draw(dueMs - startMs(), client)
    if (n < 0) return false
    onSent(nowMs - dueMs, nowMs)
    clients[client].inFlight++
    router.begin(first(client, pick(), n, dueMs, measured), nowMs)
    return true
  }

  /** What is due at an open rate, each to a client that has room. @param {number} nowMs */
  const due = (nowMs) => {
    if (!dues) return
    for (let dueMs = dues.nextMs(nowMs); dueMs <= nowMs; dueMs = dues.nextMs(nowMs)) {
      const measured = isMeasured(nowMs)
      const client = roomIn(needs, nextClient, nowMs)
      const isDropped = dues.isDropped(dueMs, nowMs, client >= 0)
      if (client < 0 && !isDropped) return
      dues.take()
      if (isDropped) ledger.lost('dropped', '', measured)
      else if (!begin(client, dueMs, nowMs, measured)) return stop()
      ledger.offered(1, measured)
    }
    if (dues.isOver()) stop()
  }
  const tick = () => {
    if (!running) return
    const nowMs = clock()
    due(nowMs)
    router.outbox.end()
    timer = timers.setTimeout(tick, dues?.waitMs(clock()) ?? 1)
  }

  return {
    ...time,
    offered: all.over,
    stop,
    /** Stops offering without resolving `offered`. */
    close,
    /** Call when a client may have room. @param {number} client @param {number} nowMs */
    more(client, nowMs) {
      if (!running) return
      if (schedule) due(nowMs)
      else fill(client, nowMs)
    },
    play() {
      time.begin()
      running = true
      renewing.start()
      if (schedule) tick()
    },
    /** Sets what the next play offers; resolves when all of it was offered. @param {(client: number) => number} nextDraw @param {() => number} nextPick */
    anew(nextDraw, nextPick) {
      draw = nextDraw
      pick = nextPick
      all = deferred()
      return all.over
    },
  }
}

const mostCheckMs = 50

/** When the oldest operation in flight whose replies are read was sent; Infinity: none is. @param {Lane<Operation>} lane */
const sentMsOf = (lane) =>
  lane.inFlight().find(({ isOver, multiStep }) => multiStep && !isOver)?.sentMs ?? Number.POSITIVE_INFINITY

/** Gives up replies that do not arrive in time. @param {Router<Operation>} router @param {Machine} machine */
const answerLimit = (router, { clock, timers }) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const giveUpLate = (/** @type {number} */ limitMs) => {
    const beforeMs = clock() - limitMs
    for (const lane of router.lanes()) if (sentMsOf(lane) < beforeMs) lane.giveUp('TIMEOUT')
    timer = timers.setTimeout(giveUpLate, Math.min(mostCheckMs, limitMs), limitMs)
  }
  return { begin: giveUpLate, end: () => timers.clearTimeout(timer) }
}

/** Needs with the state of each client. @param {ClientsNeeds} asked @returns {FlowNeeds} */
const needsOf = (asked) => ({
  ...asked,
  clients: Array.from({ length: asked.plan.clients }, () => ({ inFlight: 0, pausedUntilMs: 0 })),
})

/** Whether more is wanted of replies than their number. @param {ClientsNeeds} needs */
const isRead = ({ operations, durable, stale }) =>
  Boolean(durable || stale || operations.some(({ multiStep }) => multiStep))

/** @param {ClientsNeeds} asked */
export const clientsFlow = async (asked) => {
  const needs = needsOf(asked)
  const { plan, clients, operations: played, machine } = needs
  const { clock, timers } = machine
  const { reconnectHz = null, timeoutMs = null } = plan
  // It may wait minutes for those of others.
  const isLong = played.some(({ multiStep, isSequence }) => multiStep && !isSequence)
  const operations = /** @type {Making} */ ((asked.making ?? clientOperationsOf)(needs, () => router))
  /** @type {Router<Operation>} */
  const router = routerOf({
    ...needs,
    clients: plan.clients,
    maxBehindMs: plan.maxBehindMs,
    waitsFor: plan.waitsFor,
    readFrom: plan.readFrom,
    kind: operations.kind,
    decoder: asked.making ? intoSinks : isRead(needs) ? asValues('utf8') : counting(needs.tally),
    listens: !isLong,
    onRoom: (client, nowMs) => offering.more(client, nowMs),
  })
  const reconnects = reconnectsOf({ hz: reconnectHz, renew: router.renew, clock, timers })
  const offering = offeringOf(needs, operations.first, router, reconnects)
  const limit = answerLimit(router, machine)
  let closed = false

  const play = () => {
    offering.play()
    if (!needs.schedule) for (let client = 0; client < plan.clients; client++) router.lookNow(client)
  }
  await router.open()

  return {
    offered: offering.offered,
    elapsed: offering.elapsed,
    beginAt: offering.beginAt,
    lastSettledMs: () => offering.sinceStart(operations.lastSettledMs()),
    start() {
      if (timeoutMs !== null) limit.begin(timeoutMs)
      play()
    },
    /** Plays again over the same connections; resolves when everything was offered. @param {(client: number) => number} nextDraw @param {() => number} nextPick */
    again(nextDraw, nextPick) {
      const done = offering.anew(nextDraw, nextPick)
      play()
      return done
    },
    stop: offering.stop,
    /** Call once a second: retries, silent connections, and events. */
    watch() {
      if (closed) return
      router.watch()
      if (needs.schedule) router.lookNow(0)
    },
    /** @param {number} limitMs @param {AbortSignal} atOnce */
    settle: (limitMs, atOnce) =>
      settledWithin(limitMs, () => clients.some(({ inFlight }) => inFlight > 0), { clock, atOnce, timers }),
    /** The run has ended: operations without an outcome are unsettled. */
    abandon() {
      operations.abandon?.()
      router.abandon()
    },
    close() {
      closed = true
      offering.close()
      limit.end()
      router.close()
    },
    /** When the oldest multi-step operation in flight was sent. */
    oldestMs: () => router.lanes().reduce((oldest, lane) => Math.min(oldest, sentMsOf(lane)), clock()),
    waitingBytes: router.waitingBytes,
    connections: () => router.lanes().length,
    reconnects: reconnects.counts,
  }
}
