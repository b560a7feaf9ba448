// What one connection sends and in what order, the ticks that wait as numbers, and the connection itself.
import { askingBytes } from '../wire/encode.js'
import { cutOf, writeBytes } from './batch-bytes.js'
import { fifo } from './fifo.js'
import { asValues, counting, laneOf } from './lane.js'

/**
 * @import { Machine } from '../base/timers.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Reply } from '../wire/values.js'
 * @import { Durable } from './durable.js'
 * @import { Batch, TickBatch } from './tick-batches.js'
 * @import { underWayOf } from './server-queues.js'
 * @import { Progress } from '../probes/item-times.js'
 * @import { Account } from '../probes/ledger.js'
 * @import { Step } from '../workloads/bind/writer.js'
 *
 * @typedef {{ batch: Batch, values: TickValues, ranges: number[], at: number }} Job pairs of commands [from, to)
 * of a batch; `at` is the pair under way
 * @typedef {{ tick: Tick, jobs: Job[] }} TickJobs what a tick sends here
 *
 * @typedef {object} SendQueueEvents
 * @property {(entry: Entry, commands: number, queue: SendQueue) => void} onAnswered
 * @property {(entry: Entry, command: number, line: string, queue: SendQueue) => void} onRefused
 * @property {(entry: Entry, commands: number) => void} [onUnkept] answered, and not kept by as many as was waited for
 * @property {OnReply} [onReply]
 * @property {(queue: SendQueue, silentMs: number) => void} onRead
 * @property {(tick: Tick) => void} onBegun its first byte goes to a socket
 * @property {(entry: Entry) => void} onLost was sent, and its answer will not come
 * @property {(commands: number) => void} onSent
 * @property {(queue: SendQueue, state: 'up' | 'down', error?: Error) => void} onState
 * @property {(tookMs: number) => void} onRenewed the connection was closed on purpose, and made anew
 *
 * @typedef {object} Sharing what all queues of a driver share
 * @property {{ bytes: number, commands: number }} most unanswered ones, from which nothing is sent
 * @property {boolean} oneSlot no cluster: a repeat holds up everything, so that ticks may as well wait as numbers
 * @property {{ take: () => Buffer, give: (buffer: Buffer) => void }} spare
 * @property {{ any: () => boolean, has: (slot: number) => boolean, wait: (slot: number, entry: Entry) => void }} slotQueues
 * @property {Durable | null} [durable]
 * @property {Machine} machine
 *
 * @typedef {ReturnType<typeof sendQueueOf>} SendQueue
 */

// What is in flight on a connection of a writer in ticks: entries, each a part of a batch for one tick.

/**
 * @typedef {object} Tick
 * @property {number} index
 * @property {number} chunk which part of the agent's items, over all agents
 * @property {number} dueMs
 * @property {number | null} firstMs when its first byte went to a socket
 * @property {number[]} sends when each of its writes was first sent
 * @property {Progress | null} progress
 * @property {TickValues} values
 * @property {Account} account
 * @property {Float64Array | null} items in the places of the account; null: its own, in order
 * @property {TickBatch[][] | null} portions made for this tick alone
 *
 * @typedef {object} Entry commands [from, to) of a batch for one tick: the unit of sending and settling
 * @property {Tick} tick
 * @property {TickValues} values the tick's own
 * @property {Batch} batch
 * @property {number} from the first command not yet answered
 * @property {number} to
 * @property {number} lead answers to come before the first command's own (ASKING)
 * @property {boolean} again its bytes are made anew: the batch may hold a later tick's
 * @property {boolean} inSlotQueue counts among the pending commands of its slot
 * @property {string | null} goTo the address that a redirect named for this once
 * @property {number} attempts
 * @property {number} bytes
 * @property {number} write which of its tick's writes it was first sent with, from 1; 0: it was not sent
 * @property {number} sentMs
 * @property {(number | string)[]} held replies that count once it is known whether they are kept: so many answered, or a refusal
 *
 * @typedef {((step: Step, reply: number | string | null | undefined) => void) | null} OnReply
 *   of a command that was answered, before that is known; null: replies are not looked at
 */

// Of all entries whose replies count at once.
/** @type {(number | string)[]} */
const nothingHeld = []

