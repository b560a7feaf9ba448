// Whether several sorted sets lie evenly over the masters, by the map as it is now.
import { several } from '../report/units.js'
import { slotOf } from '../wire/slot.js'

/**
 * @param {import('../plan/plan.js').Plan} plan
 * @param {import('../target/topology.js').Layout | { masters: string[], owners: Uint16Array | null }} topology
 * @returns {import('../report/verdict.js').Warning[]}
 */
export const placementWarnings = ({ sets, placement }, { masters, owners }) => {
  if (!owners || sets.length < 2 || masters.length < 2 || placement === 'same-slot') return []
  const perMaster = masters.map((_, index) => sets.filter((set) => owners[slotOf(set)] === index).length)
  if (Math.max(...perMaster) - Math.min(...perMaster) <= 1) return []
  const list = perMaster.map((n, i) => `shard ${i + 1} ${n}`).join(', ')
  const advice = placement === 'spread' ? 'the slots themselves lie unevenly' : 'use --spread'
  return [
    {
      code: 'placement',
      message: `${several(sets.length, 'sorted set')} lie unevenly over the shards (${list}); ${advice}`,
      invalidates: false,
    },
  ]
}
