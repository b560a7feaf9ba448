// All that goes by one connection: what is sent first, the ticks that wait as numbers, and the connection under them.
import { askingBytes } from '../wire/encode.js'
import { unansweredOf } from './connection.js'
import { cutOf } from './encoded-batch.js'
import { fifo } from './fifo.js'
import { reconnectingSocketOf } from './reconnecting-socket.js'

/**
 * @import { Timers } from '../base/timers.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { ConnectionEvents, Entry, Tick } from './connection.js'
 * @import { EncodedBatch } from './encoded-batch.js'
 * @import { underWayOf } from './pool.js'
 *
 * @typedef {{ encoded: EncodedBatch, values: TickValues, ranges: number[], at: number }} Job pairs of commands [from, to)
 * of an encoded batch; `at` is the pair under way
 * @typedef {{ tick: Tick, jobs: Job[] }} TickShare what a tick sends here
 *
 * @typedef {object} SendQueueEvents
 * @property {(entry: Entry, commands: number, queue: SendQueue) => void} onAnswered
 * @property {(entry: Entry, command: number, line: string, queue: SendQueue) => void} onRefused
 * @property {ConnectionEvents['onReply']} [onReply]
 * @property {(queue: SendQueue) => void} onRead
 * @property {(tick: Tick) => void} onBegun its first byte goes to a socket
 * @property {(entry: Entry) => void} onLost was sent, and its answer will not come
 * @property {(commands: number) => void} onSent
 * @property {(queue: SendQueue, state: 'up' | 'down', error?: Error) => void} onState
 * @property {(tookMs: number) => void} onRenewed the connection was closed on purpose, and made anew
 *
 * @typedef {ReturnType<typeof sendQueueOf>} SendQueue
 */

// How far a range is searched for slots that wait: about the commands of one write.
const searchCommands = 2048

/**
 * @param {object} options
 * @param {string} options.address
 * @param {number} options.windowBytes unanswered bytes at which the queue shuts
 * @param {number} options.windowCommands unanswered commands at which it shuts
 * @param {ReturnType<typeof underWayOf>} options.underWay at this server
 * @param {boolean} options.oneSlot no cluster: a repeat holds up everything, so that ticks may as well wait as numbers
 * @param {Parameters<typeof reconnectingSocketOf>[0]['open']} options.open
 * @param {{ take: () => Buffer, give: (buffer: Buffer) => void }} options.spare
 * @param {{ any: () => boolean, has: (slot: number) => boolean, wait: (slot: number, entry: Entry) => void }} options.slotQueues
 * @param {() => number} options.clock
 * @param {() => number} options.random
 * @param {Timers} [options.timers]
 * @param {SendQueueEvents} options.events
 */
