// One connection of one client: operations in flight in the order they were sent, and their replies.
import { MillraceError } from '../base/errors.js'
import { linkOf } from '../transport/reconnecting-socket.js'
import { replyCounter } from '../wire/decode.js'
import { replyValues } from '../wire/reply-values.js'

/**
 * @import { Timers } from '../base/timers.js'
 * @import { Tally } from '../wire/decode.js'
 * @import { Value } from '../wire/reply-values.js'
 * @import { Dialogue } from '../workloads/multi-step-operation.js'
 *
 * @typedef {object} Operation one that is retried, or whose connection was lost
 * @property {number} kind which of the operations
 * @property {number} n what it is about
 * @property {number} dueMs
 * @property {boolean} measured
 * @property {number} attempts
 * @property {number} firstMs when it was first sent; 0: it was not
 *
 * @typedef {Operation & { sentMs: number, dialogue: Dialogue, isOver: boolean }} Exchange an
 *   operation in flight whose replies are read; isOver: what still comes for it counts no more
 *
 * @typedef {object} ClientEvents
 * @property {(connection: ClientConnection, from: number, count: number, nowMs: number) => void} onAnswered places of the ring
 * @property {(connection: ClientConnection, place: number, line: string) => void} onRefused
 * @property {(connection: ClientConnection, exchange: Exchange, value: Value, nowMs: number) => void} [onReply]
 *   to a command of a dialogue
 * @property {(connection: ClientConnection, nowMs: number) => void} onRead everything that a read brought is settled
 * @property {(connection: ClientConnection) => void} onUp
 * @property {(connection: ClientConnection, error?: Error) => void} onDown lost or not made; its operations are still in the ring
 * @property {(connection: ClientConnection, tookMs: number) => void} onRenewed it was closed on purpose, and made anew
 *
 * @typedef {ReturnType<typeof clientConnection>} ClientConnection
 */

/** ASKING has a reply of its own. */
export const asking = 255
// Commands of a dialogue that are sent at once.
const mostJoined = 16

/**
 * @param {object} needs
 * @param {number} needs.client
 * @param {string} needs.address
 * @param {number} needs.room operations in flight at most
 * @param {Tally} needs.tally
 * @param {boolean} [needs.reads] its operations are dialogues
 * @param {Parameters<typeof linkOf>[0]['open']} needs.open
 * @param {ClientEvents} needs.events
 * @param {() => number} needs.clock
 * @param {() => number} needs.random
 * @param {Timers} [needs.timers]
 */
