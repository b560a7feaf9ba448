// What the masters hold before the first write, and after the last. What an earlier run left there is waited for where it
// soon expires, and else measured apart.

import { sleep } from '../base/settlement.js'
import { atMost } from '../base/timers.js'
import { period } from '../base/units.js'
import { dataBytesIn, dataIn } from '../measure/baseline.js'
import { scan } from '../servers/found-keys.js'
import { gatheredIn, holderBytesIn } from '../servers/item-counts.js'
import { lengthMs } from './second.js'

/**
 * @import { Held } from '../measure/memory-cost.js'
 * @import { Target } from '../servers/open.js'
 * @import { WriteRun } from './write-setup.js'
 */

const answerLimitMs = 2000
const longestWaitMs = 30_000
const lookEveryMs = 200
// A share of the items of a run: less than this is no reason to wait.
const fewItems = 1 / 100
// A SCAN of these takes some tenths of a second.
const mostScanned = 200_000
const calmShare = 0.99
const calmLooks = 3
const mostLooks = 15

/** A server that is silent delays nothing for long. @template T @param {Promise<T>} asked */
const orNull = async (asked) =>
  (await atMost(
    answerLimitMs,
    asked.catch(() => null),
  )) ?? null

const sum = (/** @type {readonly number[]} */ all) => all.reduce((total, n) => total + n, 0)

/**
 * By the sampler's last answers where a server does not answer now.
 * @param {Target} target
 * @param {Pick<WriteRun, 'strategy' | 'sampler'>} run
 * @param {boolean} isApart whether the memory of keys that gather items is to be told apart
 * @returns {Promise<Held>}
 */
export const heldIn = async (target, { strategy, sampler }, isApart) => {
  const nowMs = Date.now()
  const [gathered, data] = await Promise.all([
    orNull(gatheredIn(target, strategy, nowMs)),
    orNull(dataIn(target)),
  ])
  const holderBytes = !isApart
    ? null
    : sum(gathered ?? []) === 0
      ? (gathered?.map(() => 0) ?? null)
      : await orNull(holderBytesIn(target, strategy, nowMs))
  // Bytes are divided by keys of the same answer: a server that stalled may have answered the sampler long ago.
  return { ...(data ?? sampler.held()), gathered, holderBytes }
}

/**
 * Items of an earlier run that are still there: ids in the keys that gather them, or their own keys by the first names of a
 * SCAN, whose order is that of hashes.
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
 * Keys that have expired are there until they are accessed, and the tables that held them until the server has time.
 * @param {Target} target
 * @param {number} own keys that are no items
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
  for (let looks = 0, calm = 0; looks < mostLooks && calm < calmLooks; looks++) {
    const bytes = Number(await dataBytesIn(target))
    calm = bytes >= last * calmShare ? calm + 1 : 0
    last = bytes
    await sleep(lookEveryMs)
  }
}

/**
 * Waits until items of an earlier run have expired, no longer than their lifetime and than the run itself will take.
 * @param {object} needs
 * @param {Target} needs.target
 * @param {WriteRun} needs.run
 * @param {() => Promise<number>} needs.others how many writers of other processes write
 * @param {(line: string) => void} needs.say
 * @param {AbortSignal} needs.stop
 */
export const outliveEarlier = async ({ target, run, others, say, stop }) => {
  const { plan, strategy, clearOld } = run
  const limitMs = plan.ttlS * 1000 + 1000
  const mostMs = Math.min(longestWaitMs, lengthMs(plan) ?? longestWaitMs)
  const { countedBy, keysAnItem } = strategy.holders()
  const isExpiring = keysAnItem > 0 || strategy.purgedKeys.length > 0
  if (countedBy === null || !isExpiring || limitMs > mostMs) return
  const areThere = async () => {
    const items = await itemsThere(target, strategy)
    return items > plan.quantity * fewItems && (await others()) === 0 ? items : 0
  }
  let hasWaited = false
  for (let waitedMs = 0; waitedMs < limitMs && !stop.aborted; waitedMs += lookEveryMs) {
    if ((await areThere().catch(() => 0)) === 0) break
    if (waitedMs === 0)
      say(
        `waiting up to ${period(limitMs)} for items of an earlier run to expire: beside them the memory of an item cannot be told (--idle-cost never skips it)`,
      )
    hasWaited = true
    await sleep(lookEveryMs)
    await clearOld()
  }
  const isEmptier = await collectExpired(target, plan.agents.length + 1).catch(() => false)
  if (isEmptier || hasWaited) await calmed(target).catch(() => {})
}
