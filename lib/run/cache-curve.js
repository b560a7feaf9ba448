// The share of hits that the requests of a run would have had with other memory, without a request more: they follow from the seed
// again. What a key takes beside its value is as the servers had it.
import { duesOf } from '../traffic/arrivals.js'
import { usualEviction } from '../traffic/cache-models.js'
import { missCurve, sampled } from '../traffic/miss-curve.js'
import { storedBytes } from '../traffic/sizes.js'

/**
 * @import { Shaped } from '../base/shape-types.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { cacheSection } from '../measures/cache.js'
 *
 * @typedef {Shaped<typeof cacheSection['shape']>} Measured
 */

// Where the servers do not say it: with a key of 10 characters, on Redis 7.0.15 with jemalloc.
const usualOverhead = 80
// Drawing more would take longer than a few seconds.
const mostRequests = 20e6
const wantedPct = [90, 95, 99]

/** The least bytes at which a rising share is reached; null: none are. @param {(bytes: number) => number} shareAt @param {number} wanted @param {number} most */
const leastFor = (shareAt, wanted, most) => {
  if (shareAt(most) < wanted) return null
  let [low, high] = [0, most]
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2
    if (shareAt(middle) < wanted) low = middle
    else high = middle
  }
  return high
}

/** A share that rises between known points. @param {readonly { data_bytes: number, policy_pct: number | null, lru_pct: number }[]} points */
const between = (points) => (/** @type {number} */ bytes) => {
  const share = (/** @type {typeof points[number]} */ one) => one.policy_pct ?? one.lru_pct
  const at = points.findIndex((one) => one.data_bytes >= bytes)
  if (at < 0) return share(points[points.length - 1])
  if (at === 0) return (share(points[0]) * bytes) / points[0].data_bytes
  const [a, b] = [points[at - 1], points[at]]
  const part = Math.log(bytes / a.data_bytes) / Math.log(b.data_bytes / a.data_bytes)
  return share(a) + part * (share(b) - share(a))
}

/** @param {Plan} plan @param {{ offered: number, fromMs: number, endMs: number, measured: Measured, isOfKeys: boolean }} run isOfKeys: each item has a key of its own */
export const curveOf = (plan, { offered, fromMs, endMs, measured, isOfKeys }) => {
  const { cache, clients, nominalHz, rates } = plan
  const { order, shift, churn, quantity, seed, valueBytes, valueSizes, ttlS, ttlLeastS } = plan
  if (!cache || !clients || !isOfKeys || rates || offered === 0 || offered > mostRequests) return null
  const dueMs =
    nominalHz === null
      ? (/** @type {number} */ i) => (i * endMs) / offered
      : duesOf({ ...plan, spacingMs: 1000 / nominalHz })
  const [writes, reads] = clients.ratio
  const known = measured.data_bytes !== null && measured.keys !== null && measured.keys > 0
  const overhead = known
    ? Number(measured.data_bytes) / Number(measured.keys) - storedBytes(plan)
    : usualOverhead
  const requests = {
    items: {
      ...{ order, shift, churn, quantity, count: quantity, seed },
      ...{ valueBytes, valueSizes, ttlS, ttlLeastS },
    },
    ...{ expires: clients.expires, writes, reads, batch: cache.batch, clients: clients.connections },
    ...{ dueMs, count: offered, from: Math.floor(offered * (fromMs / endMs)), filled: false },
  }
  const { policy } = measured
  const evicts = policy !== null && policy !== 'noeviction'
  const sample = sampled(requests, { overhead: Math.max(0, overhead) })
  const curve = missCurve(sample, evicts ? { policy, ...usualEviction } : null)
  const besides = known ? Math.max(0, Number(measured.memory_bytes) - Number(measured.data_bytes)) : 0
  const shareAt = between(curve.points)
  const { points, ceiling_pct, footprint_bytes, sampled_keys, sampled_part } = curve
  const here =
    measured.data_bytes === null
      ? null
      : (curve.policyAt(measured.data_bytes) ?? curve.lruAt(measured.data_bytes))
  return {
    policy: evicts ? policy : 'lru',
    points: points.map(({ data_bytes, ...shares }) => ({ memory_bytes: data_bytes + besides, ...shares })),
    needs: wantedPct.map((hit_pct) => {
      const least = leastFor(shareAt, hit_pct, footprint_bytes)
      return { hit_pct, memory_bytes: least === null ? null : least + besides }
    }),
    ...{
      ceiling_pct,
      footprint_bytes: footprint_bytes + besides,
      predicted_pct: here,
      sampled_keys,
      sampled_part,
    },
  }
}
