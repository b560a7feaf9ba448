// All reads that go to one server: jobs of all consumers one after the other on one connection, up to `--window`
// bytes unanswered, replies handed to the job they belong to.
import { MillraceError } from '../base/errors.js'
import { encode, encodedSize, noValues } from '../wire/encode.js'
import { replyReader } from '../wire/values.js'
import { fifo } from './fifo.js'
import { reconnectingSocketOf } from './reconnecting-socket.js'

/**
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
 * @typedef {{ job: ReadJob, count: number, bytes: number }} Segment replies that a job in flight waits for; bytes of each
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

/** What was sent and is not answered yet: jobs with their replies, and the bytes of both. @param {number} maxBytes */
const unansweredReads = (maxBytes) => {
  const sent = /** @type {ReturnType<typeof fifo<Segment>>} */ (fifo())
  const figures = { replies: 0, bytes: 0, commands: 0 } // commands: all that were sent
  return {
    figures,
    /** Encodes commands of a job, as many as the buffer and the limit have room for; returns where they end. @param {ReadJob} job @param {Buffer} buffer @param {number} from */
    fill(job, buffer, from) {
      const expected = job.expectBytes()
      let at = from
      let count = 0
      for (let size = job.nextBytes(); size > 0 && at + size <= buffer.length; size = job.nextBytes()) {
        at = job.encodeNext(buffer, at)
        count++
        if (figures.bytes + (at - from) + count * expected >= maxBytes) break
      }
      if (count === 0) return at
      const replies = count * job.repliesEach
      const bytes = at - from + count * expected
      sent.push({ job, count: replies, bytes: bytes / replies })
      figures.replies += replies
      figures.bytes += bytes
      figures.commands += count
      return at
    },
    sink() {
      const segment = sent.first()
      if (!segment) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
      return segment.job.sink
    },
    replied() {
      const segment = /** @type {Segment} */ (sent.first())
      figures.replies--
      figures.bytes -= segment.bytes
      if (--segment.count === 0) sent.shift()
      segment.job.replied()
    },
    takeAll() {
      figures.replies = figures.bytes = 0
      return sent.takeAll()
    },
  }
}

/**
 * @param {object} options
 * @param {string} options.address
 * @param {boolean} options.readOnly tells a replica of a cluster that stale reads will do
 * @param {number} options.maxUnansweredBytes
 * @param {Parameters<typeof reconnectingSocketOf>[0]['open']} options.open
 * @param {() => number} options.clock
 * @param {() => number} options.random
 * @param {(address: string, state: 'up' | 'down', error?: Error) => void} options.onState
 */
export const readQueueOf = ({ address, readOnly, maxUnansweredBytes, open, clock, random, onState }) => {
  /** @type {ReadJob[]} */
  let waiting = []
  const unanswered = unansweredReads(maxUnansweredBytes)
  let closed = false
  let bytesIn = 0
  const spare = /** @type {Buffer[]} */ ([])

  const write = () => {
    const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(writeBytes)
    let at = 0
    while (waiting.length > 0) {
      const [job] = waiting
      at = unanswered.fill(job, buffer, at)
      if (job.nextBytes() === 0) waiting.shift()
      else if (at === 0) {
        spare.push(buffer)
        return writeLarge(job)
      } else break
    }
    if (at === 0) return
    socket.write(buffer.subarray(0, at), () => {
      if (spare.length < spareBuffers) spare.push(buffer)
    })
  }
  /** A command that no buffer holds. @param {ReadJob} job */
  const writeLarge = (job) => {
    const bytes = Buffer.allocUnsafeSlow(job.nextBytes())
    unanswered.fill(job, bytes, 0)
    if (job.nextBytes() === 0) waiting.shift()
    socket.write(bytes)
  }

  const pump = () => {
    // Sends half of the limit at a time: a write for every few replies would cost more than its commands.
    if (!socket.isUp() || waiting.length === 0 || unanswered.figures.bytes > maxUnansweredBytes / 2) return
    if (unanswered.figures.replies === 0) socket.owesFrom(clock())
    socket.cork()
    while (waiting.length > 0 && unanswered.figures.bytes < maxUnansweredBytes) write()
    socket.uncork()
  }

  const lost = () => {
    const jobs = new Set([...unanswered.takeAll().map(({ job }) => job), ...waiting])
    waiting = []
    for (const job of jobs) job.closed()
  }
  const socket = reconnectingSocketOf({
    open,
    decoder: () => {
      const read = replyReader(unanswered)
      return (chunk) => {
        bytesIn += chunk.length
        read(chunk)
      }
    },
    onRead: pump,
    onUp: () => {
      if (readOnly) waiting.unshift(commandJob(['READONLY'], { sink: deaf, replied() {}, closed() {} }))
      onState(address, 'up')
      pump()
    },
    onDown: (error) => {
      onState(address, 'down', error)
      lost()
    },
    clock,
    random,
  })

  return {
    address,
    connect: socket.connect,
    isUp: socket.isUp,
    /** @param {ReadJob} job */
    submit(job) {
      if (closed || (!socket.isUp() && !socket.isOpening())) {
        // Commands do not wait for a server that is away: the caller retries, perhaps on another node.
        queueMicrotask(() => job.closed())
        return
      }
      waiting.push(job)
      pump()
    },
    silentMs: () => socket.silentMs(unanswered.figures.replies > 0),
    /** Closes a silent connection; its commands are retried. */
    cut: socket.cut,
    figures: () => ({ commands: unanswered.figures.commands, bytes_in: bytesIn }),
    close() {
      closed = true
      socket.close()
    },
  }
}
