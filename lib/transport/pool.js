// The connections to one server as one lane. A portion of a batch always goes by the same of them, so that its items
// are stored in order; a chunk's next tick waits until all of them have answered the one before.
import { laneOf } from './send-queue.js'

/**
 * @import { Entry, Tick } from './connection.js'
 * @import { Tape } from './encoded-batch.js'
 * @import { Lane, LaneEvents, Turn } from './send-queue.js'
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
    /** A turn that waits, or an entry that is sent. @param {Tick} tick */
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
 * @param {Omit<Parameters<typeof laneOf>[0], 'underWay'> & { connections: number, chunks: number }} options
 */
export const poolOf = ({ connections, chunks, ...options }) => {
  // What waits for an answer that came by another connection; with one, its own next pump finds it.
  let isFree = false
  let wasHeld = false
  const underWay = underWayOf(chunks, () => {
    isFree = connections > 1
  })
  const pumpOthers = (/** @type {Lane} */ lane) => {
    const isHeld = options.holds.any()
    if (isFree || (wasHeld && !isHeld)) for (const other of lanes) if (other !== lane) other.pump()
    isFree = false
    wasHeld = isHeld && connections > 1
  }
  /** @type {LaneEvents} */
  const events = {
    ...options.events,
    onRead: (lane) => {
      options.events.onRead(lane)
      pumpOthers(lane)
    },
    onState: (lane, state, error) => {
      options.events.onState(lane, state, error)
      pumpOthers(lane)
    },
  }
  const lanes = Array.from({ length: connections }, () => laneOf({ ...options, events, underWay }))
  const [only] = lanes
  const laneFor = (/** @type {Tape} */ { connection }) => lanes[connection]

  /** @param {Turn} turn */
  const split = ({ tick, jobs }) => {
    /** @type {Map<Lane, Turn>} */
    const turns = new Map()
    for (const job of jobs) {
      const lane = laneFor(job.tape)
      const turn = turns.get(lane)
      if (turn) turn.jobs.push(job)
      else turns.set(lane, { tick, jobs: [job] })
    }
    for (const [lane, turn] of turns) lane.offer(turn)
  }

  return {
    address: options.address,
    lanes,
    offer: connections === 1 ? only.offer : split,
    /** In front of every turn. @param {Entry} entry held */
    sendFirst: (entry) => laneFor(entry.tape).sendFirst(entry),
    pump: () => {
      for (const lane of lanes) lane.pump()
    },
    connect: () => Promise.all(lanes.map((lane) => lane.connect())),
    isUp: () => lanes.every((lane) => lane.isUp()),
    /** Nothing waits for it, and no connection of it is there. */
    isUnused: () => lanes.every((lane) => !lane.isUp() && lane.isIdle()),
    /** Ticks that wait, of the connection with the most. */
    turns: () => lanes.reduce((most, lane) => Math.max(most, lane.turns()), 0),
    waitingBytes: () => lanes.reduce((sum, lane) => sum + lane.waitingBytes(), 0),
    /** Calls back when everything sent so far has an outcome or waits to be sent again. @param {() => void} then */
    whenDrained: (then) => {
      let left = lanes.length
      for (const lane of lanes)
        lane.whenDrained(() => {
          if (--left === 0) then()
        })
    },
    /** Takes out everything that is not under way. */
    takeAll: () => {
      const all = lanes.map((lane) => lane.takeAll())
      return { urgent: all.flatMap(({ urgent }) => urgent), turns: all.flatMap(({ turns }) => turns) }
    },
    close: () => {
      for (const lane of lanes) lane.close()
    },
  }
}
