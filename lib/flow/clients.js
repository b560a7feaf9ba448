// N clients with up to P operations in flight each: in a closed loop, or at an open rate whose latencies begin when an
// operation was due. A client has a connection to every node, as an application's pool has.
import { systemTimers } from '../base/timers.js'
import { TargetError } from '../errors.js'
import { refresherOf } from '../transport/refresher.js'
import { silenceOf } from '../transport/silence.js'
import { slotMapOf } from '../transport/slot-map.js'
import { storyOf } from '../transport/story.js'
import { verdictOf } from '../transport/verdict.js'
import { outBuffer } from '../workloads/stencil.js'
import { asking, clientConnection } from './client-connection.js'

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
 * @typedef {object} ClientsNeeds
 * @property {ClientsPlan} plan
 * @property {readonly Played[]} operations
 * @property {() => number} pick which of them is next
 * @property {() => number} draw what the next one is about; -1: there is none any more
 * @property {{ due: (i: number) => number, limit: number } | null} schedule when operation i is due, in milliseconds after the
 *   start; null: a closed loop
 * @property {Pick<import('../transport/socket.js').DriverTarget, 'topology' | 'dial' | 'refresh'>} target
 * @property {import('../measure/operations.js').Operations} ledger
 * @property {{ record: (dueMs: number, sentMs: number, nowMs: number, operations: number) => void }} latency
 * @property {(behindMs: number) => void} onSent how late the first byte was, at an open rate
 * @property {import('../wire/decode.js').Tally} tally
 * @property {() => number} clock
 * @property {() => number} random
 * @property {import('../base/timers.js').Timers} [timers]
 * @property {(kind: string, text: string) => void} onEvent
 */

const reconnectMs = [50, 100, 200, 500, 1000]
const laterMs = 40
const maxAttempts = 8
const writeBytes = 65_536

