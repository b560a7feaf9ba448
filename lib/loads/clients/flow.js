// N clients with up to P operations in flight each: in a closed loop, or at an open rate whose latencies begin when an
// operation was due. A client has a connection to every node, as an application's pool has.
import { settledWithin, systemTimers } from '../../base/timers.js'
import { reconnectsOf } from '../../transport/reconnects.js'
import { offeringOf } from './offering.js'
import { outcomesOf } from './outcomes.js'
import { clientsPool } from './pool.js'
import { retriesOf } from './retries.js'
import { sendingOf } from './sending.js'

/**
 * @import { Timers } from '../../base/timers.js'
 * @import { Operations } from '../../measure/operations.js'
 * @import { DriverTarget } from '../../transport/socket.js'
 * @import { Tally } from '../../wire/decode.js'
 * @import { ClientCommand } from '../../workloads/bind/client.js'
 * @import { multiStepsOf } from '../../workloads/bind/multi-step.js'
 * @import { ClientConnection } from './connection.js'
 * @import { Retry } from './retries.js'
 *
 * @typedef {object} Played an operation that the clients play
 * @property {ClientCommand} command
 * @property {boolean} repeatable a command whose reply was lost may be retried
 * @property {ReturnType<typeof multiStepsOf>} [multiStep] of one whose replies are read
 * @property {readonly string[]} [fatal] refusals that are outcomes
 *
 * @import { Exchange } from './connection.js'
 *
 * @typedef {object} ClientsPlan
 * @property {number} clients
 * @property {number} pipeline operations in flight of each
 * @property {boolean} cluster
 * @property {number} maxBehindMs
 * @property {readonly string[]} [waitsFor] causes of refusals that an operation waits for, at most so long
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
 * @property {Pick<DriverTarget, 'topology' | 'dial' | 'refresh' | 'follows'>} target
 * @property {Operations} ledger
 * @property {{ record: (dueMs: number, sentMs: number, nowMs: number, operations: number) => void }} latency
 * @property {(exchange: Exchange, client: number) => void} [onBegun] a multi-step operation is about to be sent
 * @property {(exchange: Exchange, nowMs: number) => void} [onDone] a multi-step operation is over
 * @property {(tookMs: number) => void} [onRenewed] a connection was opened anew
 * @property {(behindMs: number) => void} onSent how late the first byte was, at an open rate
 * @property {Tally} tally
 * @property {(clockMs: number) => number} [epochOf] epoch milliseconds by the servers, for operations that carry when they were due
 * @property {(cause: string) => void} [onRefused]
 * @property {(n: number) => void} [onAcked] what an acknowledged operation was about
 * @property {() => number} clock
 * @property {() => number} random
 * @property {Timers} [timers]
 * @property {(kind: string, text: string) => void} onEvent
 *
 * @typedef {object} ClientState of each client, by its number
 * @property {number} inFlight operations
 * @property {number} pausedUntilMs
 * @property {Retry[]} waiting they go first
 *
 * @typedef {ClientsNeeds & { timers: Timers, clients: ClientState[] }} FlowNeeds
 */

const mostCheckMs = 50

/** Gives up replies that do not arrive in time. @param {ReturnType<typeof clientsPool>} pool @param {() => number} clock @param {Timers} timers */
const answerLimit = (pool, clock, timers) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const giveUpLate = (/** @type {number} */ limitMs) => {
    const beforeMs = clock() - limitMs
    for (const connection of pool.all()) if (connection.oldestMs() < beforeMs) connection.giveUp()
    timer = timers.setTimeout(giveUpLate, Math.min(mostCheckMs, limitMs), limitMs)
  }
  return { begin: giveUpLate, end: () => timers.clearTimeout(timer) }
}

