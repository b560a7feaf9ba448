// One connection of one client: operations in flight in the order they were sent, and their replies.
import { MillraceError } from '../../base/errors.js'
import { reconnectingSocketOf } from '../../transport/reconnecting-socket.js'
import { replyCounter } from '../../wire/decode.js'
import { replyValues } from '../../wire/reply-values.js'

/**
 * @import { Timers } from '../../base/timers.js'
 * @import { Tally } from '../../wire/decode.js'
 * @import { Value } from '../../wire/reply-values.js'
 * @import { MultiStep } from '../../workloads/bind/multi-step.js'
 *
 * @typedef {object} Operation one that is retried, or whose connection was lost
 * @property {number} kind which of the operations
 * @property {number} n what it is about
 * @property {number} dueMs
 * @property {boolean} measured
 * @property {number} attempts
 * @property {number} firstMs when it was first sent; 0: it was not
 *
 * @typedef {Operation & { sentMs: number, multiStep: MultiStep, isOver: boolean }} Exchange an
 *   operation in flight whose replies are read; isOver: it has an outcome, later replies do not count
 *
 * @typedef {object} ClientEvents
 * @property {(connection: ClientConnection, from: number, count: number, nowMs: number) => void} onAnswered places of the ring
 * @property {(connection: ClientConnection, place: number, line: string) => void} onRefused
 * @property {(connection: ClientConnection, exchange: Exchange, value: Value, nowMs: number) => void} [onReply]
 *   to a command of a multi-step operation
 * @property {(connection: ClientConnection, nowMs: number) => void} onRead everything that a read brought is settled
 * @property {(connection: ClientConnection) => void} onUp
 * @property {(connection: ClientConnection, error?: Error) => void} onDown lost or not made; its operations are still in the ring
 * @property {(connection: ClientConnection, tookMs: number) => void} onRenewed it was closed on purpose, and made anew
 *
 * @typedef {ReturnType<typeof clientConnection>} ClientConnection
 */

/** ASKING has its own reply. */
export const askingCommand = 255
// Commands of a multi-step operation that are sent at once.
const mostJoined = 16

/** Operations in flight in the order they were sent, in a ring: places only increase. @param {number} size a power of two */
const ringOf = (size) => {
  const mask = size - 1
  const exchanges = /** @type {(Exchange | null)[]} */ (Array(size).fill(null))
  const heeded = new Uint8Array(size)
  const columns = {
    mask,
    kinds: new Uint8Array(size),
    ns: new Float64Array(size),
    dueMs: new Float64Array(size),
    firstMs: new Float64Array(size),
    measured: new Uint8Array(size),
    attempts: new Uint8Array(size),
    /** @param {number} place @returns {Operation} */
    operationAt(place) {
      const at = place & mask
      return {
        kind: columns.kinds[at],
        n: columns.ns[at],
        dueMs: columns.dueMs[at],
        measured: columns.measured[at] === 1,
        attempts: columns.attempts[at],
        firstMs: columns.firstMs[at],
      }
    },
  }
  const { kinds } = columns
  let head = 0
  let tail = 0

  const next = () => {
    if (head === tail) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    return head++
  }
  /** @param {number} place */
  const takeExchange = (place) => {
    const exchange = exchanges[place & mask]
    exchanges[place & mask] = null
    return exchange
  }
  return {
    columns,
    next,
    takeExchange,
    isHeeded: (/** @type {number} */ place) => heeded[place & mask] === 1,
    inFlight: () => tail - head,
    /** Takes so many replies, and hands out runs of consecutive places that they answered. @param {number} count @param {(from: number, count: number) => void} answered */
    take(count, answered) {
      let left = count
      while (left > 0) {
        const from = next()
        left--
        if (kinds[from & mask] === askingCommand) continue
        while (left > 0 && head < tail && kinds[head & mask] !== askingCommand) {
          head++
          left--
        }
        answered(from, head - from)
      }
    },
    /** @param {number} kind @param {number} n @param {number} dueMs @param {boolean} inWindow @param {number} attempts @param {number} firstMs */
    add(kind, n, dueMs, inWindow, attempts, firstMs) {
      const place = tail++ & mask
      kinds[place] = kind
      columns.ns[place] = n
      columns.dueMs[place] = dueMs
      columns.firstMs[place] = firstMs
      columns.measured[place] = inWindow ? 1 : 0
      columns.attempts[place] = attempts
    },
    /** Makes the command added last a part of a multi-step operation. @param {Exchange} exchange @param {boolean} isHeeded */
    joins(exchange, isHeeded) {
      exchanges[(tail - 1) & mask] = exchange
      heeded[(tail - 1) & mask] = isHeeded ? 1 : 0
    },
    oldest() {
      for (let place = head; place < tail; place++) {
        const exchange = exchanges[place & mask]
        if (exchange && !exchange.isOver) return exchange
      }
      return null
    },
    /** Removes and returns the operations without an answer. @returns {Operation[]} */
    drain() {
      const operations = /** @type {Operation[]} */ ([])
      for (; head < tail; head++) {
        const exchange = takeExchange(head)
        if (kinds[head & mask] === askingCommand || exchange?.isOver) continue
        if (exchange) exchange.isOver = true
        operations.push(exchange ?? columns.operationAt(head))
      }
      return operations
    },
  }
}

