// Sends the operations of clients, each over the connection to the node that owns its slot now.
import { askingBytes, commandBytes, noValues } from '../../wire/encode.js'
import { askingCommand } from './connection.js'

/**
 * @import { TickValues } from '../../wire/encode.js'
 * @import { ClientCommand } from '../../workloads/bind/client.js'
 * @import { ClientConnection, Exchange, Operation } from './connection.js'
 * @import { Outcomes } from './outcomes.js'
 * @import { Retries, Retry } from './retries.js'
 * @import { FlowNeeds } from './flow.js'
 *
 * @typedef {ReturnType<typeof sendingOf>} Sending
 */

const writeBytes = 65_536

/**
 * Bytes of operations on their way to the sockets: one write for each connection and call, in one shared buffer.
 * @param {number} most bytes that one operation takes
 */
const writesOf = (most) => {
  const size = Math.max(writeBytes, 2 * most)
  let bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  let from = 0
  /** @type {ClientConnection | null} */
  let to = null

  const flush = () => {
    if (to && at > from && !to.write(bytes.subarray(from, at))) {
      // The socket keeps these bytes.
      bytes = Buffer.allocUnsafeSlow(size)
      at = 0
    }
    from = at
    to = null
  }

  return {
    /** @param {ClientConnection} connection @param {ClientCommand} command @param {number} n @param {TickValues} values */
    put(connection, command, n, values) {
      if (to !== connection || at + most > size) {
        flush()
        if (at + most > size) at = from = 0
        to = connection
      }
      at = command.put(n, bytes, at, values)
    },
    /** Adds bytes that belong to no operation. @param {ClientConnection} connection @param {Buffer} text */
    plain(connection, text) {
      flush()
      connection.write(text)
    },
    end() {
      flush()
      at = from = 0
    },
  }
}

/**
 * @param {object} flow
 * @param {FlowNeeds} flow.needs
 * @param {Outcomes} flow.outcomes
 * @param {Retries} flow.retries
 * @param {(client: number, address: string) => ClientConnection} flow.connectionOf
 */
export const sendingOf = ({ needs, outcomes: { lose }, retries: { map, retry }, connectionOf }) => {
  const { plan, clients, operations, ledger, onBegun, epochOf } = needs
  const writes = writesOf(Math.max(...operations.map(({ command }) => command.most)))

  const own = { ...noValues }
  /** @param {number} kind @param {number} dueMs */
  const valuesOf = (kind, dueMs) => {
    if (epochOf === undefined || !operations[kind].command.timed) return noValues
    own.due = String(Math.round(epochOf(dueMs) * 1000))
    return own
  }
  /** @param {number} client @param {number} kind @param {number} n */
  const carrier = (client, kind, n) =>
    connectionOf(client, map.ownerOf(plan.cluster ? operations[kind].command.slotOf(n) : 0))

  /** Sends the next commands of a multi-step operation. @param {ClientConnection} connection @param {Exchange} exchange @param {number} nowMs */
  const say = (connection, exchange, nowMs) => {
    const commands = exchange.multiStep.next()
    if (commands === null) return false
    for (const { heeded } of commands) connection.pushCommand(exchange, heeded, nowMs)
    writes.plain(connection, commandBytes(commands.map(({ args }) => args)))
    ledger.commands.sent += commands.length
    return true
  }

  /** @param {ClientConnection} connection @param {Operation} operation @param {number} nowMs */
  const send = (connection, { kind, n, dueMs, measured, attempts, firstMs: sentMs }, nowMs) => {
    const { multiStep, command } = operations[kind]
    const firstMs = sentMs || nowMs
    if (multiStep) {
      const begun = multiStep.begin(n, connection.client)
      const operation = { kind, n, dueMs, measured, attempts, firstMs }
      const exchange = { ...operation, sentMs: nowMs, multiStep: begun, isOver: false }
      onBegun?.(exchange, connection.client)
      say(connection, exchange, nowMs)
      return
    }
    connection.push(kind, n, dueMs, nowMs, measured, attempts, firstMs)
    writes.put(connection, command, n, valuesOf(kind, dueMs))
    ledger.commands.sent++
  }

  /** Retries one operation; false: it has no connection. @param {Retry} one @param {number} client @param {number} nowMs */
  const retried = ({ operation, address }, client, nowMs) => {
    const { kind, n } = operation
    const connection = address ? connectionOf(client, address) : carrier(client, kind, n)
    if (!connection.isUp()) return false
    if (address) {
      connection.push(askingCommand, 0, 0, nowMs, false, 0, 0)
      writes.plain(connection, askingBytes)
    }
    send(connection, operation, nowMs)
    return true
  }

  return {
    end: writes.end,
    say,
    /** Operations that were refused or lost go first. @param {number} client @param {number} nowMs */
    resend(client, nowMs) {
      const state = clients[client]
      const list = state.waiting
      if (list.length === 0) return
      state.waiting = []
      for (const one of list) {
        if (one.notBeforeMs > nowMs) state.waiting.push(one)
        else if (!retried(one, client, nowMs)) {
          if (nowMs - one.operation.dueMs > plan.maxBehindMs) lose(client, one.operation, 'dropped', '')
          else state.waiting.push(one)
        }
      }
    },
    /** @param {number} client @param {Operation} operation @param {number} nowMs */
    begin(client, operation, nowMs) {
      const connection = carrier(client, operation.kind, operation.n)
      clients[client].inFlight++
      // Its node is away: the operation waits for the connection.
      if (connection.isUp()) send(connection, operation, nowMs)
      else retry(client, operation)
    },
  }
}
