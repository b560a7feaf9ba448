// The keys and bytes of the masters before the first write and after the last. Items of an earlier run are waited for if
// they soon expire; otherwise their memory is measured separately.
import { sleep } from '../base/settlement.js'
import { atMost } from '../base/timers.js'
import { period } from '../base/units.js'
import { announcementOf } from '../plan/announcement.js'
import { isLease, typesOfPlan } from '../plan/ownership.js'
import { dataBytesIn, dataIn } from '../probes/baseline.js'
import { scan } from '../servers/left-keys.js'
import { ownerOf } from '../servers/topology.js'
import { lengthMs } from './second.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Plan } from '../loads/plan.js'
 * @import { Strange, StoredData } from '../probes/memory-cost.js'
 * @import { Target } from '../servers/open.js'
 * @import { WriteRun } from './write-run.js'
 * @import { strategyOf } from '../workloads/bound-strategy.js'
 */

// Ids that an earlier run left in our sorted sets: older than the ttl, and not in a window of any purge.

const atOnce = 1000

/**
 * Removes them a thousand at a time, so that no other client waits long. Returns how many.
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {readonly string[]} sets
 * @param {number} deadBeforeMs epoch
 */
export const removeExpiredIds = async ({ topology, control }, sets, deadBeforeMs) => {
  let removed = 0
  for (const set of sets) {
    const client = control(ownerOf(topology, set))
    for (;;) {
      const dead = await client.zrangebyscoreBuffer(set, '-inf', `(${deadBeforeMs}`, 'LIMIT', 0, atOnce)
      if (!Array.isArray(dead) || dead.length === 0) break
      const gone = Number(await client.zrem(set, ...dead))
      // Another client removes them as well, or the answers are not usable.
      if (!(gone > 0)) break
      removed += gone
    }
  }
  return removed
}

// How many items a plan's keys hold that gather items: asked of the servers, a command a key.

/** @typedef {ReturnType<typeof strategyOf>} Strategy */

// How many answers are waited for at once.
const askedAtOnce = 1000
const samples = 1000

/**
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {Pick<Strategy, 'holders'>} strategy
 * @param {number} nowMs epoch
 * @returns {Promise<number[]>} of each family of such keys
 */
const gatheredIn = (target, strategy, nowMs) => ofHolders(target, strategy, nowMs, ({ command }) => [command])

/**
 * Bytes of the same keys, by enough of their elements.
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {Pick<Strategy, 'holders'>} strategy
 * @param {number} nowMs epoch
 */
const holderBytesIn = (target, strategy, nowMs) =>
  ofHolders(target, strategy, nowMs, () => ['MEMORY', 'USAGE'], ['SAMPLES', String(samples)])

/**
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {Pick<Strategy, 'holders'>} strategy
 * @param {number} nowMs epoch
 * @param {(holder: { command: string }) => string[]} ask words before the key
 * @param {string[]} [after] words behind it
 * @returns {Promise<number[]>} the sum of each family
 */
const ofHolders = async ({ topology, control }, strategy, nowMs, ask, after = []) => {
  /** @type {number[]} */
  const counts = []
  for (const { keys, ...holder } of strategy.holders().counts(Math.floor(nowMs / 60_000))) {
    let sum = 0
    for (let from = 0; from < keys.length; from += askedAtOnce) {
      const some = keys.slice(from, from + askedAtOnce)
      const [name, ...before] = ask(holder)
      const asked = some.map((key) => control(ownerOf(topology, key)).call(name, ...before, key, ...after))
      for (const n of await Promise.all(asked)) sum += Number(n)
    }
    counts.push(sum)
  }
  return counts
}

const answerLimitMs = 2000
const longestWaitMs = 30_000
const checkEveryMs = 200
// As a part of the items of a run: fewer are no reason to wait.
const fewItems = 1 / 100
// Of which the sizes are asked for.
const mostSized = 20
// A SCAN of this many keys takes some tenths of a second.
const mostScanned = 200_000
const calmShare = 0.99
const calmSamples = 3
const mostSamples = 15

/** Null where a server does not answer in time. @template T @param {Promise<T>} asked */
const orNull = async (asked) =>
  (await atMost(
    answerLimitMs,
    asked.catch(() => null),
  )) ?? null

const fewestFound = 5

/**
 * Keys of a master that are neither of the plan nor leases, by the first names of a SCAN, which are in the order of their
 * hashes.
 * @param {Redis} client
 * @param {(key: string) => string | null} typeOf
 * @returns {Promise<Strange>}
 */
const strangeOn = async (client, typeOf) => {
  for await (const names of scan(client)) {
    const found = names.filter((name) => typeOf(name) === null && !isLease(name))
    const some = found.slice(0, mostSized)
    const sizes = await Promise.all(some.map((name) => client.call('MEMORY', 'USAGE', name)))
    const share = found.length / Math.max(1, names.length)
    // Of a few names nothing follows for the others.
    const keys = found.length < fewestFound ? found.length : share * Number(await client.dbsize())
    return { keys, bytes: some.length === 0 ? 0 : (keys * sum(sizes.map(Number))) / some.length }
  }
  return { keys: 0, bytes: 0 }
}

