// The connections to one server as one queue. A portion of a batch always goes by the same of them, so that its items
// are stored in order; a chunk's next tick waits until all of them have answered the one before.
import { sendQueueOf } from './send-queue.js'

/**
 * @import { Entry, Tick } from './connection.js'
 * @import { EncodedBatch } from './encoded-batch.js'
 * @import { SendQueue, SendQueueEvents, TickShare } from './send-queue.js'
 *
 * @typedef {ReturnType<typeof poolOf>} Pool
 */

/**
 * The ticks of each chunk that wait or are under way at one server, oldest first: only the oldest may be sent, so that
 * of one item no two ticks are unanswered at once, and a refused command can be repeated without passing a later one.
 * Repeats do not count: what is later than they waits in holds, slot by slot.
 * @param {number} chunks
 * @param {() => void} onFree some chunk's next tick may go
 */
export const underWayOf = (chunks, onFree) => {
  /** @type {{ tick: Tick, parts: number }[][]} */
  const byChunk = Array.from({ length: chunks }, () => [])
  return {
    /** A share that waits, or an entry that is sent. @param {Tick} tick */
    begin(tick) {
      const list = byChunk[tick.chunk]
      const known = list.find((each) => each.tick === tick)
      if (known) known.parts++
      else {
        let at = list.length
        while (at > 0 && list[at - 1].tick.index > tick.index) at--
        list.splice(at, 0, { tick, parts: 1 })
      }
    },
    /** @param {Tick} tick */
    end(tick) {
      const list = byChunk[tick.chunk]
      const at = list.findIndex((each) => each.tick === tick)
      if (--list[at].parts > 0) return
      list.splice(at, 1)
      if (at === 0) onFree()
    },
    /** @param {Tick} tick */
    mustWait: (tick) => byChunk[tick.chunk][0].tick !== tick,
  }
}

/**
 * @param {Omit<Parameters<typeof sendQueueOf>[0], 'underWay'> & { connections: number, chunks: number }} options
 */
export const poolOf = ({ connections, chunks, ...options }) => {
  // What waits for an answer that came by another connection; with one, its own next pump finds it.
  let isFree = false
  let wasHeld = false
  const underWay = underWayOf(chunks, () => {
    isFree = connections > 1
  })
  const pumpOthers = (/** @type {SendQueue} */ queue) => {
    const isHeld = options.slotQueues.any()
    if (isFree || (wasHeld && !isHeld)) for (const other of queues) if (other !== queue) other.pump()
    isFree = false
    wasHeld = isHeld && connections > 1
  }
  /** @type {SendQueueEvents} */
  const events = {
    ...options.events,
    onRead: (queue) => {
      options.events.onRead(queue)
      pumpOthers(queue)
    },
    onState: (queue, state, error) => {
      options.events.onState(queue, state, error)
      pumpOthers(queue)
    },
  }
  const queues = Array.from({ length: connections }, () => sendQueueOf({ ...options, events, underWay }))
  const [only] = queues
  const queueFor = (/** @type {EncodedBatch} */ { connection }) => queues[connection]

  /** @param {TickShare} share */
  const split = ({ tick, jobs }) => {
    /** @type {Map<SendQueue, TickShare>} */
    const shares = new Map()
    for (const job of jobs) {
      const queue = queueFor(job.encoded)
      const share = shares.get(queue)
      if (share) share.jobs.push(job)
      else shares.set(queue, { tick, jobs: [job] })
    }
    for (const [queue, share] of shares) queue.offer(share)
  }

  return {
    address: options.address,
    queues: queues,
    offer: connections === 1 ? only.offer : split,
    /** In front of every share. @param {Entry} entry held */
    sendFirst: (entry) => queueFor(entry.encoded).sendFirst(entry),
    pump: () => {
      for (const queue of queues) queue.pump()
    },
    connect: () => Promise.all(queues.map((queue) => queue.connect())),
    isUp: () => queues.every((queue) => queue.isUp()),
    /** Nothing waits for it, and no connection of it is there. */
    isUnused: () => queues.every((queue) => !queue.isUp() && queue.isIdle()),
    /** Ticks that wait, of the connection with the most. */
    shares: () => queues.reduce((most, queue) => Math.max(most, queue.shares()), 0),
    waitingBytes: () => queues.reduce((sum, queue) => sum + queue.waitingBytes(), 0),
    /** Calls back when everything sent so far has an outcome or waits to be sent again. @param {() => void} then */
    whenDrained: (then) => {
      let left = queues.length
      for (const queue of queues)
        queue.whenDrained(() => {
          if (--left === 0) then()
        })
    },
    /** Takes out everything that is not under way. */
    takeAll: () => {
      const all = queues.map((queue) => queue.takeAll())
      return { urgent: all.flatMap(({ urgent }) => urgent), shares: all.flatMap(({ shares }) => shares) }
    },
    close: () => {
      for (const queue of queues) queue.close()
    },
  }
}
