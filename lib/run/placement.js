// Whether several sorted sets are evenly distributed over the masters, by the current map of slots.
import { several } from '../base/units.js'
import { slotOf } from '../wire/slot.js'
import { strategyOf } from '../workloads/bound-strategy.js'

/**
 * @import { Plan } from '../loads/plan.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Layout } from '../servers/topology.js'
 */

// Keys of a minute are many over a run, so one of them does not matter.
const mostShared = 64

/** @param {Plan} plan @param {Layout | { masters: string[], owners: Uint16Array | null }} topology @returns {Warning[]} */
export const placementWarnings = ({ sets, placement }, { masters, owners }) => {
  if (!owners || masters.length < 2 || placement === 'same-slot') return []
  if (sets.length < (placement === 'spread' ? 1 : 2)) return []
  const perMaster = masters.map((_, index) => sets.filter((set) => owners[slotOf(set)] === index).length)
  const few = placement === 'spread' && sets.length < masters.length
  if (!few && Math.max(...perMaster) - Math.min(...perMaster) <= 1) return []
  const list = perMaster.map((n, i) => `shard ${i + 1} ${n}`).join(', ')
  const advice = few
    ? `--ns ${masters.length} or a multiple of it reaches every shard`
    : placement === 'spread'
      ? 'the slots themselves lie unevenly'
      : 'use --spread'
  return [
    {
      code: 'placement',
      message: `${several(sets.length, 'sorted set')} are spread unevenly over the shards (${list}); ${advice}`,
      invalidates: false,
    },
  ]
}

/**
 * The keys that gather ids or values of many items, each with its shard: one of them can make a shard busier than the
 * others.
 * @param {Plan} plan
 * @param {{ masters: string[], owners: Uint16Array | null }} topology
 * @returns {{ key: string, shard: number }[]}
 */
export const sharedKeysOf = (plan, { owners }) => {
  if (!owners) return []
  const now = Math.floor(Date.now() / 60_000)
  const counts = strategyOf(plan).holders().counts(now)
  const keys = [...new Set(counts.flatMap(({ keys: [...each] }) => each))]
  return keys.length > mostShared ? [] : keys.map((key) => ({ key, shard: owners[slotOf(key)] + 1 }))
}