export const sendQueueOf = ({
  address,
  windowBytes,
  windowCommands,
  underWay,
  oneSlot,
  open,
  spare,
  slotQueues,
  clock,
  random,
  timers,
  events,
}) => {
  const urgent = /** @type {ReturnType<typeof fifo<Entry>>} */ (fifo())
  /** @type {TickShare[]} */
  let shares = []
  let written = 0
  let finished = 0
  /** @type {{ at: number, then: () => void }[]} */
  const marks = []

  const ended = (/** @type {Entry} */ entry) => {
    if (!entry.held) underWay.end(entry.tick)
    finished++
  }
  const passMarks = () => {
    while (marks.length > 0 && marks[0].at <= finished) marks.shift()?.then()
  }
  const unanswered = unansweredOf({
    onAnswered: (entry, n) => {
      if (entry.from + n === entry.to) ended(entry)
      events.onAnswered(entry, n, queue)
    },
    onRefused: (entry, command, line) => {
      if (command + 1 === entry.to) ended(entry)
      events.onRefused(entry, command, line, queue)
    },
    onReply: events.onReply ?? null,
  })
  const socket = reconnectingSocketOf({
    open,
    decoder: unanswered.decoder,
    owes: () => unanswered.commands() > 0 || unanswered.bytes() > 0,
    onRead: () => {
      events.onRead(queue)
      passMarks()
      pump()
    },
    onUp: () => {
      events.onState(queue, 'up')
      pump()
    },
    onRenewed: (tookMs) => {
      events.onRenewed(tookMs)
      pump()
    },
    onDown: (error) => {
      for (const entry of unanswered.takeAll()) {
        ended(entry)
        events.onLost(entry)
      }
      events.onState(queue, 'down', error)
      passMarks()
    },
    clock,
    random,
    timers,
  })

  /**
   * @param {Entry} entry
   * @param {Buffer} bytes
   * @param {(() => void) | null} release
   */
  const write = (entry, bytes, release) => {
    const { tick } = entry
    entry.sentMs = clock()
    if (tick.firstMs === null) {
      tick.firstMs = entry.sentMs
      events.onBegun(tick)
    }
    if (entry.write === 0) entry.write = tick.sends.push(entry.sentMs)
    if (!entry.held) underWay.begin(tick)
    if (unanswered.bytes() === 0) socket.owesFrom(entry.sentMs)
    written++
    events.onSent(entry.to - entry.from)
    unanswered.add(entry, bytes.length)
    socket.write(bytes, release ?? undefined)
  }

  const sendUrgent = (/** @type {Entry} */ entry, /** @type {number} */ most) => {
    const cut = cutOf(
      entry.encoded,
      entry.from,
      Math.min(entry.to, entry.from + most),
      entry.values,
      spare,
      entry.again,
    )
    if (cut.to === entry.to) urgent.shift()
    else urgent.putFirst({ ...entry, from: cut.to })
    const bytes = entry.lead > 0 ? Buffer.concat([askingBytes, cut.bytes]) : cut.bytes
    write({ ...entry, to: cut.to }, bytes, cut.release)
  }

  /**
   * Commands of the job that may go now: up to the first whose slot waits; those that wait are laid aside.
   * @param {TickShare} share
   * @param {Job} job
   * @param {number} from
   * @param {number} to
   */
  const freeUntil = (share, { encoded, values }, from, to) => {
    const heldAt = (/** @type {number} */ i) => slotQueues.has(encoded.slotAt(i, values))
    let i = from
    while (i < to && heldAt(i)) {
      const slot = encoded.slotAt(i, values)
      let end = i + 1
      while (end < to && encoded.slotAt(end, values) === slot) end++
      slotQueues.wait(slot, entryOf(share.tick, encoded, values, i, end, true))
      i = end
    }
    const end = Math.min(to, i + searchCommands)
    let stop = i
    while (stop < end && !heldAt(stop)) stop++
    return { from: i, to: stop }
  }

  const sendNext = (/** @type {TickShare} */ share, /** @type {Job} */ job, /** @type {number} */ most) => {
    const { encoded, values, ranges, at } = job
    let from = ranges[at]
    let to = ranges[at + 1]
    if (slotQueues.any()) ({ from, to } = freeUntil(share, job, from, to))
    if (from < to) {
      const cut = cutOf(encoded, from, Math.min(to, from + most), values, spare, false)
      write(entryOf(share.tick, encoded, values, from, cut.to, false), cut.bytes, cut.release)
      from = cut.to
    }
    ranges[at] = from
    if (from === ranges[at + 1]) job.at += 2
  }

  /** Commands that may still be sent; 0: the window is shut. */
  const room = () => {
    if (!socket.isUp() || unanswered.bytes() >= windowBytes) return 0
    return Math.max(0, windowCommands - unanswered.commands())
  }

  const pump = () => {
    if (!socket.isUp() || (urgent.size() === 0 && shares.length === 0)) return
    socket.cork()
    for (let most = room(); most > 0; most = room()) {
      const entry = urgent.first()
      if (entry) {
        sendUrgent(entry, most)
        continue
      }
      const [share] = shares
      if (!share || underWay.mustWait(share.tick) || (oneSlot && slotQueues.any())) break
      const [job] = share.jobs
      if (job && job.at < job.ranges.length) sendNext(share, job, most)
      else if (share.jobs.length > 1) share.jobs.shift()
      else {
        shares.shift()
        underWay.end(share.tick)
      }
    }
    socket.uncork()
  }

  const queue = {
    address,
    pump,
    connect: socket.connect,
    /** @param {TickShare} share */
    offer: (share) => {
      underWay.begin(share.tick)
      shares.push(share)
    },
    /** In front of every share. @param {Entry} entry held */
    sendFirst: (entry) => urgent.push(entry),
    isUp: socket.isUp,
    isIdle: () => urgent.size() === 0 && shares.length === 0,
    shares: () => shares.length,
    unanswered: unanswered.all,
    /** Calls back when everything sent so far has an outcome or waits to be sent again. @param {() => void} then */
    whenDrained: (then) => {
      if (finished === written) then()
      else marks.push({ at: written, then })
    },
    waitingBytes: socket.waitingBytes,
    /** Milliseconds without an answer to what was sent. */
    silentMs: () => socket.silentMs(unanswered.bytes() > 0),
    /** Without a connection it is not: then only time decides what is dropped. */
    isShut: () => socket.isUp() && room() === 0,
    /**
     * Takes out the shares that the test picks.
     * @param {(share: TickShare) => boolean} test
     */
    take: (test) => {
      const taken = shares.filter(test)
      if (taken.length > 0) shares = shares.filter((share) => !test(share))
      for (const { tick } of taken) underWay.end(tick)
      return taken
    },
    /** Takes out the repeats that are not under way. */
    takeUrgent: urgent.takeAll,
    /** Takes out everything that is not under way. */
    takeAll: () => {
      const all = { urgent: urgent.takeAll(), shares: shares }
      for (const { tick } of shares) underWay.end(tick)
      shares = []
      return all
    },
    /** Ends the connection; what it has not answered comes back by way of `onLost`. */
    cut: socket.cut,
    renew: socket.renew,
    close: socket.close,
  }
  return queue
}

/**
 * @param {Tick} tick
 * @param {EncodedBatch} encoded
 * @param {TickValues} values
 * @param {number} from
 * @param {number} to
 * @param {boolean} again
 * @returns {Entry}
 */
export const entryOf = (tick, encoded, values, from, to, again) => ({
  tick,
  values,
  encoded: encoded,
  from,
  to,
  lead: 0,
  again,
  held: false,
  goTo: null,
  attempts: 0,
  bytes: 0,
  write: 0,
  sentMs: 0,
})
