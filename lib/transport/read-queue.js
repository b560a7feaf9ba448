// All reads that go to one server: jobs of all consumers one after the other on one connection, up to `--window`
// bytes unanswered, replies handed to the job they belong to.
import { encode, encodedSize, noValues } from '../wire/encode.js'
import { intoSinks, laneOf } from './lane.js'

/**
 * @import { Machine } from '../base/timers.js'
 * @import { Lane } from './lane.js'
 * @import { ReplySink } from '../wire/values.js'
 *
 * @typedef {object} ReadJob commands for one server, encoded as they are sent
 * @property {() => number} nextBytes size of the next command; 0: there is none
 * @property {(out: Buffer, at: number) => number} encodeNext writes it, and returns where it ends
 * @property {() => number} expectBytes of a reply
 * @property {1 | 2} repliesEach to a command: two where it goes behind an ASKING
 * @property {ReplySink} sink
 * @property {() => void} replied one reply is complete
 * @property {() => void} closed what has no reply will get none
 *
 * @typedef {{ job: ReadJob, bytes: number }} Segment a job whose replies come; bytes of each
 *
 * @typedef {{ waiting: ReadJob[], unanswered: number, commands: number }} Reads unanswered: bytes of commands and replies;
 *   commands: that were sent
 *
 * @typedef {ReturnType<typeof readQueueOf>} ReadQueue
 */

const writeBytes = 65_536
const spareBuffers = 4

/** A command by itself, and its reply to a sink. @param {string[]} args @param {Pick<ReadJob, 'sink' | 'replied' | 'closed'>} then @returns {ReadJob} */
export const commandJob = (args, then) => {
  let left = encodedSize(args)
  return {
    nextBytes: () => left,
    encodeNext: (out, at) => {
      left = 0
      return encode(args, out, at, noValues)
    },
    expectBytes: () => 64,
    repliesEach: 1,
    ...then,
  }
}

/** Ignores a reply. @type {ReplySink} */
export const deaf = { open() {}, bulk() {}, number() {}, nil() {}, error() {} }

/**
 * Writes commands of the jobs that wait, a buffer of them at a time.
 * @param {Reads} reads
 * @param {Lane<Segment>} lane
 * @param {number} maxUnansweredBytes
 * @param {() => number} clock
 */
const writingOf = (reads, lane, maxUnansweredBytes, clock) => {
  /** @type {Buffer[]} */
  const spare = []

  /** Encodes commands of a job, as many as the buffer and the limit have room for; returns where they end. @param {ReadJob} job @param {Buffer} buffer @param {number} from */
  const fill = (job, buffer, from) => {
    const expected = job.expectBytes()
    let at = from
    let count = 0
    for (let size = job.nextBytes(); size > 0 && at + size <= buffer.length; size = job.nextBytes()) {
      at = job.encodeNext(buffer, at)
      count++
      if (reads.unanswered + (at - from) + count * expected >= maxUnansweredBytes) break
    }
    if (count === 0) return at
    const replies = count * job.repliesEach
    const bytes = at - from + count * expected
    lane.push({ job, bytes: bytes / replies }, replies, clock())
    reads.unanswered += bytes
    reads.commands += count
    return at
  }
  const write = () => {
    const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(writeBytes)
    let at = 0
    while (reads.waiting.length > 0) {
      const [job] = reads.waiting
      at = fill(job, buffer, at)
      if (job.nextBytes() === 0) reads.waiting.shift()
      else if (at === 0) {
        spare.push(buffer)
        return writeLarge(job)
      } else break
    }
    if (at === 0) return
    lane.write(buffer.subarray(0, at), () => {
      if (spare.length < spareBuffers) spare.push(buffer)
    })
  }
  /** A command that no buffer holds. @param {ReadJob} job */
  const writeLarge = (job) => {
    const bytes = Buffer.allocUnsafeSlow(job.nextBytes())
    fill(job, bytes, 0)
    if (job.nextBytes() === 0) reads.waiting.shift()
    lane.write(bytes)
  }
  return write
}

/**
 * @param {object} options
 * @param {string} options.address
 * @param {boolean} options.readOnly tells a replica of a cluster that stale reads will do
 * @param {{ maxUnansweredBytes: number, mostBytes?: number }} options.limits mostBytes: of a value in a reply
 * @param {Parameters<typeof laneOf>[0]['open']} options.open
 * @param {Machine} options.machine
 * @param {(address: string, state: 'up' | 'down', error?: Error) => void} options.onState
 */
export const readQueueOf = ({ address, readOnly, limits, open, machine, onState }) => {
  const { maxUnansweredBytes, mostBytes } = limits
  /** @type {Reads} */
  const reads = { waiting: [], unanswered: 0, commands: 0 }
  let closed = false
  let bytesIn = 0

  const lost = () => {
    const jobs = new Set([...lane.drain().map(({ job }) => job), ...reads.waiting])
    reads.unanswered = 0
    reads.waiting = []
    for (const job of jobs) job.closed()
  }
  /** @type {ReturnType<typeof laneOf<Segment>>} */
  const lane = laneOf({
    address,
    open,
    decoder: (taking) => {
      const read = intoSinks(taking, mostBytes)
      return (received) => {
        bytesIn += received.length
        read(received)
      }
    },
    events: {
      onReply: ({ job }) => job.sink,
      onTaken({ job, bytes }) {
        reads.unanswered -= bytes
        job.replied()
      },
      onRead: () => pump(),
      onUp() {
        if (readOnly)
          reads.waiting.unshift(commandJob(['READONLY'], { sink: deaf, replied() {}, closed() {} }))
        onState(address, 'up')
        pump()
      },
      onDown(_, error) {
        onState(address, 'down', error)
        lost()
      },
    },
    machine,
  })

  const write = writingOf(reads, lane, maxUnansweredBytes, machine.clock)
  const pump = () => {
    // Sends half of the limit at a time: a write for every few replies would cost more than its commands.
    if (!lane.isUp() || reads.waiting.length === 0 || reads.unanswered > maxUnansweredBytes / 2) return
    lane.cork()
    while (reads.waiting.length > 0 && reads.unanswered < maxUnansweredBytes) write()
    lane.uncork()
  }

  return {
    address,
    connect: lane.connect,
    isUp: lane.isUp,
    /** @param {ReadJob} job */
    submit(job) {
      if (closed || (!lane.isUp() && !lane.isOpening())) {
        // Commands do not wait for a server that is away: the caller retries, perhaps on another node.
        queueMicrotask(() => job.closed())
        return
      }
      reads.waiting.push(job)
      pump()
    },
    silentMs: lane.silentMs,
    /** Closes a silent connection; its commands are retried. */
    cut: lane.cut,
    figures: () => ({ commands: reads.commands, bytes_in: bytesIn }),
    close() {
      closed = true
      lane.close()
    },
  }
}
