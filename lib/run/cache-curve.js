// The share of hits that the requests of a run would have had with other memory, without a request more: they follow from the seed
// again. What a key takes beside its value is as the servers had it.
import { Worker } from 'node:worker_threads'
import { certain, exactly } from '../base/typed.js'
import { seedOfPart } from '../loads/parts.js'
import { duesOf } from '../traffic/arrivals.js'
import { usualEviction } from '../traffic/cache-models.js'
import { anchored, missCurve, sampled } from '../traffic/miss-curve.js'
import { risingOf, shareOver } from '../traffic/share-by-memory.js'
import { storedBytes } from '../traffic/sizes.js'
import { slotOf } from '../wire/slot.js'
import { strategyOf } from '../workloads/bound-strategy.js'

/**
 * @import { Shaped } from '../base/shape-types.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { cacheSection } from '../measures/cache.js'
 * @import { Target } from '../servers/open.js'
 * @import { Eviction } from '../traffic/cache-models.js'
 *
 * @typedef {Shaped<typeof cacheSection['shape']>} Measured
 * @typedef {Omit<Eviction, 'policy'>} Settings how a server evicts
 *
 * @typedef {object} About
 * @property {Plan} plan
 * @property {number} offered
 * @property {number} fromMs
 * @property {number} endMs
 * @property {Pick<Measured, 'policy' | 'memory_bytes' | 'data_bytes' | 'keys'> & Partial<Pick<Measured, 'evicted_per_s' | 'masters'>>} measured
 * @property {{ masters: readonly string[], owners: Uint16Array | null }} [topology] of a cluster
 * @property {number | null} [filled] keys that were written before the run; null: it is not known how many
 * @property {Settings | null} eviction null: not known
 * @property {number} [overhead] bytes that a key takes beside its value, where nothing was measured
 */

// Where the servers do not say it: with a key of 10 characters, on Redis 7.0.15 with jemalloc.
const usualOverhead = 80
// Drawing more would take longer than a few seconds.
const mostRequests = 20e6
const wantedPct = [90, 95, 99]
// More masters differ little from one of their memory.
const mostPools = 64

/** The master of each key, by its number; null: there is one. @param {About} about */
const poolIn = ({ plan, measured, topology }) => {
  const masters = measured.masters ?? []
  const { owners = null, masters: addresses = [] } = topology ?? {}
  const places = addresses.map((address) => masters.findIndex((one) => one.address === address))
  if (!owners || masters.length < 2 || masters.length > mostPools || places.includes(-1)) return null
  if (owners.some((owner) => owner >= places.length)) return null
  const { keyOf } = strategyOf(plan)
  return (/** @type {number} */ n) => places[owners[slotOf(keyOf(n))]]
}

/** What the keys of each master may take, of so much of all: their limits are the same, and what they take besides is not. @param {NonNullable<About['measured']['masters']>} masters */
const roomsOf = (masters) => {
  const besides = masters.map((one) => Math.max(0, (one.memory_bytes ?? 0) - (one.data_bytes ?? 0)))
  const all = besides.reduce((sum, n) => sum + n, 0)
  return (/** @type {number} */ bytes) =>
    besides.map((own) => Math.max(0, (bytes + all) / masters.length - own))
}

/** The requests, as they were drawn. @param {About} about */
const requestsOf = ({ plan, offered, fromMs, endMs, measured }) => {
  const { nominalHz, totalAgents, cache: ofCache, clients: ofClients } = plan
  const { order, shift, churn, quantity, seed, valueBytes, valueSizes, ttlS, ttlLeastS } = plan
  const [cache, clients] = [certain(ofCache), certain(ofClients)]
  const dueMs =
    nominalHz === null
      ? (/** @type {number} */ i) => (i * endMs) / offered
      : duesOf({ ...plan, spacingMs: 1000 / nominalHz })
  const [writes, reads] = clients.ratio
  return {
    items: {
      order,
      shift,
      churn,
      quantity,
      count: quantity,
      seed,
      valueBytes,
      valueSizes,
      ttlS,
      ttlLeastS,
    },
    expires: clients.expires,
    writes,
    reads,
    batch: cache.batch,
    clients: clients.connections,
    // Of several boxes, each its own.
    seeds:
      totalAgents > 1
        ? Array.from({ length: totalAgents }, (_, number) => seedOfPart({ seed, box: { number } }))
        : [seed],
    dueMs,
    count: offered,
    from: Math.floor(offered * (fromMs / endMs)),
    filled: clients.fill === 'none' ? null : (measured.policy ?? ''),
  }
}

/** The share of hits with the memory of the run; null: what was there is not known. @param {ReturnType<typeof missCurve>} curve @param {About} about */
const predictedIn = (curve, { measured, filled = null }) => {
  const { data_bytes: bytes, evicted_per_s: evicted } = measured
  if (bytes === null) return null
  if (evicted !== 0) return curve.policyAt(bytes) ?? curve.lruAt(bytes)
  return filled === null ? null : curve.allKept(filled)
}

