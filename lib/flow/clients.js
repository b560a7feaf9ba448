// N clients with up to P operations in flight each: in a closed loop, or at an open rate whose latencies begin when an
// operation was due. A client has a connection to every node, as an application's pool has.
import { systemTimers } from '../base/timers.js'
import { policyOf } from '../transport/policy.js'
import { refresherOf } from '../transport/refresher.js'
import { slotMapOf } from '../transport/slot-map.js'
import { storyOf } from '../transport/story.js'
import { asking } from './client-connection.js'
import { clientsPool } from './clients-pool.js'
import { writesOf } from './clients-writes.js'

/**
 * @typedef {import('./client-connection.js').ClientConnection} ClientConnection
 * @typedef {import('./client-connection.js').Operation} Operation
 * @typedef {import('../workloads/stencil.js').Stencilled} Stencilled
 *
 * @typedef {object} Played an operation that the clients play
 * @property {Stencilled} stencil
 * @property {boolean} repeatable a command whose reply was lost may be retried
 *
 * @typedef {object} ClientsPlan
 * @property {number} clients
 * @property {number} pipeline operations in flight of each
 * @property {boolean} cluster
 * @property {number} maxBehindMs
 *
 * @typedef {{ due: (i: number) => number, limit: number } | null} Schedule when operation i is due, in milliseconds after
 *   the start; null: a closed loop
 *
 * @typedef {object} ClientsNeeds
 * @property {ClientsPlan} plan
 * @property {readonly Played[]} operations
 * @property {() => number} pick which of them is next
 * @property {(client: number) => number} draw what the next one of a client is about; -1: there is none any more
 * @property {Schedule} schedule
 * @property {Pick<import('../transport/socket.js').DriverTarget, 'topology' | 'dial' | 'refresh' | 'follows'>} target
 * @property {import('../measure/operations.js').Operations} ledger
 * @property {{ record: (dueMs: number, sentMs: number, nowMs: number, operations: number) => void }} latency
 * @property {(behindMs: number) => void} onSent how late the first byte was, at an open rate
 * @property {import('../wire/decode.js').Tally} tally
 * @property {() => number} clock
 * @property {() => number} random
 * @property {import('../base/timers.js').Timers} [timers]
 * @property {(kind: string, text: string) => void} onEvent
 *
 * @typedef {{ operation: Operation, address: string | null, isAsking: boolean, notBeforeMs: number }} Retry address: null is
 *   the owner of its slot
 */

const askingBytes = Buffer.from('*1\r\n$6\r\nASKING\r\n')

/** Operations in flight that get their outcome: by a reply, a refusal, or the loss of their connection. @param {ClientsNeeds} needs */
const settlementOf = (needs) => {
  const { plan, operations, target, ledger, latency, clock, random, timers, onEvent } = needs
  const map = slotMapOf(target.topology)
  const story = storyOf({ onEvent, clock })
  const inFlight = new Uint32Array(plan.clients)
  /** @type {Retry[][]} by client: they go first */
  const retries = Array.from({ length: plan.clients }, () => [])
  const policy = policyOf({ maxBehindMs: plan.maxBehindMs, clock, follows: target.follows })
  let lastSettledMs = 0
  const refresher = refresherOf({
    ask: target.refresh,
    learn: (topology) => {
      story.topology(topology)
      const left = map.replace(topology)
      if (left.size > 0) story.left(left, map.ownerOf)
    },
    clock,
    timers,
  })
  story.topology(target.topology)

  /** @param {number} client @param {Operation} operation @param {import('../measure/ledger.js').Loss} outcome @param {string} cause */
  const lose = (client, { measured }, outcome, cause) => {
    ledger.lost(outcome, cause, measured)
    inFlight[client]--
    lastSettledMs = clock()
  }
  /** @param {number} client @param {Operation} operation @param {string | null} [address] @param {boolean} [isAsking] @param {number} [waitMs] */
  const retry = (client, operation, address = null, isAsking = false, waitMs = 0) => {
    retries[client].push({ operation, address, isAsking, notBeforeMs: waitMs > 0 ? clock() + waitMs : 0 })
  }

  return {
    map,
    story,
    refresher,
    inFlight,
    retries,
    lose,
    retry,
    lastSettledMs: () => lastSettledMs,

    /** @param {ClientConnection} connection @param {number} from @param {number} count @param {number} nowMs */
    onAnswered(connection, from, count, nowMs) {
      const { mask, dueMs, sentMs, measured } = connection
      let inWindow = 0
      for (let i = 0; i < count; ) {
        const at = (from + i) & mask
        const isIn = measured[at]
        const sent = sentMs[at]
        const due = dueMs[at]
        let run = 1
        // Sent and due at the same moment: one record for all of them.
        for (; i + run < count; run++) {
          const other = (from + i + run) & mask
          if (sentMs[other] !== sent || dueMs[other] !== due || measured[other] !== isIn) break
        }
        if (isIn) {
          latency.record(due, sent, nowMs, run)
          inWindow += run
        }
        i += run
      }
      ledger.acked(count, inWindow)
      inFlight[connection.client] -= count
      lastSettledMs = nowMs
    },

    /** @param {ClientConnection} connection @param {number} place @param {string} line @param {(client: number, waitMs: number) => void} later */
    onRefused(connection, place, line, later) {
      const { client } = connection
      const operation = connection.operationAt(place)
      operation.attempts++
      ledger.commands.refused++
      const ruling = policy.refused(line, connection.address, operation.dueMs, operation.attempts)
      const { action, cause, slot, address, lost } = ruling
      if (lost || action === 'load') return lose(client, operation, 'failed', cause)
      ledger.retried(cause)
      story.refused(cause)
      // An address that the map does not know is not followed: first the cluster must confirm it.
      const isKnown = address !== null && map.addresses().includes(address)
      if (action === 'there' && isKnown && slot !== null) {
        const was = map.ownerOf(slot)
        if (was !== address) {
          map.move(slot, address)
          story.moved(was, address, 1)
        }
        return retry(client, operation)
      }
      if (action === 'asking' && isKnown) return retry(client, operation, address, true)
      refresher.request()
      const waitMs = policy.waitFor(operation.attempts) * (0.5 + random())
      retry(client, operation, null, false, waitMs)
      later(client, waitMs)
    },

    /** @param {ClientConnection} connection */
    onLost(connection) {
      for (const operation of connection.drain()) {
        if (!operations[operation.kind].repeatable) lose(connection.client, operation, 'uncertain', 'CLOSED')
        else {
          operation.attempts++
          ledger.retried('CLOSED')
          retry(connection.client, operation)
        }
      }
    },
  }
}

