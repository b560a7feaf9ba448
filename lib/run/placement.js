// Whether several sorted sets lie evenly over the masters, by the map as it is now.
import { several } from '../base/units.js'
import { slotOf } from '../wire/slot.js'

/**
 * @param {import('../plan/plan.js').Plan} plan
 * @param {import('../target/topology.js').Layout | { masters: string[], owners: Uint16Array | null }} topology
 * @returns {import('../result/verdict.js').Warning[]}
 */
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
      message: `${several(sets.length, 'sorted set')} lie unevenly over the shards (${list}); ${advice}`,
      invalidates: false,
    },
  ]
}
