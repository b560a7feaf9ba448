// One connection of one client: operations in flight in the order they were sent, and their replies.
import { MillraceError } from '../errors.js'
import { linkOf } from '../transport/link.js'
import { replyCounter } from '../wire/decode.js'

/**
 * @typedef {import('../wire/decode.js').Tally} Tally
 *
 * @typedef {object} Operation one that is retried, or whose connection was lost
 * @property {number} kind which of the operations
 * @property {number} n what it is about
 * @property {number} dueMs
 * @property {boolean} measured
 * @property {number} attempts
 *
 * @typedef {object} ClientEvents
 * @property {(connection: ClientConnection, from: number, count: number, nowMs: number) => void} onAnswered places of the ring
 * @property {(connection: ClientConnection, place: number, line: string) => void} onRefused
 * @property {(connection: ClientConnection, nowMs: number) => void} onRead everything that a read brought is settled
 * @property {(connection: ClientConnection) => void} onUp
 * @property {(connection: ClientConnection, error?: Error) => void} onDown lost or not made; its operations are still in the ring
 *
 * @typedef {ReturnType<typeof clientConnection>} ClientConnection
 */

/** ASKING has a reply of its own. */
export const asking = 255

/**
 * @param {object} needs
 * @param {number} needs.client
 * @param {string} needs.address
 * @param {number} needs.room operations in flight at most
 * @param {Tally} needs.tally
 * @param {Parameters<typeof linkOf>[0]['open']} needs.open
 * @param {ClientEvents} needs.events
 * @param {() => number} needs.clock
 * @param {() => number} needs.random
 * @param {import('../base/timers.js').Timers} [needs.timers]
 */
export const clientConnection = ({ client, address, room, tally, events, ...linking }) => {
  const size = 2 ** Math.ceil(Math.log2(2 * room + 2))
  const mask = size - 1
  let head = 0
  let tail = 0

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
    if (self.kinds[place & mask] !== asking) events.onRefused(self, place, line)
  }

  const link = linkOf({
    ...linking,
    decoder: () => replyCounter({ done: take, failed: refuse }, tally),
    onRead: (nowMs) => events.onRead(self, nowMs),
    onUp: () => events.onUp(self),
    onDown: (error) => events.onDown(self, error),
  })

  const self = {
    client,
    address,
    mask,
    kinds: new Uint8Array(size),
    ns: new Float64Array(size),
    dueMs: new Float64Array(size),
    sentMs: new Float64Array(size),
    measured: new Uint8Array(size),
    attempts: new Uint8Array(size),
    connect: link.connect,
    isUp: link.isUp,
    inFlight: () => tail - head,
    /** Since bytes came, while some are owed. */
    silentMs: () => link.silentMs(head < tail),
    waitingBytes: link.waitingBytes,

    /** Notes one that is about to be sent. @param {number} kind @param {number} n @param {number} dueMs @param {number} nowMs @param {boolean} inWindow @param {number} attempts */
    push(kind, n, dueMs, nowMs, inWindow, attempts) {
      if (head === tail) link.owesFrom(nowMs)
      const place = tail++ & mask
      self.kinds[place] = kind
      self.ns[place] = n
      self.dueMs[place] = dueMs
      self.sentMs[place] = nowMs
      self.measured[place] = inWindow ? 1 : 0
      self.attempts[place] = attempts
    },

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
        if (self.kinds[at] !== asking) operations.push(self.operationAt(head))
      }
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
      }
    },
    cut: link.cut,
    close: link.close,
  }
  return self
}