/** How operations go out: each to the connection that carries it now. @param {ClientsNeeds} needs @param {ReturnType<typeof settlementOf>} settlement @param {(client: number, address: string) => ClientConnection} connectionOf */
const sendingOf = ({ plan, operations, ledger }, settlement, connectionOf) => {
  const { map, inFlight, retries, lose, retry } = settlement
  const writes = writesOf(Math.max(...operations.map(({ stencil }) => stencil.most)))

  /** @param {number} client @param {number} kind @param {number} n */
  const carrier = (client, kind, n) =>
    connectionOf(client, map.ownerOf(plan.cluster ? operations[kind].stencil.slotOf(n) : 0))

  /** Retries one; false: its connection is not there. @param {Retry} one @param {number} client @param {number} nowMs */
  const retried = ({ operation, address, isAsking }, client, nowMs) => {
    const { kind, n, dueMs, measured, attempts } = operation
    const connection = address ? connectionOf(client, address) : carrier(client, kind, n)
    if (!connection.isUp()) return false
    if (isAsking) {
      connection.push(asking, 0, 0, nowMs, false, 0)
      writes.plain(connection, askingBytes)
    }
    connection.push(kind, n, dueMs, nowMs, measured, attempts)
    writes.put(connection, operations[kind].stencil, n)
    ledger.commands.sent++
    return true
  }

  return {
    end: writes.end,
    /** Those that were refused or lost go first. @param {number} client @param {number} nowMs */
    resend(client, nowMs) {
      const list = retries[client]
      if (list.length === 0) return
      retries[client] = []
      for (const one of list) {
        if (one.notBeforeMs > nowMs) retries[client].push(one)
        else if (!retried(one, client, nowMs)) {
          if (nowMs - one.operation.dueMs > plan.maxBehindMs) lose(client, one.operation, 'dropped', '')
          else retries[client].push(one)
        }
      }
    },
    /** @param {number} client @param {number} kind @param {number} n @param {number} dueMs @param {number} nowMs @param {boolean} measured */
    begin(client, kind, n, dueMs, nowMs, measured) {
      const connection = carrier(client, kind, n)
      inFlight[client]++
      // Its node is away: it waits for its connection.
      if (!connection.isUp()) return retry(client, { kind, n, dueMs, measured, attempts: 0 })
      connection.push(kind, n, dueMs, nowMs, measured, 0)
      writes.put(connection, operations[kind].stencil, n)
      ledger.commands.sent++
    },
  }
}