/** @param {ClientsNeeds} needs */
export const clientsFlow = async (needs) => {
  const {
    plan,
    operations,
    pick,
    draw,
    schedule,
    target,
    ledger,
    latency,
    onSent,
    tally,
    clock,
    random,
    timers = systemTimers,
    onEvent,
  } = needs
  const map = slotMapOf(target.topology)
  const story = storyOf({ onEvent, clock })
  const most = Math.max(...operations.map(({ stencil }) => stencil.most))
  const shared = outBuffer(Math.max(writeBytes, 2 * most))
  /** @type {Map<string, ClientConnection>[]} by client, by address */
  const pools = Array.from({ length: plan.clients }, () => new Map())
  const inFlight = new Uint32Array(plan.clients)
  /** @type {{ operation: Operation, address: string | null, asking: boolean, notBeforeMs: number }[][]} by client: they go first */
  const retries = Array.from({ length: plan.clients }, () => [])
  let waiting = 0
  let startMs = 0
  let running = false
  let closed = false
  let next = 0 // of a schedule
  let turn = 0 // whose client it is at an open rate
  let lastSettledMs = 0
  /** @type {() => void} */
  let finish = () => {}
  const offered = new Promise((resolve) => {
    finish = () => resolve(undefined)
  })
  /** @type {NodeJS.Timeout | undefined} */
  let timer

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

  /** @param {number} client @param {string} address */
  const connectionOf = (client, address) => {
    const pool = pools[client]
    const known = pool.get(address)
    if (known) return known
    const connection = clientConnection({
      client,
      address,
      room: plan.pipeline,
      tally,
      open: (events) => target.dial(address, events),
      events: { onAnswered, onRefused, onRead, onClosed },
      clock,
    })
    pool.set(address, connection)
    if (startMs > 0) reconnect(connection, 0)
    return connection
  }

  /** @param {ClientConnection} connection @param {number} attempt */
  const reconnect = (connection, attempt) => {
    if (closed || connection.isUp()) return
    connection.connect().then(
      () => {
        if (closed) return
        story.up(connection.address)
        more(connection.client)
      },
      (error) => {
        story.down(connection.address, error instanceof Error ? error.message : String(error))
        refresher.request()
        const waitMs = reconnectMs[Math.min(attempt, reconnectMs.length - 1)] * (0.5 + random())
        timers.setTimeout(() => {
          const isOwner = map.addresses().includes(connection.address)
          if (isOwner) reconnect(connection, attempt + 1)
          else {
            pools[connection.client].delete(connection.address)
            more(connection.client)
          }
        }, waitMs)
      },
    )
  }

  /** @param {ClientConnection} connection @param {number} from @param {number} count */
  function onAnswered(connection, from, count) {
    const nowMs = clock()
    const { mask, dueMs, sentMs, measured, client } = connection
    let inWindow = 0
    for (let i = 0; i < count; ) {
      const at = (from + i) & mask
      const isIn = measured[at]
      let run = 1
      // Sent and due at the same moment: one record for all of them.
      while (i + run < count) {
        const other = (from + i + run) & mask
        if (sentMs[other] !== sentMs[at] || dueMs[other] !== dueMs[at] || measured[other] !== isIn) break
        run++
      }
      if (isIn) {
        latency.record(dueMs[at], sentMs[at], nowMs, run)
        inWindow += run
      }
      i += run
    }
    ledger.acked(count, inWindow)
    inFlight[client] -= count
    lastSettledMs = nowMs
  }

  /** @param {number} client @param {Operation} operation @param {import('../measure/ledger.js').Loss} outcome @param {string} cause */
  const lose = (client, { measured }, outcome, cause) => {
    ledger.lost(outcome, cause, measured)
    inFlight[client]--
    lastSettledMs = clock()
  }

  /** @param {number} client @param {Operation} operation @param {string | null} address @param {boolean} isAsking @param {number} [waitMs] */
  const retry = (client, operation, address, isAsking, waitMs = 0) => {
    retries[client].push({
      operation,
      address,
      asking: isAsking,
      notBeforeMs: waitMs > 0 ? clock() + waitMs : 0,
    })
    waiting++
    if (waitMs > 0) timers.setTimeout(more, waitMs + 1, client)
  }

  /** @param {ClientConnection} connection @param {number} place @param {string} line */
  function onRefused(connection, place, line) {
    const { client } = connection
    const operation = connection.operationAt(place)
    operation.attempts++
    ledger.commands.refused++
    const { action, cause, slot, address } = verdictOf(line, connection.address)
    const isLate = clock() - operation.dueMs > plan.maxBehindMs && operation.attempts > maxAttempts
    if (action === 'give-up' || action === 'load' || isLate) return lose(client, operation, 'failed', cause)
    ledger.retried(cause)
    story.refused(cause)
    // An address that the map does not know is not followed: first the cluster must confirm it.
    const isKnown = address !== undefined && map.addresses().includes(address)
    if (action === 'there' && isKnown && slot !== undefined && address !== undefined) {
      const was = map.ownerOf(slot)
      if (was !== address) {
        map.move(slot, address)
        story.moved(was, address, 1)
      }
      return retry(client, operation, null, false)
    }
    if (action === 'asking' && isKnown) return retry(client, operation, address ?? null, true)
    refresher.request()
    retry(
      client,
      operation,
      null,
      false,
      laterMs * 2 ** Math.min(4, operation.attempts - 1) * (0.5 + random()),
    )
  }

  /** @param {ClientConnection} connection */
  function onRead(connection) {
    more(connection.client)
  }

  /** @param {ClientConnection} connection @param {Error} [error] */
  function onClosed(connection, error) {
    const { client, address } = connection
    for (const operation of connection.drain()) {
      if (!operations[operation.kind].repeatable) lose(client, operation, 'uncertain', 'CLOSED')
      else {
        operation.attempts++
        ledger.retried('CLOSED')
        retry(client, operation, null, false)
      }
    }
    if (closed) return
    story.down(address, error?.message ?? 'closed the connection')
    refresher.request()
    reconnect(connection, 0)
    if (running || waiting > 0) timers.setImmediate(() => more(client))
  }

  /** The connection that carries an operation now; null: it is not there yet. @param {number} client @param {number} kind @param {number} n */
  const carrier = (client, kind, n) => {
    const address = map.ownerOf(plan.cluster ? operations[kind].stencil.slotOf(n) : 0)
    const connection = connectionOf(client, address)
    return connection.isUp() ? connection : null
  }

  // What one call of `more` has put into the buffer: runs of commands of one connection.
  let at = 0
  let from = 0
  let lot = /** @type {ClientConnection | null} */ (null)
  const flush = () => {
    if (lot && at > from && !lot.write(shared.bytes.subarray(from, at))) {
      // The socket keeps these bytes.
      shared.renew()
      at = 0
    }
    from = at
    lot = null
  }
  /** @param {ClientConnection} connection @param {number} kind @param {number} n */
  const put = (connection, kind, n) => {
    if (lot !== connection || at + most > shared.bytes.length) {
      flush()
      if (at + most > shared.bytes.length) at = from = 0
      lot = connection
    }
    at = operations[kind].stencil.put(n, shared, at)
    ledger.commands.sent++
  }
  const endOfWrites = () => {
    flush()
    at = from = 0
  }

  const askingBytes = Buffer.from('*1\r\n$6\r\nASKING\r\n')
  /** Those that were refused or lost go first. @param {number} client @param {number} nowMs */
  const resend = (client, nowMs) => {
    const list = retries[client]
    if (list.length === 0) return
    retries[client] = []
    waiting -= list.length
    for (const one of list) {
      const { operation } = one
      if (one.notBeforeMs > nowMs) {
        retries[client].push(one)
        waiting++
        continue
      }
      const connection = one.address
        ? connectionOf(client, one.address)
        : carrier(client, operation.kind, operation.n)
      if (!connection?.isUp()) {
        if (nowMs - operation.dueMs > plan.maxBehindMs) lose(client, operation, 'dropped', '')
        else retry(client, operation, one.address, one.asking)
        continue
      }
      if (one.asking) {
        flush()
        connection.push(asking, 0, 0, nowMs, false, 0)
        connection.write(askingBytes)
      }
      connection.push(
        operation.kind,
        operation.n,
        operation.dueMs,
        nowMs,
        operation.measured,
        operation.attempts,
      )
      put(connection, operation.kind, operation.n)
    }
  }

  /** An operation whose node is away: it waits for its connection. @param {number} client @param {number} kind @param {number} n @param {number} dueMs @param {boolean} measured */
  const hold = (client, kind, n, dueMs, measured) =>
    retry(client, { kind, n, dueMs, measured, attempts: 0 }, null, false)

  /** @param {number} client @param {number} dueMs @param {number} nowMs @param {number} n */
  const begin = (client, dueMs, nowMs, n) => {
    const kind = pick()
    const measured = ledger.begin()
    inFlight[client]++
    const connection = carrier(client, kind, n)
    if (!connection) return hold(client, kind, n, dueMs, measured)
    connection.push(kind, n, dueMs, nowMs, measured, 0)
    put(connection, kind, n)
  }

  /** Fills one client in a closed loop; at an open rate what is due goes to whoever has room. @param {number} client */
  function more(client) {
    if (closed) return
    const nowMs = clock()
    resend(client, nowMs)
    if (running && !schedule) {
      while (inFlight[client] < plan.pipeline) {
        const n = draw()
        if (n < 0) {
          stop()
          break
        }
        begin(client, nowMs, nowMs, n)
      }
    } else if (running) due(nowMs)
    endOfWrites()
  }

  /** What is due at an open rate. @param {number} nowMs */
  function due(nowMs) {
    if (!schedule) return
    while (next < schedule.limit) {
      const dueMs = startMs + schedule.due(next)
      if (dueMs > nowMs) break
      if (nowMs - dueMs > plan.maxBehindMs) {
        const measured = ledger.begin()
        ledger.lost('dropped', '', measured)
        next++
        continue
      }
      let client = -1
      for (let k = 0; k < plan.clients; k++) {
        const one = (turn + k) % plan.clients
        if (inFlight[one] < plan.pipeline) {
          client = one
          break
        }
      }
      if (client < 0) return
      turn = (client + 1) % plan.clients
      const n = draw()
      if (n < 0) return stop()
      onSent(nowMs - dueMs)
      begin(client, dueMs, nowMs, n)
      next++
    }
    if (next >= schedule.limit) stop()
  }

  const tick = () => {
    if (!running) return
    const nowMs = clock()
    due(nowMs)
    endOfWrites()
    const dueMs = schedule && next < schedule.limit ? startMs + schedule.due(next) : nowMs
    timer = timers.setTimeout(tick, Math.max(1, dueMs - clock()))
  }

  const stop = () => {
    running = false
    timers.clearTimeout(timer)
    finish()
  }

  const listen = silenceOf({ dial: target.dial, onEvent, timers })
  const allConnections = () => pools.flatMap((pool) => [...pool.values()])

  const connectAll = async () => {
    for (let client = 0; client < plan.clients; client++)
      for (const address of map.addresses()) connectionOf(client, address)
    const list = allConnections()
    // Not more at once than a server's backlog holds.
    for (let i = 0; i < list.length; i += 100)
      await Promise.all(list.slice(i, i + 100).map((connection) => connection.connect()))
  }

  story.topology(target.topology)
  try {
    await connectAll()
  } catch (error) {
    closed = true
    refresher.close()
    for (const connection of allConnections()) connection.close()
    throw error instanceof TargetError ? error : new TargetError(String(error), { cause: error })
  }

  return {
    offered,
    elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
    lastSettledMs: () => lastSettledMs - startMs,
    start() {
      startMs = clock()
      running = true
      if (schedule) tick()
      else for (let client = 0; client < plan.clients; client++) more(client)
    },
    stop,
    /** Once a second: silent connections, the age of the map, and what happened. */
    watch() {
      if (closed) return
      listen(allConnections)
      const nowMs = clock()
      for (let client = 0; client < plan.clients; client++) if (retries[client].length > 0) more(client)
      if (schedule && running) due(nowMs)
      endOfWrites()
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
      for (const connection of allConnections())
        for (const operation of connection.drain()) lose(connection.client, operation, 'unsettled', '')
      for (const [client, list] of retries.entries())
        for (const { operation } of list) lose(client, operation, 'unsettled', '')
    },
    close() {
      closed = true
      timers.clearTimeout(timer)
      refresher.close()
      for (const connection of allConnections()) connection.close()
    },
    waitingBytes: () => allConnections().reduce((sum, connection) => sum + connection.waitingBytes(), 0),
    connections: () => allConnections().length,
  }
}
