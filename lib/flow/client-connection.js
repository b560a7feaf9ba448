// One connection of one client: operations in flight in the order they were sent, and their replies.
import { MillraceError, TargetError } from '../errors.js'
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
 * @property {(connection: ClientConnection, error?: Error) => void} onClosed its operations are still in the ring
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
 * @param {(events: { onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }) => Promise<import('node:net').Socket>} needs.open
 * @param {ClientEvents} needs.events
 * @param {() => number} needs.clock
 */
export const clientConnection = ({ client, address, room, tally, open, events, clock }) => {
  const size = 2 ** Math.ceil(Math.log2(2 * room + 2))
  const mask = size - 1
  let head = 0
  let tail = 0
  /** @type {import('node:net').Socket | null} */
  let socket = null
  let heardMs = 0
  let opening = false
  let closed = false

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
      events.onAnswered(self, from, run, heardMs)
    }
  }
  const refuse = (/** @type {string} */ line) => {
    if (head === tail) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    const place = head++
    // ASKING refused: the command behind it says what is wrong.
    if (self.kinds[place & mask] !== asking) events.onRefused(self, place, line)
  }

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
    isUp: () => socket !== null,
    isOpening: () => opening,
    inFlight: () => tail - head,
    /** Since bytes came, while some are owed. */
    silentMs: () => (head === tail ? 0 : clock() - heardMs),
    waitingBytes: () => socket?.writableLength ?? 0,

    async connect() {
      if (socket || opening) return
      opening = true
      try {
        // A decoder of its own: what a lost connection left half read is gone with it.
        const count = replyCounter({ done: take, failed: refuse }, tally)
        const opened = await open({
          onBytes: (chunk) => {
            heardMs = clock()
            count(chunk)
            events.onRead(self, heardMs)
          },
          onClose: (error) => {
            socket = null
            events.onClosed(self, error)
          },
        })
        if (closed) opened.destroy()
        // It may have been closed again before we came to know of it.
        else if (opened.destroyed)
          throw new TargetError(`${address}: closed the connection`, { code: 'CONNECT' })
        else socket = opened
      } finally {
        opening = false
      }
    },

    /** Notes one that is about to be sent. @param {number} kind @param {number} n @param {number} dueMs @param {number} nowMs @param {boolean} inWindow @param {number} attempts */
    push(kind, n, dueMs, nowMs, inWindow, attempts) {
      if (head === tail) heardMs = nowMs
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
      if (!socket) return true
      socket.write(bytes)
      return socket.writableLength === 0
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
    /** Gives the connection up: what it owes comes by onClosed. */
    cut: () => socket?.destroy(),
    /** For good; one that is being opened too. */
    close() {
      closed = true
      socket?.destroy()
    },
  }
  return self
}