/**
 * @param {Tick} tick
 * @param {Batch} batch
 * @param {TickValues} values
 * @param {number} from
 * @param {number} to
 * @param {boolean} again
 * @returns {Entry}
 */
export const entryOf = (tick, batch, values, from, to, again) => ({
  tick,
  values,
  batch,
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
  held: nothingHeld,
})

// How far a range is searched for slots that wait: about the commands of one write.
const searchCommands = 2048
// The window is filled again when so much of it is unanswered at most: a few large writes take less CPU than many small ones, 0.92
// of the sending thread at 200,000 items/s and 0.96 at 50,000 (medians of five pairs).
const refillShare = 0.5
// No number in a text is longer than this.
const mostDigits = 32

/** A reply as it is looked at: a list as undefined, a long text as an empty one. @param {Reply} reply */
const plain = (reply) => {
  if (Array.isArray(reply)) return undefined
  return typeof reply === 'string' && reply.length > mostDigits
    ? ''
    : /** @type {string | number | null} */ (reply)
}

/**
 * @param {object} options
 * @param {string} options.address
 * @param {ReturnType<typeof underWayOf>} options.underWay at this server
 * @param {Parameters<typeof laneOf>[0]['open']} options.open
 * @param {SendQueueEvents} options.events
 * @param {Sharing} options.sharing
 */
