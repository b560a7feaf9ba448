// The share of hits that the requests of a run would have had with other memory, without a request more: they follow from the seed
// again. What a key takes beside its value is as the servers had it.
import { Worker } from 'node:worker_threads'
import { certain, exactly } from '../base/typed.js'
import { count } from '../base/units.js'
import { seedOfPart } from '../loads/parts.js'
import { duesOf } from '../traffic/arrivals.js'
import { usualEviction } from '../traffic/cache-models.js'
import { isKnownShare, longSample } from '../traffic/long-sample.js'
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
 * @property {boolean} [isLong] a sample of so many requests is drawn by itself: all are too many
 */

// Where the servers do not say it: with a key of 10 characters, on Redis 7.0.15 with jemalloc.
const usualOverhead = 80
// Drawing more would take longer than a few seconds.
const mostRequests = 20e6
const wantedPct = [90, 95, 99]
// More masters differ little from one of their memory.
const mostPools = 64

/** Masters, and that of a key by its number; null: there is one. @param {About} about */
const mastersIn = ({ plan, measured, topology }) => {
  const masters = measured.masters ?? []
  const { owners = null, masters: addresses = [] } = topology ?? {}
  const places = addresses.map((address) => masters.findIndex((one) => one.address === address))
  if (!owners || masters.length < 2 || masters.length > mostPools || places.includes(-1)) return null
  if (owners.some((owner) => owner >= places.length)) return null
  const { keyOf } = strategyOf(plan)
  return { count: masters.length, of: (/** @type {number} */ n) => places[owners[slotOf(keyOf(n))]] }
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
  const { nominalHz, totalAgents, seed, quantity } = plan
  const { expires, ratio, connections, fill } = certain(plan.clients)
  return {
    items: { ...plan, count: quantity, clients: 1 },
    expires,
    ratio,
    clients: connections,
    batch: certain(plan.cache).batch,
    // Of several boxes, each its own.
    seeds:
      totalAgents > 1
        ? Array.from({ length: totalAgents }, (_, number) => seedOfPart({ seed, box: { number } }))
        : [seed],
    dueMs:
      nominalHz === null
        ? (/** @type {number} */ i) => (i * endMs) / offered
        : duesOf({ ...plan, spacingMs: 1000 / nominalHz }),
    count: offered,
    from: Math.floor(offered * (fromMs / endMs)),
    filled: fill === 'none' ? null : (measured.policy ?? ''),
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
  const { plan, offered, measured, eviction, overhead = usualOverhead, isLong = false } = about
  if (!plan.cache || !plan.clients || plan.rates || offered === 0) return null
  if (!isLong && offered > mostRequests) return null
  // A read of a replica does not touch what its master evicts by.
  if ((plan.reads ?? 'master') !== 'master') return null
  const { policy, data_bytes: bytes, keys } = measured
  const there = bytes !== null && keys ? { bytes, keys } : null
  const masters = mastersIn(about)
  const rooms = masters ? roomsOf(measured.masters ?? []) : undefined
  const evicting =
    policy === null || policy === 'noeviction' ? null : { policy, ...(eviction ?? usualEviction) }
  const beside = { overhead: there ? Math.max(0, there.bytes / there.keys - storedBytes(plan)) : overhead }
  const hz = plan.nominalHz ?? usualHz
  const drawn = isLong
    ? longSample(
        { items: { ...plan, clients: 1, count: plan.quantity }, hz, count: offered, policy: policy ?? '' },
        beside,
      )
    : sampled({ ...requestsOf(about), masters }, beside)
  const isFull = there && evicting && (measured.evicted_per_s ?? 0) > 0
  const curve = missCurve(isFull ? anchored(drawn, evicting, there, rooms) : drawn, evicting, rooms)
  const besides = there ? Math.max(0, Number(measured.memory_bytes) - there.bytes) : 0
  const points = curve.points.map(({ data_bytes, ...shares }) => ({
    memory_bytes: data_bytes + besides,
    ...shares,
  }))
  const over = shareOver({ points: risingOf(points) })
  const whole = curve.footprint_bytes + besides
  const { ceiling_pct, sampled_keys, sampled_part } = curve
  return {
    policy: evicting?.policy ?? 'lru',
    maxmemory_samples: eviction?.samples ?? null,
    lfu_log_factor: eviction?.lfuLogFactor ?? null,
    lfu_decay_min: eviction?.lfuDecayMin ?? null,
    points,
    needs: wantedPct.map((hit_pct) => ({
      hit_pct,
      memory_bytes: over.at(whole) < hit_pct ? null : over.bytesFor(hit_pct),
    })),
    ceiling_pct,
    footprint_bytes: whole,
    predicted_pct: predictedIn(curve, about),
    sampled_keys,
    sampled_part,
  }
}

/** How the servers evict; null: they do not say it. @param {Target} target @returns {Promise<Settings | null>} */
export const evictionOf = async ({ topology, control }) => {
  try {
    const [samples, lfuLogFactor, lfuDecayMin] = await Promise.all(
      ['maxmemory-samples', 'lfu-log-factor', 'lfu-decay-time'].map(async (name) => {
        const reply = [await control(topology.masters[0]).call('CONFIG', 'GET', name)]
        return Number(reply.flat()[1])
      }),
    )
    const settings = { samples, lfuLogFactor, lfuDecayMin }
    return Object.values(settings).some(Number.isNaN) ? null : settings
  } catch {
    return null
  }
}

// So many requests for each key show what stays, if there are not too few.
const drawnOfKey = 2
const leastDrawn = 1e6
const usualHz = 50_000
// The later half is counted: by then nearly all keys of the fill have expired once.
const drawnLifetimes = 4
// Where that is too much, a sample begins with what long use leaves, and so many requests for each key on average show what stays.
const sampledOfKey = 20

/** @param {Plan} plan */
const lifetimesOf = ({ clients, ttlS, nominalHz }) =>
  clients?.expires ? Math.ceil(drawnLifetimes * ttlS * (nominalHz ?? usualHz)) : 0

/** Whether a sample is drawn by itself. By volatile-ttl what stays depends on the lifetimes of the few most popular keys. @param {Plan} plan @param {string} policy */
const isSampledAlone = (plan, policy) =>
  lifetimesOf(plan) > mostRequests &&
  !(policy === 'volatile-ttl' && plan.ttlLeastS !== null) &&
  isKnownShare(plan) &&
  plan.cache?.batch === 1 &&
  plan.clients?.ratio[0] === 0

/** Why the requests that are drawn are too few to show what expires; null: they are enough. @param {Plan} plan @param {string} policy */
export const tooLongLived = (plan, policy) => {
  const drawn = lifetimesOf(plan)
  if (drawn <= mostRequests || isSampledAlone(plan, policy)) return null
  const hz = plan.nominalHz ?? usualHz
  const most = mostRequests / drawnLifetimes / hz
  const instead = [
    most >= 1 && `--ttl of at most ${Math.floor(most)}s`,
    `--items and --rate divided by ${count(Math.ceil(drawn / mostRequests))}, and multiply the memory`,
  ]
  return `--ttl ${plan.ttlS}s at ${count(hz)} requests/s: ${drawnLifetimes} lifetimes have ${count(drawn)} requests, and at most ${count(mostRequests)} are drawn; give ${instead.filter(Boolean).join(', or ')}`
}

/**
 * The curve of a cache that has been in use, before any run.
 * @param {Plan} plan
 * @param {{ policy: string, overhead?: number, stopNow: AbortSignal }} about
 */
export const drawnCurve = ({ clients, ...plan }, { policy, overhead, stopNow }) => {
  const lifetimes = lifetimesOf({ ...plan, clients })
  const least = Math.max(leastDrawn, drawnOfKey * plan.quantity, lifetimes > mostRequests ? 0 : lifetimes)
  const isLong = isSampledAlone({ ...plan, clients }, policy)
  const offered = isLong
    ? Math.min(lifetimes, Math.max(leastDrawn / 2, sampledOfKey * plan.quantity))
    : Math.min(mostRequests, least)
  const endMs = (offered * 1000) / (plan.nominalHz ?? usualHz)
  const filled = clients && { ...clients, fill: exactly('keys') }
  const measured = { policy, memory_bytes: null, data_bytes: null, keys: null }
  const about = { offered, fromMs: endMs / 2, endMs, measured, eviction: null, overhead, isLong }
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
