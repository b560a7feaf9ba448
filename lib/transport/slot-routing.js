// Divides commands over the owners of their slots: a tick that is offered, and all that waits when the map has changed.

/**
 * @import { TickValues } from '../wire/encode.js'
 * @import { Entry, Tick } from './tick-entry.js'
 * @import { Batch } from './batch.js'
 * @import { Pool } from './server-queues.js'
 * @import { Job, TickJobs } from './send-queue.js'
 * @import { slotMapOf } from './slot-map.js'
 *
 * @typedef {ReturnType<typeof slotMapOf>} SlotMap
 * @typedef {{ batch: Batch, values: TickValues }} Pass
 */

/**
 * @param {object} needs
 * @param {SlotMap} needs.map
 * @param {() => Iterable<Pool>} needs.pools
 * @param {(address: string) => Pool} needs.poolAt
 */
export const slotRoutingOf = ({ map, pools, poolAt }) => {
  /** @param {Map<Pool, TickJobs>} byPool @param {Tick} tick @param {Pool} pool @param {Job} job */
  const put = (byPool, tick, pool, job) => {
    const known = byPool.get(pool)
    if (known) known.jobs.push(job)
    else byPool.set(pool, { tick, jobs: [job] })
  }

  /** The pool that a retry goes to now. @param {Entry} entry of one slot */
  const poolFor = (entry) => poolAt(entry.goTo ?? map.ownerOf(entry.batch.slotAt(entry.from, entry.values)))

  /** @param {TickJobs[]} waiting oldest first */
  const routeAgain = (waiting) => {
    /** @type {Map<Tick, Map<Pool, TickJobs>>} */
    const byTick = new Map()
    for (const { tick, jobs } of waiting) {
      const byPool = byTick.get(tick) ?? new Map()
      byTick.set(tick, byPool)
      for (const { batch, values, ranges: old, at } of jobs) {
        for (let r = at; r < old.length; r += 2) {
          for (const [address, ranges] of map.split(batch, values, old[r], old[r + 1])) {
            put(byPool, tick, poolAt(address), { batch, values, ranges, at: 0 })
          }
        }
      }
    }
    for (const byPool of byTick.values()) for (const [pool, tickJobs] of byPool) pool.offer(tickJobs)
  }

  return {
    /** A tick's commands, each to the owner of its slot. @param {Tick} tick @param {Pass[]} passes */
    offer(tick, passes) {
      /** @type {Map<Pool, TickJobs>} */
      const byPool = new Map()
      for (const { batch, values } of passes) {
        for (const [address, ranges] of map.rangesOf(batch, values)) {
          put(byPool, tick, poolAt(address), { batch, values, ranges: ranges.slice(), at: 0 })
        }
      }
      for (const [pool, tickJobs] of byPool) pool.offer(tickJobs)
      return byPool.keys()
    },

    poolFor,

    /** Sends everything that waits by the current map. */
    again() {
      /** @type {Entry[]} */
      const urgent = []
      /** @type {TickJobs[]} */
      const waiting = []
      for (const pool of pools()) {
        const all = pool.takeAll()
        urgent.push(...all.urgent)
        waiting.push(...all.waiting)
      }
      for (const entry of urgent) poolFor(entry).sendFirst(entry)
      routeAgain(waiting.sort((a, b) => a.tick.index - b.tick.index))
      for (const pool of pools()) pool.pump()
    },
  }
}