export const sendQueueOf = ({ address, underWay, open, events, sharing }) => {
  const { most, oneSlot, spare, slotQueues, durable = null, machine } = sharing
  const { bytes: maxUnansweredBytes, commands: maxUnansweredCommands } = most
  const { clock } = machine
  const refillBytes = maxUnansweredBytes * refillShare
  /** @type {ReturnType<typeof fifo<Entry>>} */
  const urgent = fifo()
  /** @type {TickJobs[]} */
  let waiting = []
  let written = 0
  let finished = 0
  /** @type {{ at: number, then: () => void }[]} */
  const marks = []

  const ended = (/** @type {Entry} */ entry) => {
    if (!entry.inSlotQueue) underWay.end(entry.tick)
    unansweredBytes -= entry.bytes
    finished++
  }
  /** Answered commands make room, where their bytes are known. @param {Entry} entry @param {number} n */
  const free = (entry, n) => {
    const { encodedBytes } = entry.batch
    if (encodedBytes === null) return
    const { offsets } = encodedBytes
    const bytes = offsets[entry.from + n] - offsets[entry.from]
    entry.bytes -= bytes
    unansweredBytes -= bytes
  }
  const passMarks = () => {
    while (marks.length > 0 && marks[0].at <= finished) marks.shift()?.then()
  }
  let unansweredBytes = 0

  const { onReply = null } = events
  /** @param {Entry} entry @param {number} n @param {SendQueueEvents['onAnswered']} tell */
  const settle = (entry, n, tell) => {
    free(entry, n)
    if (entry.from + n === entry.to) ended(entry)
    tell(entry, n, queue)
    entry.from += n
  }
  const { onAnswered, onUnkept = onAnswered } = events
  const answered = (/** @type {Entry} */ entry, /** @type {number} */ n) => settle(entry, n, onAnswered)
  /** @param {Entry} entry @param {string} line */
  const refused = (entry, line) => {
    const command = entry.from++
    if (entry.from === entry.to) ended(entry)
    events.onRefused(entry, command, line, queue)
  }
  /** What was answered counts when the last reply says whether it is kept. @param {Entry} entry @param {boolean} isKept */
  const settled = (entry, isKept) => {
    const { held } = entry
    entry.held = []
    for (const one of held)
      if (typeof one === 'string') refused(entry, one)
      else if (isKept) answered(entry, one)
      else settle(entry, one, onUnkept)
  }
  /** @param {Entry} entry */
  const hold = ({ held }) => {
    const last = held.at(-1)
    if (typeof last === 'number') held[held.length - 1] = last + 1
    else held.push(1)
  }
  /** @type {ReturnType<typeof laneOf<Entry>>} */
  const lane = laneOf({
    address,
    open,
    decoder: onReply || durable ? asValues() : counting(),
    events: {
      onAnswered: answered,
      onReplied(entry, value, left) {
        if (durable && left === 0) return settled(entry, durable.isKept(value))
        onReply?.(entry.batch.step, plain(value))
        if (durable) hold(entry)
        else answered(entry, 1)
      },
      onRefused(entry, line, left) {
        if (durable === null) refused(entry, line)
        else if (left > 0) entry.held.push(line)
        else settled(entry, false)
      },
      onRead(_, __, silentMs) {
        events.onRead(queue, silentMs)
        passMarks()
        pump()
      },
      onUp() {
        events.onState(queue, 'up')
        pump()
      },
      onRenewed(_, tookMs) {
        events.onRenewed(tookMs)
        pump()
      },
      onDown(_, error) {
        for (const entry of lane.drain()) {
          ended(entry)
          events.onLost(entry)
        }
        events.onState(queue, 'down', error)
        passMarks()
      },
    },
    machine,
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
    written++
    events.onSent(entry.to - entry.from)
    entry.bytes = bytes.length
    unansweredBytes += entry.bytes
    lane.push(entry, entry.to - entry.from + (durable ? 1 : 0), entry.sentMs, entry.lead)
    lane.write(bytes, release ?? undefined)
    if (durable) {
      entry.held = []
      lane.write(durable.bytes)
    }
  }

  const sendUrgent = (/** @type {Entry} */ entry, /** @type {number} */ most) => {
    const cut = cutOf(
      entry.batch,
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
  const freeUntil = (tickJobs, { batch, values }, from, to) => {
    const waitsAt = (/** @type {number} */ i) => slotQueues.has(batch.slotAt(i, values))
    let i = from
    while (i < to && waitsAt(i)) {
      const slot = batch.slotAt(i, values)
      let end = i + 1
      while (end < to && batch.slotAt(end, values) === slot) end++
      slotQueues.wait(slot, entryOf(tickJobs.tick, batch, values, i, end, true))
      i = end
    }
    const end = Math.min(to, i + searchCommands)
    let stop = i
    while (stop < end && !waitsAt(stop)) stop++
    return { from: i, to: stop }
  }

  const sendNext = (/** @type {TickJobs} */ tickJobs, /** @type {Job} */ job, /** @type {number} */ most) => {
    const { batch, values, ranges, at } = job
    let from = ranges[at]
    let to = ranges[at + 1]
    if (slotQueues.any()) ({ from, to } = freeUntil(tickJobs, job, from, to))
    if (from < to) {
      const freeBytes = Math.max(writeBytes, maxUnansweredBytes - unansweredBytes)
      const cut = cutOf(batch, from, Math.min(to, from + most), values, spare, false, freeBytes)
      write(entryOf(tickJobs.tick, batch, values, from, cut.to, false), cut.bytes, cut.release)
      from = cut.to
    }
    ranges[at] = from
    if (from === ranges[at + 1]) job.at += 2
  }

  /** Commands that may still be sent; 0: --window or --pipeline is reached. */
  const room = () => {
    if (!lane.isUp() || unansweredBytes >= maxUnansweredBytes) return 0
    return Math.max(0, maxUnansweredCommands - lane.owed())
  }

  const pump = () => {
    if (!lane.isUp() || (urgent.size() === 0 && (waiting.length === 0 || unansweredBytes > refillBytes)))
      return
    lane.cork()
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
    lane.uncork()
  }

  const queue = {
    address,
    pump,
    connect: lane.connect,
    /** @param {TickJobs} tickJobs */
    offer: (tickJobs) => {
      underWay.begin(tickJobs.tick)
      waiting.push(tickJobs)
    },
    /** In front of every tick that waits. @param {Entry} entry in a slot queue */
    sendFirst: (entry) => urgent.push(entry),
    isUp: lane.isUp,
    isIdle: () => urgent.size() === 0 && waiting.length === 0,
    waitingTicks: () => waiting.length,
    unanswered: lane.inFlight,
    /** Calls back when everything sent so far has an outcome or waits to be sent again. @param {() => void} then */
    whenDrained: (then) => {
      if (finished === written) then()
      else marks.push({ at: written, then })
    },
    waitingBytes: lane.waitingBytes,
    /** Milliseconds without an answer to what was sent. */
    silentMs: lane.silentMs,
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
    cut: lane.cut,
    isRenewing: lane.isRenewing,
    renew: lane.renew,
    close: lane.close,
  }
  return queue
}