/** @param {About} about */
export const curveOf = (about) => {
  const { plan, offered, measured, eviction } = about
  const { cache, clients, rates } = plan
  if (!cache || !clients || rates || offered === 0 || offered > mostRequests) return null
  const { policy } = measured
  const known = measured.data_bytes !== null && measured.keys !== null && measured.keys > 0
  const overhead = known
    ? Number(measured.data_bytes) / Number(measured.keys) - storedBytes(plan)
    : (about.overhead ?? usualOverhead)
  const poolOf = poolIn(about)
  const rooms = poolOf ? roomsOf(measured.masters ?? []) : undefined
  const evicts = policy !== null && policy !== 'noeviction'
  const evicting = evicts ? { policy, ...(eviction ?? usualEviction) } : null
  const drawn = sampled({ ...requestsOf(about), poolOf }, { overhead: Math.max(0, overhead) })
  const isFull = known && evicting && (measured.evicted_per_s ?? 0) > 0
  const there = { bytes: Number(measured.data_bytes), keys: Number(measured.keys) }
  const sample = isFull ? anchored(drawn, evicting, there, rooms) : drawn
  const curve = missCurve(sample, evicting, rooms)
  const besides = known ? Math.max(0, Number(measured.memory_bytes) - Number(measured.data_bytes)) : 0
  const points = curve.points.map(({ data_bytes, ...shares }) => ({
    memory_bytes: data_bytes + besides,
    ...shares,
  }))
  const over = shareOver({ points: risingOf(points) })
  const { ceiling_pct, footprint_bytes, sampled_keys, sampled_part } = curve
  return {
    policy: evicts ? policy : 'lru',
    maxmemory_samples: eviction?.samples ?? null,
    lfu_log_factor: eviction?.lfuLogFactor ?? null,
    lfu_decay_min: eviction?.lfuDecayMin ?? null,
    points,
    needs: wantedPct.map((hit_pct) => ({
      hit_pct,
      memory_bytes: over.at(footprint_bytes + besides) < hit_pct ? null : over.bytesFor(hit_pct),
    })),
    ceiling_pct,
    footprint_bytes: footprint_bytes + besides,
    predicted_pct: predictedIn(curve, about),
    sampled_keys,
    sampled_part,
  }
}

/** How the servers evict; null: they do not say it. @param {Target} target @returns {Promise<Settings | null>} */
export const evictionOf = async ({ topology, control }) => {
  try {
    const asked = await Promise.all(
      ['maxmemory-samples', 'lfu-*'].map((name) => control(topology.masters[0]).call('CONFIG', 'GET', name)),
    )
    const texts = asked.flat().map(String)
    const [samples, lfuLogFactor, lfuDecayMin] = ['maxmemory-samples', 'lfu-log-factor', 'lfu-decay-time']
      .map((name) => texts.indexOf(name))
      .map((at) => (at < 0 ? Number.NaN : Number(texts[at + 1])))
    return [samples, lfuLogFactor, lfuDecayMin].some(Number.isNaN)
      ? null
      : { samples, lfuLogFactor, lfuDecayMin }
  } catch {
    return null
  }
}

// So many requests for each key show what stays, if there are not too few.
const drawnOfKey = 2
const leastDrawn = 1e6
const usualHz = 50_000

/**
 * The curve of a cache that has been in use, before any run.
 * @param {Plan} plan
 * @param {{ policy: string, overhead?: number, stopNow: AbortSignal }} about
 */
export const drawnCurve = ({ clients, ...plan }, { policy, overhead, stopNow }) => {
  const offered = Math.min(mostRequests, Math.max(leastDrawn, drawnOfKey * plan.quantity))
  const endMs = (offered * 1000) / (plan.nominalHz ?? usualHz)
  const filled = clients && { ...clients, fill: exactly('keys') }
  const measured = { policy, memory_bytes: null, data_bytes: null, keys: null }
  const about = { offered, fromMs: endMs / 2, endMs, measured, eviction: null, overhead }
  return curveAside({ plan: { ...plan, clients: filled }, ...about }, stopNow)
}

// Of what is soon garbage a thread would keep 48 MB.
const youngMb = 2

/** The curve, by a thread of its own; null: there is none. @param {About} about @param {AbortSignal} stopNow @returns {Promise<ReturnType<typeof curveOf>>} */
export const curveAside = async (about, stopNow) => {
  const worker = new Worker(new URL('cache-curve-thread.js', import.meta.url), {
    workerData: about,
    env: {},
    argv: [],
    execArgv: [],
    name: 'miss-curve',
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  })
  const stop = () => worker.terminate()
  stopNow.addEventListener('abort', stop)
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => resolve(null))
    })
  } finally {
    stopNow.removeEventListener('abort', stop)
    await worker.terminate()
  }
}
