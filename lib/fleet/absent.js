// Items without an outcome on any box: those of writers that never came, came late, or died. Other writers do not take them
// over.
import { chunkRange } from '../base/ranges.js'
import { certain } from '../base/typed.js'

/**
 * @import { Counts } from '../probes/ledger.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Sums } from './interval.js'
 */

/**
 * Items that a writer's schedule has in a range of ticks.
 * @param {Plan} plan
 * @param {{ first: number, count: number }} range
 * @param {number} from
 * @param {number} to
 */
const plannedItems = ({ chunks }, range, from, to) => {
  if (to <= from) return 0
  const upTo = (/** @type {number} */ ticks) => {
    let items = Math.floor(ticks / chunks) * range.count
    for (let k = 0; k < ticks % chunks; k++) items += chunkRange(range, chunks, k).count
    return items
  }
  return upTo(to) - upTo(from)
}

/** @param {Counts} counts */
const outcomesIn = ({ acked, failed, uncertain, dropped }) => acked + failed + uncertain + dropped

/**
 * What each writer's boxes have counted, and what is missing of its part. What a box that died had under way is missing
 * too: its outcome is unknown.
 * @param {object} known
 * @param {Plan} known.plan of all writers
 * @param {number} known.ticks that the run had
 * @param {readonly { sums: Sums, isLost: boolean }[]} known.boxes
 */
export const absentOf = ({ plan, ticks, boxes }) => {
  const warmTicks = Math.min(ticks, Math.ceil(plan.warmUpMs / plan.spacingMs - 1e-9))
  const scheduled = plan.schedule !== 'none'
  const measuredShare = (/** @type {typeof boxes[number]} */ { sums }) =>
    sums.whole.offered > 0 ? sums.measured.offered / sums.whole.offered : 0
  /** @type {Map<number, { accounted: number, offered: number, measured: number, unsettled: number }>} */
  const by = new Map(
    plan.agents.map(({ agent }) => [agent, { accounted: 0, offered: 0, measured: 0, unsettled: 0 }]),
  )
  for (const box of boxes) {
    for (const counts of box.sums.agents) {
      const one = by.get(counts.agent)
      if (!one) continue
      const unsettled = box.isLost ? 0 : counts.unsettled
      const accounted = outcomesIn(counts) + unsettled
      one.accounted += accounted
      one.offered += counts.offered
      one.unsettled += unsettled
      // A box's writers end together, so their parts of the window are those of the box.
      one.measured += accounted * measuredShare(box)
    }
  }
  const agents = plan.agents.map((range) => {
    const { accounted, offered, measured } = certain(by.get(range.agent))
    const planned = scheduled ? Math.max(plannedItems(plan, range, 0, ticks), accounted) : offered
    const window = scheduled ? plannedItems(plan, range, warmTicks, ticks) : measured
    return {
      agent: range.agent,
      planned,
      absent: Math.max(0, planned - accounted),
      window,
      absentInWindow: Math.max(0, window - measured),
    }
  })
  const sum = (/** @type {(one: typeof agents[number]) => number} */ pick) =>
    agents.reduce((total, one) => total + pick(one), 0)
  const absent = sum((one) => one.absent)
  const window = sum((one) => one.window)
  return {
    agents,
    absent,
    share: absent === 0 || window === 0 ? 0 : Math.min(1, sum((one) => one.absentInWindow) / window),
  }
}
