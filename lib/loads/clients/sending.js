// How the operations of clients go out: each over the connection to the node that owns its slot now.
import { askingBytes, commandBytes, noValues } from '../../wire/encode.js'
import { askingCommand } from './connection.js'

/**
 * @import { TickValues } from '../../wire/encode.js'
 * @import { ClientCommand } from '../../workloads/client-command.js'
 * @import { ClientConnection, Exchange, Operation } from './connection.js'
 * @import { Outcomes } from './outcomes.js'
 * @import { Retries, Retry } from './retries.js'
 * @import { ClientsNeeds } from './flow.js'
 *
 * @typedef {ReturnType<typeof sendingOf>} Sending
 */

const writeBytes = 65_536

/**
 * The bytes of operations on their way to the sockets: one write for each connection and call, in one buffer for all.
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
    /** Bytes that are no operation's. @param {ClientConnection} connection @param {Buffer} text */
    plain(connection, text) {
      flush()
      connection.write(text)
    },
    /** All of it is with the sockets. */
    end() {
      flush()
      at = from = 0
    },
  }
}

/**
 * @param {ClientsNeeds} needs
 * @param {Outcomes} outcomes
 * @param {Retries} retries
 * @param {(client: number, address: string) => ClientConnection} connectionOf
 */
export const sendingOf = (needs, { inFlight, lose }, { map, waiting, retry }, connectionOf) => {
  const { plan, operations, ledger, onBegun, epochOf } = needs
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

  /** The commands of a multi-step operation that go out now. @param {ClientConnection} connection @param {Exchange} exchange @param {number} nowMs */
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

  /** Retries one; false: its connection is not there. @param {Retry} one @param {number} client @param {number} nowMs */
  const retried = ({ operation, address, isAsking }, client, nowMs) => {
    const { kind, n } = operation
    const connection = address ? connectionOf(client, address) : carrier(client, kind, n)
    if (!connection.isUp()) return false
    if (isAsking) {
      connection.push(askingCommand, 0, 0, nowMs, false, 0, 0)
      writes.plain(connection, askingBytes)
    }
    send(connection, operation, nowMs)
    return true
  }

  return {
    end: writes.end,
    say,
    /** Those that were refused or lost go first. @param {number} client @param {number} nowMs */
    resend(client, nowMs) {
      const list = waiting[client]
      if (list.length === 0) return
      waiting[client] = []
      for (const one of list) {
        if (one.notBeforeMs > nowMs) waiting[client].push(one)
        else if (!retried(one, client, nowMs)) {
          if (nowMs - one.operation.dueMs > plan.maxBehindMs) lose(client, one.operation, 'dropped', '')
          else waiting[client].push(one)
        }
      }
    },
    /** @param {number} client @param {number} kind @param {number} n @param {number} dueMs @param {number} nowMs @param {boolean} measured */
    begin(client, kind, n, dueMs, nowMs, measured) {
      const connection = carrier(client, kind, n)
      inFlight[client]++
      // Its node is away: it waits for its connection.
      const operation = { kind, n, dueMs, measured, attempts: 0, firstMs: 0 }
      if (connection.isUp()) send(connection, operation, nowMs)
      else retry(client, operation)
    },
  }
}
