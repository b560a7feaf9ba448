// The connections to one server as one queue. A part of a batch always uses the same connection, so that its items are in
// order; a chunk's next tick waits until all connections have answered the one before.
import { sendQueueOf } from './send-queue.js'

/**
 * @import { Entry, SendQueue, SendQueueEvents, Tick, TickJobs } from './send-queue.js'
 * @import { Batch } from './tick-batches.js'
 *
 * @typedef {ReturnType<typeof poolOf>} Pool
 */

/**
 * The ticks of each chunk that wait or are under way at one server, oldest first. Only the oldest may be sent, so that no
 * item has two unanswered ticks, and a refused command can be retried without passing a later one. Retries do not count:
 * later commands wait in holds, slot by slot.
 * @param {number} chunks
 * @param {() => void} onFree some chunk's next tick may go
 */
export const underWayOf = (chunks, onFree) => {
  /** @type {{ tick: Tick, parts: number }[][]} */
  const byChunk = Array.from({ length: chunks }, () => [])
  return {
    /** Jobs that wait, or an entry that is sent. @param {Tick} tick */
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

/** @param {Omit<Parameters<typeof sendQueueOf>[0], 'underWay'> & { connections: number, chunks: number }} options */
export const poolOf = ({ connections, chunks, ...options }) => {
  // For what waits for an answer on another connection; with one connection, its next pump sends it.
  let isFree = false
  let wasHeld = false
  const underWay = underWayOf(chunks, () => {
    isFree = connections > 1
  })
  const pumpOthers = (/** @type {SendQueue} */ queue) => {
    const isHeld = options.sharing.slotQueues.any()
    if (isFree || (wasHeld && !isHeld)) for (const other of queues) if (other !== queue) other.pump()
    isFree = false
    wasHeld = isHeld && connections > 1
  }
  /** @type {SendQueueEvents} */
  const events = {
    ...options.events,
    onRead: (queue, silentMs) => {
      options.events.onRead(queue, silentMs)
      pumpOthers(queue)
    },
    onState: (queue, state, error) => {
      options.events.onState(queue, state, error)
      pumpOthers(queue)
    },
  }
  const queues = Array.from({ length: connections }, () => sendQueueOf({ ...options, events, underWay }))
  const [only] = queues
  const queueFor = (/** @type {Batch} */ { connection }) => queues[connection]

  /** @param {TickJobs} tickJobs */
  const split = ({ tick, jobs }) => {
    /** @type {Map<SendQueue, TickJobs>} */
    const byQueue = new Map()
    for (const job of jobs) {
      const queue = queueFor(job.batch)
      const known = byQueue.get(queue)
      if (known) known.jobs.push(job)
      else byQueue.set(queue, { tick, jobs: [job] })
    }
    for (const [queue, tickJobs] of byQueue) queue.offer(tickJobs)
  }

  return {
    address: options.address,
    queues: queues,
    offer: connections === 1 ? only.offer : split,
    /** In front of every tick that waits. @param {Entry} entry in a slot queue */
    sendFirst: (entry) => queueFor(entry.batch).sendFirst(entry),
    pump: () => {
      for (const queue of queues) queue.pump()
    },
    connect: () => Promise.all(queues.map((queue) => queue.connect())),
    isUp: () => queues.every((queue) => queue.isUp()),
    /** Whether nothing waits for it and it has no connection. */
    isUnused: () => queues.every((queue) => !queue.isUp() && queue.isIdle()),
    /** Ticks that wait, of the connection with the most. */
    waitingTicks: () => queues.reduce((most, queue) => Math.max(most, queue.waitingTicks()), 0),
    waitingBytes: () => queues.reduce((sum, queue) => sum + queue.waitingBytes(), 0),
    /** Calls back when everything sent so far has an outcome or waits for a retry. @param {() => void} then */
    whenDrained: (then) => {
      let left = queues.length
      for (const queue of queues)
        queue.whenDrained(() => {
          if (--left === 0) then()
        })
    },
    /** Removes and returns everything that is not under way. */
    takeAll: () => {
      const all = queues.map((queue) => queue.takeAll())
      return { urgent: all.flatMap(({ urgent }) => urgent), waiting: all.flatMap(({ waiting }) => waiting) }
    },
    close: () => {
      for (const queue of queues) queue.close()
    },
  }
}