/**
 * @param {object} needs
 * @param {number} needs.client
 * @param {string} needs.address
 * @param {number} needs.room operations in flight at most
 * @param {Tally} needs.tally
 * @param {boolean} [needs.reads] its operations have several steps
 * @param {Parameters<typeof reconnectingSocketOf>[0]['open']} needs.open
 * @param {ClientEvents} needs.events
 * @param {() => number} needs.clock
 * @param {() => number} needs.random
 * @param {Timers} [needs.timers]
 */
export const clientConnection = ({ client, address, room, tally, reads = false, events, ...linking }) => {
  const ring = ringOf(2 ** Math.ceil(Math.log2((reads ? mostJoined : 2) * room + 2)))
  let isGivenUp = false

  const answered = (/** @type {number} */ from, /** @type {number} */ count) =>
    events.onAnswered(self, from, count, socket.heardMs())
  const refuse = (/** @type {string} */ line) => {
    const place = ring.next()
    const exchange = ring.takeExchange(place)
    // In a multi-step operation, the first refusal decides.
    if (exchange?.isOver) return
    if (exchange) exchange.isOver = true
    // A refused ASKING is not reported: the reply to the command after it says why.
    if (self.kinds[place & self.mask] !== askingCommand) events.onRefused(self, place, line)
  }
  const reply = (/** @type {Value} */ value) => {
    const place = ring.next()
    const exchange = ring.takeExchange(place)
    if (exchange && !exchange.isOver && ring.isHeeded(place))
      events.onReply?.(self, exchange, value, socket.heardMs())
  }

  const socket = reconnectingSocketOf({
    ...linking,
    decoder: () =>
      reads
        ? replyValues({ replied: reply, refused: refuse })
        : replyCounter({ done: (count) => ring.take(count, answered), failed: refuse }, tally),
    hasUnanswered: () => ring.inFlight() > 0,
    onRead: (nowMs) => events.onRead(self, nowMs),
    onUp: () => events.onUp(self),
    onDown: (error) => events.onDown(self, error),
    onRenewed: (tookMs) => events.onRenewed(self, tookMs),
  })

  const self = {
    client,
    address,
    ...ring.columns,
    connect: socket.connect,
    isUp: socket.isUp,
    inFlight: ring.inFlight,
    /** Time since the last bytes, while replies are expected. */
    silentMs: () => socket.silentMs(ring.inFlight() > 0),
    waitingBytes: socket.waitingBytes,

    /** Notes one that is about to be sent. @param {number} kind @param {number} n @param {number} dueMs @param {number} nowMs @param {boolean} inWindow @param {number} attempts @param {number} firstMs */
    push(kind, n, dueMs, nowMs, inWindow, attempts, firstMs) {
      if (ring.inFlight() === 0) socket.owesFrom(nowMs)
      ring.add(kind, n, dueMs, inWindow, attempts, firstMs)
    },

    /** Notes a command of a multi-step operation that is about to be sent. @param {Exchange} exchange @param {boolean} isHeeded @param {number} nowMs */
    pushCommand(exchange, isHeeded, nowMs) {
      const { kind, n, dueMs, measured, attempts, firstMs } = exchange
      self.push(kind, n, dueMs, nowMs, measured, attempts, firstMs)
      ring.joins(exchange, isHeeded)
    },
    /** When the oldest multi-step operation in flight was sent; Infinity: none is. */
    oldestMs: () => ring.oldest()?.sentMs ?? Number.POSITIVE_INFINITY,
    /** Gives up the operations in flight: their replies do not count. */
    giveUp() {
      isGivenUp = true
      socket.cut()
    },
    isGivenUp: () => isGivenUp,

    /** Whether the system took all bytes, so that the buffer may be reused. @param {Buffer} bytes */
    write(bytes) {
      socket.write(bytes)
      return socket.waitingBytes() === 0
    },

    /** Removes and returns the operations without an answer. */
    drain() {
      isGivenUp = false
      return ring.drain()
    },
    isRenewing: socket.isRenewing,
    renew: socket.renew,
    cut: socket.cut,
    close: socket.close,
  }
  return self
}