/** @param {Target} target @param {Plan} plan @returns {Promise<Strange>} */
const strangeIn = async ({ topology, control }, plan) => {
  const now = Date.now()
  const typeOf = typesOfPlan({ ...announcementOf(plan, ''), startedMs: now, renewedMs: now, ended: false })
  const each = await Promise.all(topology.masters.map((address) => strangeOn(control(address), typeOf)))
  return { keys: sum(each.map(({ keys }) => keys)), bytes: sum(each.map(({ bytes }) => bytes)) }
}

const sum = (/** @type {readonly number[]} */ all) => all.reduce((total, n) => total + n, 0)

/**
 * Keys and bytes of the masters; where a server does not answer now, those of the sampler's last answers.
 * @param {Target} target
 * @param {Pick<WriteRun, 'plan' | 'strategy' | 'sampler'>} run
 * @param {boolean} isApart whether the memory of keys that gather items is measured separately
 * @returns {Promise<StoredData>}
 */
export const storedDataIn = async (target, { plan, strategy, sampler }, isApart) => {
  const nowMs = Date.now()
  const [gathered, strange, data] = await Promise.all([
    orNull(gatheredIn(target, strategy, nowMs)),
    orNull(strangeIn(target, plan)),
    orNull(dataIn(target)),
  ])
  const holderBytes = !isApart
    ? null
    : sum(gathered ?? []) === 0
      ? (gathered?.map(() => 0) ?? null)
      : await orNull(holderBytesIn(target, strategy, nowMs))
  // Bytes are divided by keys, so both are of the same answer: a stalled server may have answered the sampler long ago.
  return { ...(data ?? sampler.lastStoredData()), gathered, strange, holderBytes }
}

/**
 * Items of an earlier run that are still there: the ids in gathering keys, or an estimate from the first keys of a SCAN,
 * which are in the order of their hashes.
 * @param {Target} target
 * @param {WriteRun['strategy']} strategy
 */
const itemsThere = async (target, strategy) => {
  const { isItem, keysAnItem } = strategy.holders()
  if (keysAnItem === 0) return (await gatheredIn(target, strategy, Date.now()))[0] ?? 0
  const each = target.topology.masters.map(async (address) => {
    const client = target.control(address)
    for await (const names of scan(client)) {
      const share = names.filter(isItem).length / Math.max(1, names.length)
      return share * Number(await client.dbsize())
    }
    return 0
  })
  return sum(await Promise.all(each)) / keysAnItem
}

/**
 * Waits until expired keys are removed: servers remove them when they are accessed, and shrink the tables later.
 * @param {Target} target
 * @param {number} own keys that are not items
 */
const collectExpired = async (target, own) => {
  const { topology, control } = target
  let isEmptier = false
  for (const address of topology.masters) {
    const keys = Number(await control(address).dbsize())
    if (keys <= own || keys > mostScanned) continue
    for await (const _ of scan(control(address)));
    isEmptier ||= Number(await control(address).dbsize()) < keys
  }
  return isEmptier
}

/** @param {Target} target */
const calmed = async (target) => {
  let last = Number.POSITIVE_INFINITY
  for (let samples = 0, calm = 0; samples < mostSamples && calm < calmSamples; samples++) {
    const bytes = Number(await dataBytesIn(target))
    calm = bytes >= last * calmShare ? calm + 1 : 0
    last = bytes
    await sleep(checkEveryMs)
  }
}

/**
 * Waits until items of an earlier run have expired, no longer than their lifetime and than the run itself will take.
 * @param {WriteRun} run
 * @param {() => Promise<number>} otherWriters how many writers of other processes write
 */
export const outliveEarlier = async (run, otherWriters) => {
  const { plan, strategy, target } = run
  const { say, stop } = run.needs
  const limitMs = plan.ttlS * 1000 + 1000
  const mostMs = Math.min(longestWaitMs, lengthMs(plan) ?? longestWaitMs)
  const { countedBy, keysAnItem } = strategy.holders()
  const isExpiring = keysAnItem > 0 || strategy.purgedKeys.length > 0
  if (countedBy === null || !isExpiring || limitMs > mostMs) return
  const areThere = async () => {
    const items = await itemsThere(target, strategy)
    return items > plan.quantity * fewItems && (await otherWriters()) === 0 ? items : 0
  }
  let hasWaited = false
  for (let waitedMs = 0; waitedMs < limitMs && !stop.aborted; waitedMs += checkEveryMs) {
    if ((await areThere().catch(() => 0)) === 0) break
    if (waitedMs === 0)
      say(
        `waiting up to ${period(limitMs)} for items of an earlier run to expire: they hide the memory of this run's items (--idle-cost never skips the wait)`,
      )
    hasWaited = true
    await sleep(checkEveryMs)
    await run.clearLeftovers()
  }
  const isEmptier = await collectExpired(target, plan.agents.length + 1).catch(() => false)
  if (isEmptier || hasWaited) await calmed(target).catch(() => {})
}