export const clientConnection = ({ client, address, room, tally, reads = false, events, ...linking }) => {
  const size = 2 ** Math.ceil(Math.log2((reads ? mostJoined : 2) * room + 2))
  const mask = size - 1
  const exchanges = /** @type {(Exchange | null)[]} */ (Array(size).fill(null))
  const heeded = new Uint8Array(size)
  let head = 0
  let tail = 0
  let isGivenUp = false

  const take = (/** @type {number} */ count) => {
    let left = count
    while (left > 0) {
      if (head === tail) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
      if (self.kinds[head & mask] === asking) {
        head++
        left--
        continue
      }
      let run = 1
      while (run < left && head + run < tail && self.kinds[(head + run) & mask] !== asking) run++
      const from = head
      head += run
      left -= run
      events.onAnswered(self, from, run, link.heardMs())
    }
  }
  const refuse = (/** @type {string} */ line) => {
    if (head === tail) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    const place = head++
    // ASKING refused: the command behind it says what is wrong.
    const exchange = exchanges[place & mask]
    exchanges[place & mask] = null
    // Of a dialogue the first refusal decides.
    if (exchange?.isOver) return
    if (exchange) exchange.isOver = true
    if (self.kinds[place & mask] !== asking) events.onRefused(self, place, line)
  }
  const reply = (/** @type {Value} */ value) => {
    if (head === tail) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    const place = head & mask
    head++
    const exchange = exchanges[place]
    exchanges[place] = null
    if (exchange && !exchange.isOver && heeded[place] === 1)
      events.onReply?.(self, exchange, value, link.heardMs())
  }

  const link = linkOf({
    ...linking,
    decoder: () =>
      reads
        ? replyValues({ replied: reply, refused: refuse })
        : replyCounter({ done: take, failed: refuse }, tally),
    owes: () => head < tail,
    onRead: (nowMs) => events.onRead(self, nowMs),
    onUp: () => events.onUp(self),
    onDown: (error) => events.onDown(self, error),
    onRenewed: (tookMs) => events.onRenewed(self, tookMs),
  })

  const self = {
    client,
    address,
    mask,
    kinds: new Uint8Array(size),
    ns: new Float64Array(size),
    dueMs: new Float64Array(size),
    firstMs: new Float64Array(size),
    measured: new Uint8Array(size),
    attempts: new Uint8Array(size),
    connect: link.connect,
    isUp: link.isUp,
    inFlight: () => tail - head,
    /** Since bytes came, while some are owed. */
    silentMs: () => link.silentMs(head < tail),
    waitingBytes: link.waitingBytes,

    /** Notes one that is about to be sent. @param {number} kind @param {number} n @param {number} dueMs @param {number} nowMs @param {boolean} inWindow @param {number} attempts @param {number} firstMs */
    push(kind, n, dueMs, nowMs, inWindow, attempts, firstMs) {
      if (head === tail) link.owesFrom(nowMs)
      const place = tail++ & mask
      self.kinds[place] = kind
      self.ns[place] = n
      self.dueMs[place] = dueMs
      self.firstMs[place] = firstMs
      self.measured[place] = inWindow ? 1 : 0
      self.attempts[place] = attempts
    },

    /** Notes a command of a dialogue that is about to be sent. @param {Exchange} exchange @param {boolean} isHeeded @param {number} nowMs */
    pushCommand(exchange, isHeeded, nowMs) {
      const { kind, n, dueMs, measured, attempts, firstMs } = exchange
      self.push(kind, n, dueMs, nowMs, measured, attempts, firstMs)
      exchanges[(tail - 1) & mask] = exchange
      heeded[(tail - 1) & mask] = isHeeded ? 1 : 0
    },
    /** Due first of the dialogues in flight; Infinity: there is none. */
    oldestMs() {
      for (let place = head; place < tail; place++) {
        const exchange = exchanges[place & mask]
        if (exchange && !exchange.isOver) return exchange.sentMs
      }
      return Number.POSITIVE_INFINITY
    },
    /** Gives up the operations in flight: their replies are no longer waited for. */
    giveUp() {
      isGivenUp = true
      link.cut()
    },
    isGivenUp: () => isGivenUp,

    /** Whether the system took all bytes, so that they may be changed. @param {Buffer} bytes */
    write(bytes) {
      link.write(bytes)
      return link.waitingBytes() === 0
    },

    /** Operations without an answer; the connection is empty then. @returns {Operation[]} */
    drain() {
      const operations = /** @type {Operation[]} */ ([])
      for (; head < tail; head++) {
        const at = head & mask
        const exchange = exchanges[at]
        exchanges[at] = null
        if (self.kinds[at] === asking || exchange?.isOver) continue
        if (exchange) exchange.isOver = true
        operations.push(exchange ?? self.operationAt(head))
      }
      isGivenUp = false
      return operations
    },
    /** @param {number} place @returns {Operation} */
    operationAt(place) {
      const at = place & mask
      return {
        kind: self.kinds[at],
        n: self.ns[at],
        dueMs: self.dueMs[at],
        measured: self.measured[at] === 1,
        attempts: self.attempts[at],
        firstMs: self.firstMs[at],
      }
    },
    renew: link.renew,
    cut: link.cut,
    close: link.close,
  }
  return self
}