/** Needs with the state of each client. @param {ClientsNeeds} asked @returns {FlowNeeds} */
const needsOf = (asked) => ({
  ...asked,
  timers: asked.timers ?? systemTimers,
  clients: Array.from({ length: asked.plan.clients }, () => ({ inFlight: 0, pausedUntilMs: 0, waiting: [] })),
})

/** @param {ClientsNeeds} asked */
export const clientsFlow = async (asked) => {
  const needs = needsOf(asked)
  const { plan, clients, operations, clock, timers } = needs
  const { reconnectHz = null, timeoutMs = null } = plan
  const reads = operations.some(({ multiStep }) => multiStep)
  const outcomes = outcomesOf(needs)
  const retries = retriesOf(needs, outcomes)
  const { topologyEvents, refresher } = retries
  let closed = false

  const later = (/** @type {number} */ client, /** @type {number} */ waitMs) =>
    timers.setTimeout(go, waitMs + 1, client)
  /** @type {Parameters<typeof clientsPool>[0]['events']} */
  const events = {
    onAnswered: outcomes.answered,
    onReply: (connection, exchange, value, nowMs) => {
      exchange.multiStep.take(value)
      if (!sending.say(connection, exchange, nowMs)) outcomes.over(connection, exchange, clock())
    },
    onRefused: (connection, place, line) => retries.refused(connection, place, line, later),
    onRead: ({ client }, nowMs) => more(client, nowMs),
  }
  const pool = clientsPool({ needs, retries, reads, events, onChanged: (client) => go(client) })
  const sending = sendingOf({ needs, outcomes, retries, connectionOf: pool.connectionAt })
  const reconnects = reconnectsOf({ hz: reconnectHz, renew: pool.renew, clock, timers })
  const offering = offeringOf(needs, sending, reconnects)

  const go = (/** @type {number} */ client) => more(client, clock())
  /** Operations that wait for a retry go first. @param {number} client @param {number} nowMs */
  function more(client, nowMs) {
    if (closed) return
    if (clients[client].waiting.length > 0) sending.resend(client, nowMs)
    offering.more(client, nowMs)
    sending.end()
  }
  const play = () => {
    offering.play()
    if (!needs.schedule) for (let client = 0; client < plan.clients; client++) go(client)
  }

  const limit = answerLimit(pool, clock, timers)
  await pool.open().catch((error) => {
    closed = true
    refresher.close()
    throw error
  })

  return {
    offered: offering.offered,
    elapsed: offering.elapsed,
    lastSettledMs: () => offering.sinceStart(outcomes.lastSettledMs()),
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
    /** Call once a second: retries, silent connections, the age of the map, and events. */
    watch() {
      if (closed) return
      // A multi-step operation may wait minutes for those of others.
      if (!reads) pool.watch()
      for (const [client, { waiting }] of clients.entries()) if (waiting.length > 0) go(client)
      if (needs.schedule) go(0)
      topologyEvents.tell()
    },
    /** @param {number} limitMs @param {AbortSignal} atOnce */
    settle: (limitMs, atOnce) =>
      settledWithin(limitMs, () => clients.some(({ inFlight }) => inFlight > 0), { clock, atOnce, timers }),
    /** The run has ended: operations without an outcome are unsettled. */
    abandon() {
      closed = true
      for (const connection of pool.all())
        for (const operation of connection.drain())
          outcomes.lose(connection.client, operation, 'unsettled', '')
      for (const [client, { waiting }] of clients.entries())
        for (const { operation } of waiting) outcomes.lose(client, operation, 'unsettled', '')
    },
    close() {
      closed = true
      offering.close()
      limit.end()
      refresher.close()
      pool.close()
    },
    /** When the oldest multi-step operation in flight was sent. */
    oldestMs: () =>
      pool.all().reduce((oldest, connection) => Math.min(oldest, connection.oldestMs()), clock()),
    waitingBytes: () => pool.all().reduce((sum, connection) => sum + connection.waitingBytes(), 0),
    connections: () => pool.all().length,
    reconnects: reconnects.counts,
  }
}
