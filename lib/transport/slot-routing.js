// Deals what is to be sent to the owners of its slots: a tick that is offered, and all that waits when the map has
// changed.

/**
 * @import { TickValues } from '../wire/encode.js'
 * @import { Entry, Tick } from './connection.js'
 * @import { EncodedBatch } from './encoded-batch.js'
 * @import { Pool } from './pool.js'
 * @import { Job, TickShare } from './send-queue.js'
 * @import { slotMapOf } from './slot-map.js'
 *
 * @typedef {ReturnType<typeof slotMapOf>} SlotMap
 * @typedef {{ encoded: EncodedBatch, values: TickValues }} Pass
 */

/**
 * @param {object} needs
 * @param {SlotMap} needs.map
 * @param {() => Iterable<Pool>} needs.pools
 * @param {(address: string) => Pool} needs.poolAt
 */
export const slotRoutingOf = ({ map, pools, poolAt }) => {
  /** @param {Map<Pool, TickShare>} shares @param {Tick} tick @param {Pool} pool @param {Job} job */
  const put = (shares, tick, pool, job) => {
    const share = shares.get(pool)
    if (share) share.jobs.push(job)
    else shares.set(pool, { tick, jobs: [job] })
  }

  /** To whom a repeat goes now. @param {Entry} entry of one slot */
  const poolFor = (entry) => poolAt(entry.goTo ?? map.ownerOf(entry.encoded.slotAt(entry.from, entry.values)))

  /** @param {TickShare[]} waiting oldest first */
  const dealTurns = (waiting) => {
    /** @type {Map<Tick, Map<Pool, TickShare>>} */
    const dealt = new Map()
    for (const { tick, jobs } of waiting) {
      const shares = dealt.get(tick) ?? new Map()
      dealt.set(tick, shares)
      for (const { encoded, values, ranges: old, at } of jobs) {
        for (let r = at; r < old.length; r += 2) {
          for (const [address, ranges] of map.split(encoded, values, old[r], old[r + 1])) {
            put(shares, tick, poolAt(address), { encoded, values, ranges, at: 0 })
          }
        }
      }
    }
    for (const shares of dealt.values()) for (const [pool, share] of shares) pool.offer(share)
  }

  return {
    /** A tick's commands, each to the owner of its slot. @param {Tick} tick @param {Pass[]} passes */
    offer(tick, passes) {
      /** @type {Map<Pool, TickShare>} */
      const shares = new Map()
      for (const { encoded, values } of passes) {
        for (const [address, ranges] of map.rangesOf(encoded, values)) {
          put(shares, tick, poolAt(address), { encoded, values, ranges: ranges.slice(), at: 0 })
        }
      }
      for (const [pool, share] of shares) pool.offer(share)
      return shares.keys()
    },

    poolFor,

    /** Everything that waits, by the map as it is now. */
    again() {
      const urgent = /** @type {Entry[]} */ ([])
      const waiting = /** @type {TickShare[]} */ ([])
      for (const pool of pools()) {
        const all = pool.takeAll()
        urgent.push(...all.urgent)
        waiting.push(...all.shares)
      }
      for (const entry of urgent) poolFor(entry).sendFirst(entry)
      dealTurns(waiting.sort((a, b) => a.tick.index - b.tick.index))
      for (const pool of pools()) pool.pump()
    },
  }
}
