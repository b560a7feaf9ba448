// All reads that go to one server: jobs of all consumers one after the other on one connection, a window of them
// unanswered, replies handed to the job they belong to.
import { MillraceError } from '../base/errors.js'
import { encode, noValues, sizeOf } from '../wire/encode.js'
import { replyReader } from '../wire/values.js'
import { fifo } from './fifo.js'
import { linkOf } from './reconnecting-socket.js'

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
 * @typedef {ReturnType<typeof readLaneOf>} ReadLane
 */

const writeBytes = 65_536
const spareBuffers = 4

/** A command by itself, and its reply to a sink. @param {string[]} args @param {Pick<ReadJob, 'sink' | 'replied' | 'closed'>} then @returns {ReadJob} */
export const commandJob = (args, then) => {
  let left = sizeOf(args)
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

/** Hears nothing of a reply. @type {ReplySink} */
export const deaf = { open() {}, bulk() {}, number() {}, nil() {}, error() {} }

/**
 * @param {object} options
 * @param {string} options.address
 * @param {boolean} options.readOnly tells a replica of a cluster that stale reads will do
 * @param {number} options.windowBytes
 * @param {Parameters<typeof linkOf>[0]['open']} options.open
 * @param {() => number} options.clock
 * @param {() => number} options.random
 * @param {(address: string, state: 'up' | 'down', error?: Error) => void} options.onState
 */
export const readLaneOf = ({ address, readOnly, windowBytes, open, clock, random, onState }) => {
  /** @type {ReadJob[]} */
  let waiting = []
  const sent = /** @type {ReturnType<typeof fifo<Segment>>} */ (fifo())
  let inFlight = 0
  let inFlightBytes = 0
  let closed = false
  let commands = 0
  let bytesIn = 0
  const spare = /** @type {Buffer[]} */ ([])

  const replied = () => {
    const segment = /** @type {Segment} */ (sent.first())
    inFlight--
    inFlightBytes -= segment.bytes
    if (--segment.count === 0) sent.shift()
    segment.job.replied()
  }

  const write = () => {
    const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(writeBytes)
    let at = 0
    while (waiting.length > 0) {
      const [job] = waiting
      const from = at
      let count = 0
      let size = job.nextBytes()
      const expected = job.expectBytes()
      while (size > 0 && at + size <= buffer.length) {
        at = job.encodeNext(buffer, at)
        count++
        if (inFlightBytes + (at - from) + count * expected >= windowBytes) break
        size = job.nextBytes()
      }
      if (count > 0) sentAs(job, count, at - from, expected)
      if (job.nextBytes() === 0) waiting.shift()
      else if (count === 0 && at === 0) {
        spare.push(buffer)
        return writeLarge(job, expected)
      } else break
    }
    if (at === 0) return
    link.write(buffer.subarray(0, at), () => {
      if (spare.length < spareBuffers) spare.push(buffer)
    })
  }
  /** A command that no buffer holds. @param {ReadJob} job @param {number} expected */
  const writeLarge = (job, expected) => {
    const bytes = Buffer.allocUnsafeSlow(job.nextBytes())
    job.encodeNext(bytes, 0)
    sentAs(job, 1, bytes.length, expected)
    if (job.nextBytes() === 0) waiting.shift()
    link.write(bytes)
  }
  /** @param {ReadJob} job @param {number} count @param {number} bytes @param {number} expected */
  const sentAs = (job, count, bytes, expected) => {
    const replies = count * job.repliesEach
    const expectedBytes = bytes + count * expected
    sent.push({ job, count: replies, bytes: expectedBytes / replies })
    if (inFlight === 0) link.owesFrom(clock())
    inFlight += replies
    inFlightBytes += expectedBytes
    commands += count
  }

  const pump = () => {
    // Half a window at a time: a write for every few replies would cost more than the commands in it.
    if (!link.isUp() || waiting.length === 0 || inFlightBytes > windowBytes / 2) return
    link.cork()
    while (waiting.length > 0 && inFlightBytes < windowBytes) write()
    link.uncork()
  }

  const lost = () => {
    const jobs = new Set([...sent.takeAll().map(({ job }) => job), ...waiting])
    inFlight = inFlightBytes = 0
    waiting = []
    for (const job of jobs) job.closed()
  }
  const sink = () => {
    const segment = sent.first()
    if (!segment) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    return segment.job.sink
  }
  const link = linkOf({
    open,
    decoder: () => {
      const read = replyReader({ sink, replied })
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
    connect: link.connect,
    isUp: link.isUp,
    /** @param {ReadJob} job */
    submit(job) {
      if (closed || (!link.isUp() && !link.isOpening())) {
        // Commands do not wait for a server that is away: the caller retries, perhaps on another node.
        queueMicrotask(() => job.closed())
        return
      }
      waiting.push(job)
      pump()
    },
    silentMs: () => link.silentMs(inFlight > 0),
    /** Ends a connection that says nothing; what it owes is asked again. */
    cut: link.cut,
    figures: () => ({ commands, bytes_in: bytesIn }),
    close() {
      closed = true
      link.close()
    },
  }
}
