// What one connection sends and in what order, the ticks that wait as numbers, and the connection itself.
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
 * @typedef {{ tick: Tick, jobs: Job[] }} TickJobs what a tick sends here
 *
 * @typedef {object} SendQueueEvents
 * @property {(entry: Entry, commands: number, queue: SendQueue) => void} onAnswered
 * @property {(entry: Entry, command: number, line: string, queue: SendQueue) => void} onRefused
 * @property {ConnectionEvents['onReply']} [onReply]
 * @property {(queue: SendQueue, silentMs: number) => void} onRead
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
 * @param {number} options.maxUnansweredBytes unanswered bytes from which nothing is sent
 * @param {number} options.maxUnansweredCommands unanswered commands from which nothing is sent
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
  maxUnansweredBytes,
  maxUnansweredCommands,
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
  /** @type {TickJobs[]} */
  let waiting = []
  let written = 0
  let finished = 0
  /** @type {{ at: number, then: () => void }[]} */
  const marks = []

  const ended = (/** @type {Entry} */ entry) => {
    if (!entry.inSlotQueue) underWay.end(entry.tick)
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
    hasUnanswered: () => unanswered.commands() > 0 || unanswered.bytes() > 0,
    onRead: (_, silentMs) => {
      events.onRead(queue, silentMs)
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

  /** @param {Entry} entry @param {Buffer} bytes @param {(() => void) | null} release */
  const write = (entry, bytes, release) => {
    const { tick } = entry
    entry.sentMs = clock()
    if (tick.firstMs === null) {
      tick.firstMs = entry.sentMs
      events.onBegun(tick)
    }
    if (entry.write === 0) entry.write = tick.sends.push(entry.sentMs)
    if (!entry.inSlotQueue) underWay.begin(tick)
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
   * Commands of the job that may be sent now, up to the first whose slot waits; those that wait are put into its queue.
   * @param {TickJobs} tickJobs
   * @param {Job} job
   * @param {number} from
   * @param {number} to
   */
  const freeUntil = (tickJobs, { encoded, values }, from, to) => {
    const waitsAt = (/** @type {number} */ i) => slotQueues.has(encoded.slotAt(i, values))
    let i = from
    while (i < to && waitsAt(i)) {
      const slot = encoded.slotAt(i, values)
      let end = i + 1
      while (end < to && encoded.slotAt(end, values) === slot) end++
      slotQueues.wait(slot, entryOf(tickJobs.tick, encoded, values, i, end, true))
      i = end
    }
    const end = Math.min(to, i + searchCommands)
    let stop = i
    while (stop < end && !waitsAt(stop)) stop++
    return { from: i, to: stop }
  }

  const sendNext = (/** @type {TickJobs} */ tickJobs, /** @type {Job} */ job, /** @type {number} */ most) => {
    const { encoded, values, ranges, at } = job
    let from = ranges[at]
    let to = ranges[at + 1]
    if (slotQueues.any()) ({ from, to } = freeUntil(tickJobs, job, from, to))
    if (from < to) {
      const cut = cutOf(encoded, from, Math.min(to, from + most), values, spare, false)
      write(entryOf(tickJobs.tick, encoded, values, from, cut.to, false), cut.bytes, cut.release)
      from = cut.to
    }
    ranges[at] = from
    if (from === ranges[at + 1]) job.at += 2
  }

  /** Commands that may still be sent; 0: --window or --pipeline is reached. */
  const room = () => {
    if (!socket.isUp() || unanswered.bytes() >= maxUnansweredBytes) return 0
    return Math.max(0, maxUnansweredCommands - unanswered.commands())
  }

  const pump = () => {
    if (!socket.isUp() || (urgent.size() === 0 && waiting.length === 0)) return
    socket.cork()
    for (let most = room(); most > 0; most = room()) {
      const entry = urgent.first()
      if (entry) {
        sendUrgent(entry, most)
        continue
      }
      const [tickJobs] = waiting
      if (!tickJobs || underWay.mustWait(tickJobs.tick) || (oneSlot && slotQueues.any())) break
      const [job] = tickJobs.jobs
      if (job && job.at < job.ranges.length) sendNext(tickJobs, job, most)
      else if (tickJobs.jobs.length > 1) tickJobs.jobs.shift()
      else {
        waiting.shift()
        underWay.end(tickJobs.tick)
      }
    }
    socket.uncork()
  }

  const queue = {
    address,
    pump,
    connect: socket.connect,
    /** @param {TickJobs} tickJobs */
    offer: (tickJobs) => {
      underWay.begin(tickJobs.tick)
      waiting.push(tickJobs)
    },
    /** In front of every tick that waits. @param {Entry} entry in a slot queue */
    sendFirst: (entry) => urgent.push(entry),
    isUp: socket.isUp,
    isIdle: () => urgent.size() === 0 && waiting.length === 0,
    waitingTicks: () => waiting.length,
    unanswered: unanswered.all,
    /** Calls back when everything sent so far has an outcome or waits to be sent again. @param {() => void} then */
    whenDrained: (then) => {
      if (finished === written) then()
      else marks.push({ at: written, then })
    },
    waitingBytes: socket.waitingBytes,
    /** Milliseconds without an answer to what was sent. */
    silentMs: () => socket.silentMs(unanswered.bytes() > 0),
    /** No more may be sent now. Without a connection only time decides what is dropped. */
    isFull: () => socket.isUp() && room() === 0,
    /** Takes out the waiting jobs that the test picks. @param {(tickJobs: TickJobs) => boolean} test */
    take: (test) => {
      const out = waiting.filter(test)
      if (out.length > 0) waiting = waiting.filter((one) => !test(one))
      for (const { tick } of out) underWay.end(tick)
      return out
    },
    /** Takes out the repeats that are not under way. */
    takeUrgent: urgent.takeAll,
    /** Removes and returns everything that is not under way. */
    takeAll: () => {
      const all = { urgent: urgent.takeAll(), waiting }
      for (const { tick } of waiting) underWay.end(tick)
      waiting = []
      return all
    },
    /** Ends the connection; what it has not answered comes back by way of `onLost`. */
    cut: socket.cut,
    isRenewing: socket.isRenewing,
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
  inSlotQueue: false,
  goTo: null,
  attempts: 0,
  bytes: 0,
  write: 0,
  sentMs: 0,
})
