// A connection to one server: requests in flight in the order they were sent, settled by its replies in that order. What a
// request is, how its bytes are made and what comes of it is the business of who sends it.

import { MillraceError } from '../base/errors.js'
import { replyCounter } from '../wire/decode.js'
import { replyReader, valueReader } from '../wire/values.js'
import { reconnectingSocketOf } from './reconnecting-socket.js'

/**
 * @import { Machine } from '../base/timers.js'
 * @import { Tally } from '../wire/decode.js'
 * @import { Reply, ReplySink } from '../wire/values.js'
 *
 * @typedef {object} Taking what a decoder tells the lane
 * @property {(count: number) => void} done
 * @property {(line: string) => void} failed
 * @property {(value: Reply) => void} value
 * @property {() => ReplySink} sink
 * @property {() => void} taken
 *
 * @typedef {(taking: Taking) => (bytes: Buffer) => void} Decoder a new one for each connection
 */

// Requests in the order they were sent, and the replies that each is owed, in a ring that grows.

const firstPlaces = 16

/**
 * A class, since a call of a closure that each of many connections has of its own was found anew.
 * @template R
 */
class Flight {
  #mask = firstPlaces - 1
  /** @type {(R | null)[]} */
  #requests = Array(firstPlaces).fill(null)
  #owed = new Int32Array(firstPlaces)
  #leads = new Uint8Array(firstPlaces)
  #head = 0
  #tail = 0
  #replies = 0
  #left = 0

