// The distribution that the plan's draws really had. The same functions of the seed are drawn again after the run, so that
// counting costs the run nothing. Exact for the first items offered, up to a limit; in a closed loop only the times of its
// operations differ.
import { chunkRange } from '../base/ranges.js'
import { writingOf } from '../loads/index.js'
import { namesOfKind } from '../loads/names.js'
import { drawsOfPart, partsOf, seedOfPart } from '../loads/parts.js'
import { arrivalsWords, duesOf } from '../traffic/arrivals.js'
import { batchDraws, isDrawn, itemsWords } from '../traffic/items.js'
import { lifetimeOf, lifetimeWords } from '../traffic/lifetimes.js'
import { picksOf } from '../traffic/operations.js'
import { shownSizes, sizeOf } from '../traffic/sizes.js'
import { storesValues } from '../workloads/command-features.js'
import { strategyNamed } from '../workloads/index.js'

/** @import { Plan } from '../loads/plan.js' */

const mostDraws = 200_000

/** The plans of its threads. @param {Plan} plan */
const partsIn = (plan) => partsOf(plan, writingOf(plan).sharing)

/**
 * The numbers of the items that were offered first, tick by tick of each writer, or operation by operation.
 * @param {Plan} plan
 * @param {number} draws
 * @param {number} endMs
 */
const itemsDrawn = (plan, draws, endMs) => {
  const items = new Float64Array(draws)
  if (!namesOfKind(plan).inBatches) {
    const parts = partsIn(plan).map((part) => ({
      draw: drawsOfPart(part, { count: plan.items, quantity: plan.quantity }),
      connections: part.connections,
    }))
    const due =
      plan.nominalHz === null
        ? (/** @type {number} */ i) => (i * endMs) / draws
        : duesOf({ ...plan, spacingMs: 1000 / plan.nominalHz })
    for (let i = 0; i < draws; i++) {
      const { draw, connections } = parts[i % parts.length]
      items[i] = draw(due(i), Math.floor(i / parts.length) % connections)
    }
    return items
  }
  const drawn = plan.agents.map((range) => (isDrawn(plan) ? batchDraws(plan, range) : null))
  for (let tick = 0, at = 0; at < draws; tick++) {
    for (const [a, range] of plan.agents.entries()) {
      const chunk = chunkRange(range, plan.chunks, tick % plan.chunks)
      const first = chunk.first + (plan.once ? Math.floor(tick / plan.chunks) * plan.quantity : 0)
      const batch = drawn[a]?.(chunk, tick * plan.spacingMs)
      for (let i = 0; i < chunk.count && at < draws; i++) items[at++] = batch ? batch[i] : first + i
    }
  }
  return items
}

/** @param {Float64Array} values */
const spread = (values) => {
  const sorted = values.toSorted()
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length
  return { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted[sorted.length - 1] }
}

/** Shares of the draws that went to the most drawn items. @param {Float64Array} items @param {number} quantity */
const popularity = (items, quantity) => {
  /** @type {Map<number, number>} */
  const counts = new Map()
  for (const n of items) counts.set(n, (counts.get(n) ?? 0) + 1)
  const sorted = Float64Array.from(counts.values()).sort().reverse()
  const shareOfTop = (/** @type {number} */ share) => {
    const top = sorted.subarray(0, Math.max(1, Math.round(share * quantity)))
    return (top.reduce((sum, n) => sum + n, 0) / items.length) * 100
  }
  return { distinct: counts.size, top_1_pct: shareOfTop(0.01), top_10_pct: shareOfTop(0.1) }
}

/** @param {Plan} plan @param {number} draws */
const operationsIn = (plan, draws) => {
  const { clients } = plan
  const ratio = clients?.ratio ?? []
  const names = ['writes', 'reads', 'deletes'].filter((_, i) => (ratio[i] ?? 0) > 0)
  const counts = names.map(() => 0)
  const weights = ratio.filter((weight) => weight > 0)
  const picks = partsIn(plan).map((part) => picksOf(weights, seedOfPart(part)))
  for (let i = 0; i < draws; i++) counts[picks[i % picks.length]()]++
  return { stated: ratio.join(':'), ...Object.fromEntries(names.map((name, i) => [name, counts[i]])) }
}

/** Gaps between what is due. @param {Plan} plan @param {number} draws */
const gapsIn = (plan, draws) => {
  const { inBatches } = namesOfKind(plan)
  const due = duesOf({ ...plan, spacingMs: inBatches ? plan.spacingMs : 1000 / Number(plan.nominalHz) })
  const events = Math.max(2, inBatches ? Math.ceil((draws * plan.chunks) / plan.items) : draws)
  const gaps = new Float64Array(events - 1)
  for (let i = 1, before = due(0); i < events; i++) {
    const at = due(i)
    gaps[i - 1] = at - before
    before = at
  }
  return { stated: arrivalsWords(plan.arrivals), gap_ms: spread(gaps) }
}

/** @param {Plan} plan @param {{ offered: number, endMs: number }} run */
export const trafficOf = (plan, { offered, endMs }) => {
  const draws = Math.min(mostDraws, offered)
  if (draws === 0) return null
  const items = itemsDrawn(plan, draws, endMs)
  const isMix = !namesOfKind(plan).inBatches && strategyHasMix(plan)
  return {
    draws,
    items: { stated: itemsWords(plan), ...popularity(items, plan.items) },
    ...(storesValues(plan.strategy) && {
      value_bytes: {
        stated: plan.valueSizes === null ? 'fixed' : shownSizes(plan.valueSizes),
        ...spread(Float64Array.from(items, sizeOf(plan))),
      },
    }),
    ...(namesOfKind(plan).expires && {
      ttl_s: { stated: lifetimeWords(plan), ...spread(Float64Array.from(items, lifetimeOf(plan))) },
    }),
    ...(plan.nominalHz !== null && plan.pacing !== 'closed' && { arrivals: gapsIn(plan, draws) }),
    ...(isMix && { operations: operationsIn(plan, draws) }),
  }
}

/** @param {Plan} plan */
const strategyHasMix = ({ strategy }) => strategyNamed(strategy).options.includes('ratio')