/** @param {ClientsNeeds} needs */
export const clientsFlow = async (needs) => {
  const {
    plan,
    schedule,
    target,
    ledger,
    onSent,
    tally,
    clock,
    random,
    timers = systemTimers,
    onEvent,
  } = needs
  const settlement = settlementOf(needs)
  const { map, story, refresher, inFlight, retries, lose } = settlement
  let { draw, pick } = needs
  let startMs = 0
  let running = false
  let closed = false
  let next = 0 // of a schedule
  let turn = 0 // whose client it is at an open rate
  /** @type {() => void} */
  let finish = () => {}
  const untilFinished = () =>
    new Promise((resolve) => {
      finish = () => resolve(undefined)
    })
  const offered = untilFinished()
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const pool = clientsPool({
    clients: plan.clients,
    room: plan.pipeline,
    target,
    addresses: map.addresses,
    events: {
      onAnswered: settlement.onAnswered,
      onRefused: (connection, place, line) =>
        settlement.onRefused(connection, place, line, (client, waitMs) =>
          timers.setTimeout(go, waitMs + 1, client),
        ),
      onRead: ({ client }, nowMs) => more(client, nowMs),
    },
    onLost: settlement.onLost,
    onChanged: (client) => go(client),
    onDown: () => refresher.request(),
    story,
    tally,
    clock,
    random,
    timers,
    onEvent,
  })
  const sending = sendingOf(needs, settlement, pool.of)

  const stop = () => {
    running = false
    timers.clearTimeout(timer)
    finish()
  }
  const go = (/** @type {number} */ client) => more(client, clock())

  /** Fills one client in a closed loop; at an open rate what is due goes to a client that has room. @param {number} client @param {number} nowMs */
  function more(client, nowMs) {
    if (closed) return
    if (retries[client].length > 0) sending.resend(client, nowMs)
    if (running && schedule) due(nowMs)
    else if (running) fill(client, nowMs)
    sending.end()
  }

  /** @param {number} client @param {number} nowMs */
  function fill(client, nowMs) {
    const measured = ledger.isMeasured()
    let count = 0
    for (const room = plan.pipeline - inFlight[client]; count < room; count++) {
      const n = draw(client)
      if (n < 0) {
        stop()
        break
      }
      sending.begin(client, pick(), n, nowMs, nowMs, measured)
    }
    ledger.offered(count, measured)
  }

  const withRoom = () => {
    for (let k = 0; k < plan.clients; k++) {
      const one = (turn + k) % plan.clients
      if (inFlight[one] < plan.pipeline) return one
    }
    return -1
  }

  /** What is due at an open rate. @param {number} nowMs */
  function due(nowMs) {
    if (!schedule) return
    for (; next < schedule.limit; next++) {
      const dueMs = startMs + schedule.due(next)
      if (dueMs > nowMs) break
      const measured = ledger.isMeasured()
      if (nowMs - dueMs > plan.maxBehindMs) {
        ledger.offered(1, measured)
        ledger.lost('dropped', '', measured)
        continue
      }
      const client = withRoom()
      if (client < 0) return
      turn = (client + 1) % plan.clients
      const n = draw(client)
      if (n < 0) return stop()
      onSent(nowMs - dueMs)
      sending.begin(client, pick(), n, dueMs, nowMs, measured)
      ledger.offered(1, measured)
    }
    if (next >= schedule.limit) stop()
  }

  const tick = () => {
    if (!running) return
    const nowMs = clock()
    due(nowMs)
    sending.end()
    const dueMs = schedule && next < schedule.limit ? startMs + schedule.due(next) : nowMs
    timer = timers.setTimeout(tick, Math.max(1, dueMs - clock()))
  }

  const play = () => {
    running = true
    if (schedule) tick()
    else for (let client = 0; client < plan.clients; client++) go(client)
  }

  await pool.open().catch((error) => {
    closed = true
    refresher.close()
    throw error
  })

  return {
    offered,
    elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
    lastSettledMs: () => settlement.lastSettledMs() - startMs,
    start() {
      startMs = clock()
      play()
    },
    /** Once more over the same connections: resolves when all is offered. @param {(client: number) => number} nextDraw @param {() => number} nextPick */
    again(nextDraw, nextPick) {
      draw = nextDraw
      pick = nextPick
      const done = untilFinished()
      play()
      return done
    },
    stop,
    /** Once a second: silent connections, the age of the map, and what happened. */
    watch() {
      if (closed) return
      pool.watch()
      for (let client = 0; client < plan.clients; client++) if (retries[client].length > 0) go(client)
      if (schedule && running) {
        due(clock())
        sending.end()
      }
      story.tell()
    },
    /** @param {number} limitMs @param {AbortSignal} atOnce */
    async settle(limitMs, atOnce) {
      const open = () => inFlight.some((count) => count > 0)
      for (const deadline = clock() + limitMs; open() && clock() < deadline && !atOnce.aborted; )
        await new Promise((resolve) => timers.setTimeout(resolve, 5, undefined))
      return !open()
    },
    /** What has no outcome yet is unsettled: the run has ended first. */
    abandon() {
      closed = true
      for (const connection of pool.all())
        for (const operation of connection.drain()) lose(connection.client, operation, 'unsettled', '')
      for (const [client, list] of retries.entries())
        for (const { operation } of list) lose(client, operation, 'unsettled', '')
    },
    close() {
      closed = true
      timers.clearTimeout(timer)
      refresher.close()
      pool.close()
    },
    waitingBytes: () => pool.all().reduce((sum, connection) => sum + connection.waitingBytes(), 0),
    connections: () => pool.all().length,
  }
}