  #grow() {
    const [mask, places] = [this.#mask, 2 * (this.#mask + 1)]
    const [requests, owed, leads] = [this.#requests, this.#owed, this.#leads]
    this.#requests = Array(places).fill(null)
    this.#owed = new Int32Array(places)
    this.#leads = new Uint8Array(places)
    for (let place = this.#head; place < this.#tail; place++) {
      const [from, to] = [place & mask, place & (places - 1)]
      this.#requests[to] = requests[from]
      this.#owed[to] = owed[from]
      this.#leads[to] = leads[from]
    }
    this.#mask = places - 1
  }

  /** To come, of all. */
  get replies() {
    return this.#replies
  }
  get isEmpty() {
    return this.#head === this.#tail
  }
  /** Replies to come where the last one was taken. */
  get left() {
    return this.#left
  }

  /** @param {R} request @param {number} count @param {number} lead replies that come before its own */
  push(request, count, lead) {
    if (this.#tail - this.#head > this.#mask) this.#grow()
    const at = this.#tail++ & this.#mask
    this.#requests[at] = request
    this.#owed[at] = count
    this.#leads[at] = lead
    this.#replies += count + lead
  }

  /** Whose reply is next. */
  head() {
    if (this.#head === this.#tail)
      throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    return /** @type {R} */ (this.#requests[this.#head & this.#mask])
  }

  /** Whether the next reply precedes those of the request. */
  get isLed() {
    return this.#leads[this.#head & this.#mask] > 0
  }
  /** Takes the next reply if it precedes those of the request. */
  skips() {
    const at = this.#head & this.#mask
    if (this.#leads[at] === 0) return false
    this.#leads[at]--
    this.#replies--
    return true
  }

  /** Takes so many replies of the first request, at most; returns how many. @param {number} most */
  take(most) {
    const at = this.#head & this.#mask
    const owed = this.#owed[at]
    const n = most < owed ? most : owed
    const left = owed - n
    this.#left = left
    this.#owed[at] = left
    this.#replies -= n
    if (left === 0) {
      this.#requests[at] = null
      this.#head++
    }
    return n
  }

  /** The oldest first. */
  all() {
    /** @type {R[]} */
    const all = []
    for (let place = this.#head; place < this.#tail; place++)
      all.push(/** @type {R} */ (this.#requests[place & this.#mask]))
    return all
  }

  clear() {
    this.#requests.fill(null)
    this.#head = this.#tail = this.#replies = 0
  }
}

/**
 * @template R a request: anything; it may be in flight at several places
 * @typedef {object} LaneEvents left: replies to come at its place
 * @property {(request: R, n: number, nowMs: number, lane: Lane<R>) => void} [onAnswered] `counting`: so many replies
 * @property {(request: R, value: Reply, left: number, nowMs: number, lane: Lane<R>) => void} [onReplied] `asValues`
 * @property {(request: R) => ReplySink} [onReply] `intoSinks`: a reply begins
 * @property {(request: R, left: number, nowMs: number, lane: Lane<R>) => void} [onTaken] `intoSinks`: it is whole, an error too
 * @property {(request: R, line: string, left: number, nowMs: number, lane: Lane<R>) => void} [onRefused] but for `intoSinks`
 * @property {(lane: Lane<R>, nowMs: number, silentMs: number) => void} [onRead] everything that a read brought is settled
 * @property {(lane: Lane<R>) => void} onUp
 * @property {(lane: Lane<R>, error?: Error) => void} onDown lost or not made: drain it
 * @property {(lane: Lane<R>, tookMs: number) => void} [onRenewed] it was closed on purpose, and made anew
 */

/** @template R @typedef {ReturnType<typeof laneOf<R>>} Lane */

/** Replies are counting: the fastest. @param {Tally} [tally] @returns {Decoder} */
export const counting = (tally) => (taking) => replyCounter(taking, tally)
/** Each reply is a value. @param {BufferEncoding} [encoding] @returns {Decoder} */
export const asValues = (encoding) => (taking) =>
  valueReader({ replied: taking.value, refused: taking.failed, encoding })
/** Each reply goes into the sink of its request. @param {Taking} taking @param {number} [mostBytes] of a string in it @returns {(bytes: Buffer) => void} */
export const intoSinks = ({ sink, taken }, mostBytes) => replyReader({ sink, replied: taken, mostBytes })

const nothing = () => {}
/** @type {ReplySink} */
const nowhere = { open: nothing, bulk: nothing, number: nothing, nil: nothing, error: nothing }

/**
 * Hands each reply to its request.
 * @template R
 * @param {Flight<R>} flight
 * @param {LaneEvents<R>} events
 * @param {Lane<R>} lane
 * @param {() => number} heardMs
 * @returns {Taking}
 */
const takingOf = (flight, { onAnswered, onReplied, onReply, onTaken, onRefused }, lane, heardMs) => {
  return {
    done(count) {
      const nowMs = heardMs()
      for (let left = count; left > 0; ) {
        const request = flight.head()
        if (flight.skips()) {
          left--
          continue
        }
        const n = flight.take(left)
        left -= n
        onAnswered?.(request, n, nowMs, lane)
      }
    },
    failed(line) {
      const request = flight.head()
      // A refused ASKING is not reported: the reply to the command after it says why.
      if (flight.skips()) return
      flight.take(1)
      onRefused?.(request, line, flight.left, heardMs(), lane)
    },
    value(value) {
      const request = flight.head()
      if (flight.skips()) return
      flight.take(1)
      onReplied?.(request, value, flight.left, heardMs(), lane)
    },
    sink() {
      const request = flight.head()
      return flight.isLed ? nowhere : (onReply?.(request) ?? nowhere)
    },
    taken() {
      const request = flight.head()
      if (flight.skips()) return
      flight.take(1)
      onTaken?.(request, flight.left, heardMs(), lane)
    },
  }
}

/**
 * @template R
 * @param {object} needs
 * @param {number} [needs.client] whose connection it is
 * @param {string} [needs.address]
 * @param {Decoder} [needs.decoder]
 * @param {Parameters<typeof reconnectingSocketOf>[0]['open']} needs.open
 * @param {LaneEvents<R>} needs.events
 * @param {Machine} needs.machine
 */
export const laneOf = ({ client = 0, address = '', decoder = counting(), events, ...linking }) => {
  /** @type {Flight<R>} */
  const flight = new Flight()
  const { onRead, onUp, onDown, onRenewed } = events
  /** @type {string | null} */
  let givenUp = null

  const socket = reconnectingSocketOf({
    ...linking,
    decoder: () => decoder(taking),
    hasUnanswered: () => !flight.isEmpty,
    onRead: (nowMs, silentMs) => onRead?.(lane, nowMs, silentMs),
    onUp: () => onUp(lane),
    onDown: (error) => onDown(lane, error),
    onRenewed: (tookMs) => onRenewed?.(lane, tookMs),
  })

  const lane = {
    client,
    address,
    /** The first `boxed` are pushed, and not written: an outbox's. @type {R[]} */
    outbox: [],
    boxed: 0,
    connect: socket.connect,
    isUp: socket.isUp,
    isOpening: socket.isOpening,
    /** Replies to come. */
    owed: () => flight.replies,
    /** Requests in flight, the oldest first. */
    inFlight: () => flight.all(),
    /** Time since the last bytes, while replies are expected. */
    silentMs: () => socket.silentMs(!flight.isEmpty),
    waitingBytes: socket.waitingBytes,
    cork: socket.cork,
    uncork: socket.uncork,

    /** Notes what is about to be written. @param {R} request @param {number} replies @param {number} nowMs @param {number} [lead] replies that come before its own */
    push(request, replies, nowMs, lead = 0) {
      if (flight.isEmpty) socket.owesFrom(nowMs)
      flight.push(request, replies, lead)
    },
    /** Whether the system took all bytes, so that the buffer may be reused. @param {Buffer} bytes @param {() => void} [release] */
    write(bytes, release) {
      socket.write(bytes, release)
      return socket.waitingBytes() === 0
    },
    /** Removes and returns the requests in flight, the oldest first: their replies will not come. */
    drain() {
      givenUp = null
      const all = flight.all()
      flight.clear()
      return all
    },
    isRenewing: socket.isRenewing,
    renew: socket.renew,
    /** Ends the connection; what it has not answered comes back by way of onDown. */
    cut: socket.cut,
    /** Cuts it since its replies are too late. @param {string} cause */
    giveUp(cause) {
      givenUp = cause
      socket.cut()
    },
    givenUp: () => givenUp,
    close: socket.close,
  }
  const taking = takingOf(flight, events, lane, socket.heardMs)
  return lane
}

const writeBytes = 65_536

/**
 * Small requests on their way to lanes: those for a lane are one write, however they alternate with those for others, and are encoded
 * in one shared buffer.
 * @template R
 * @param {object} needs
 * @param {number} needs.most bytes that one request takes
 * @param {(request: R, out: Buffer, at: number, nowMs: number) => number} needs.put its bytes, which are written now; returns where they end
 * @param {() => number} needs.clock
 */
export const outboxOf = ({ most, put, clock }) => {
  const size = Math.max(writeBytes, 2 * most)
  let bytes = Buffer.allocUnsafeSlow(size)
  // Most writes are as long as the one before.
  let last = bytes.subarray(0, 0)
  /** @type {Lane<R>[]} that something waits for, the first `count` */
  const lanes = []
  let count = 0

  /** @param {Lane<R>} lane @param {number} length */
  const write = (lane, length) => {
    if (length !== last.length) last = bytes.subarray(0, length)
    if (lane.write(last)) return
    // The socket keeps these bytes.
    bytes = Buffer.allocUnsafeSlow(size)
    last = bytes.subarray(0, 0)
  }
  /** @param {Lane<R>} lane */
  const send = (lane) => {
    const { outbox, boxed } = lane
    lane.boxed = 0
    let nowMs = clock()
    let at = 0
    for (let i = 0; i < boxed; i++) {
      if (at + most > size) {
        write(lane, at)
        at = 0
        nowMs = clock()
      }
      at = put(outbox[i], bytes, at, nowMs)
    }
    write(lane, at)
  }
  const end = () => {
    for (let i = 0; i < count; i++) send(lanes[i])
    count = 0
  }
  return {
    /** @param {Lane<R>} lane @param {R} request */
    put(lane, request) {
      if (lane.boxed === 0) lanes[count++] = lane
      lane.outbox[lane.boxed++] = request
    },
    /** Bytes of their own. @param {Lane<R>} lane @param {Buffer} text */
    plain(lane, text) {
      end()
      lane.write(text)
    },
    end,
  }
}
