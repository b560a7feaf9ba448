// The keys that runs have left under a prefix: counted, and removed by name and type.
import { TargetError } from '../base/errors.js'
import { certain } from '../base/typed.js'
import { isGenuine, isLease, prefixOfPlan, prefixReader, typesOfPlan } from '../plan/ownership.js'
import { planKey, plansIn, plansUnder } from './announcements.js'
import { listIn } from './lists.js'
import { ownerOf } from './topology.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Target } from './open.js'
 *
 * @typedef {object} LeftKeys of one master
 * @property {string} master
 * @property {Record<string, number>} ours by type
 * @property {number} foreign that stay, though their names begin like ours
 * @property {number} removed
 */

// The keys in a target, by SCAN and the plans that are there: ours or those of others. Only reads.

/**
 * @typedef {{ key: string, type: string }} FoundKey
 *
 * @typedef {object} Findings of one master's database
 * @property {number} looked names looked at
 * @property {number} foreign of them
 * @property {FoundKey[]} examples of those
 * @property {boolean} mortal some of those have a lifetime
 */

const scanCount = 1000
const typesAtOnce = 500
// The limit of a search: about a quarter of a second of the client, and half of that of a server.
const mostNames = 100_000
const mostTypes = 2000
const mostStrange = 100
const mostPrefixes = 100

/** Names from a SCAN, in batches. @param {Redis} client @param {{ match?: string }} [options] */
export async function* scan(client, { match } = {}) {
  let cursor = '0'
  do {
    const pattern = match === undefined ? [] : ['MATCH', match]
    const reply = await client.call('SCAN', cursor, ...pattern, 'COUNT', String(scanCount))
    const [next, keys] = listIn('SCAN', reply)
    cursor = String(next)
    yield listIn('SCAN', keys)
  } while (cursor !== '0')
}

/** @template T @param {T} instead @returns {(error: Error) => T} */
const unlessRefused = (instead) => (error) => {
  if (error.message.startsWith('NOPERM')) return instead
  throw error
}

/**
 * The types of keys; those that went in the meantime are left out.
 * @param {Redis} client
 * @param {string[]} keys
 * @returns {Promise<FoundKey[]>}
 */
const typedKeys = async (client, keys) => {
  /** @type {FoundKey[]} */
  const found = []
  for (let from = 0; from < keys.length; from += typesAtOnce) {
    const some = keys.slice(from, from + typesAtOnce)
    // A user with limited rights may not read keys of others: then they count as others'.
    const types = await Promise.all(some.map((key) => client.type(key).catch(unlessRefused('hidden'))))
    some.forEach((key, i) => {
      if (types[i] !== 'none') found.push({ key, type: types[i] })
    })
  }
  return found
}

/** Of SCAN's patterns. @param {string} prefix */
const escapedPattern = (prefix) => prefix.replace(/[\\*?[\]]/g, '\\$&')

/**
 * The prefixes of plans on all masters: each plan is on one of them, its keys are on all.
 * @param {Target} target
 * @param {{ under?: string, most?: number }} [options] under: a prefix of these prefixes; most: names looked at on a
 *   master
 * @returns {Promise<string[]>}
 */
export const plannedPrefixes = async (
  { topology: { masters }, control },
  { under = '', most = mostNames } = {},
) => {
  /** @type {Set<string>} */
  const prefixes = new Set()
  for (const master of masters) {
    let left = most
    for await (const keys of scan(control(master), { match: planKey(`${escapedPattern(under)}*`) })) {
      for (const key of keys) prefixes.add(prefixOfPlan(key) ?? '')
      left -= scanCount
      if (left <= 0) break
    }
  }
  return [...prefixes]
}

/**
 * Whose a key is, by the plans in its database. A plan is looked up once for each prefix.
 * @param {Target} target
 * @param {number} nowMs by the server's clock
 * @param {{ db?: number, prefixes: readonly string[] }} options prefixes: where plans may be, for keys of users' models
 */
const ownersBook = (target, nowMs, { db, prefixes }) => {
  /** @type {Map<string, Promise<((key: string) => string | null)[]>>} */
  const books = new Map()
  const prefixOf = prefixReader()

  /** @param {string} prefix */
  const read = async (prefix) => {
    const key = planKey(prefix)
    const client = target.control(ownerOf(target.topology, key), db)
    if ((await client.type(key).catch(unlessRefused('hidden'))) !== 'hash') return []
    const announcements = await plansIn(client, prefix, nowMs)
    return announcements.filter((announced) => isGenuine(announced, prefix)).map(typesOfPlan)
  }

  /** The types that the plans give a key of this name; none when it is not ours. @param {string} key @returns {Promise<string[]>} */
  return async (key) => {
    if (isLease(key)) return ['string']
    const built = prefixOf(key)
    const others = prefixes.filter((prefix) => prefix !== built && key.startsWith(prefix))
    /** @type {string[]} */
    const found = []
    for (const prefix of built === null ? others : [built, ...others]) {
      const known = books.get(prefix)
      if (!known && books.size === mostPrefixes) continue
      const types = known ?? read(prefix)
      if (!known) books.set(prefix, types)
      found.push(...(await types).flatMap((typeOf) => typeOf(key) ?? []))
    }
    return found
  }
}

/**
 * @param {Target} target
 * @param {string} master
 * @param {{ nowMs: number, clock: () => number, untilMs: number, db?: number, prefixes: readonly string[] }} options
 *   untilMs: by the clock; prefixes: of plans on other masters
 * @returns {Promise<Findings>}
 */
export const findKeys = async (target, master, { nowMs, clock, untilMs, db, prefixes }) => {
  const client = target.control(master, db)
  /** @type {Set<string>} */
  const names = new Set()
  for await (const keys of scan(client)) {
    for (const key of keys) names.add(key)
    if (names.size >= mostNames || clock() > untilMs) break
  }
  // Plans are read after the names, since a plan is written before its first key.
  const here = [...names].flatMap((name) => prefixOfPlan(name) ?? [])
  const typesFor = ownersBook(target, nowMs, { db, prefixes: [...new Set([...prefixes, ...here])] })
  /** @type {string[]} */
  const strange = []
  /** @type {string[]} */
  const familiar = []
  for (const key of names) ((await typesFor(key)).length > 0 ? familiar : strange).push(key)
  const step = Math.ceil(familiar.length / mostTypes)
  const sample = familiar.filter((_, i) => i % step === 0)
  for (const { key, type } of await typedKeys(client, sample))
    if (!(await typesFor(key)).includes(type)) strange.push(key)
  const foreign = await typedKeys(client, strange.slice(0, mostStrange))
  const lives = await Promise.all(foreign.map(({ key }) => client.pttl(key).catch(unlessRefused(-1))))
  return {
    looked: names.size,
    foreign: foreign.length < mostStrange ? foreign.length : strange.length,
    examples: foreign.slice(0, 2),
    mortal: lives.some((ms) => ms > 0),
  }
}

/** Why no plan was read: there is none, or none that this version can read. @param {Target} target @param {string} holder @param {string} prefix */
const noPlan = async (target, holder, prefix) => {
  const under = prefix ? `under the prefix '${prefix}'` : 'without a prefix'
  const type = await target.control(holder).type(planKey(prefix))
  const [fault = 'it is not what a writer leaves'] =
    type === 'hash' ? (await plansUnder(target, prefix)).faults : []
  return new TargetError(
    type !== 'none'
      ? `${target.address}: the plan ${under} (${planKey(prefix)}) cannot be read, so nothing there is known to be of Millrace: ${fault}; clean up with the version that wrote it`
      : `${target.address}: found no plan of Millrace ${under}, so nothing there is known to be of Millrace; correct --prefix (a plan is removed with the last of its keys)`,
    { code: 'NO_PLAN' },
  )
}

/**
 * @param {object} needs
 * @param {Target} needs.target
 * @param {string} needs.prefix
 * @param {boolean} needs.remove false: only counts
 * @param {number} needs.nowMs by the clock of the servers
 * @param {(looked: number, removed: number) => void} needs.onProgress
 * @param {AbortSignal} needs.signal ends between two batches
 * @returns {Promise<LeftKeys[]>}
 */
export const clearLeftKeys = async ({ target, prefix, remove, nowMs, onProgress, signal }) => {
  const marker = planKey(prefix)
  const holder = ownerOf(target.topology, marker)
  const prefixes = await plannedPrefixes(target, { under: prefix, most: Number.POSITIVE_INFINITY })
  const typesFor = ownersBook(target, nowMs, { prefixes })
  if (!(await typesFor(marker)).includes('hash')) throw await noPlan(target, holder, prefix)
  let looked = 0
  let removed = 0
  /** @type {LeftKeys[]} */
  const results = []
  for (const master of target.topology.masters) {
    const client = target.control(master)
    const found = {
      master,
      /** @type {Record<string, number>} */
      ours: {},
      foreign: 0,
      removed: 0,
    }
    results.push(found)
    for await (const keys of scan(client, { match: `${escapedPattern(prefix)}*` })) {
      if (signal.aborted) return results
      /** @type {string[]} */
      const names = []
      for (const key of keys) {
        if (isLease(key)) continue // it expires by itself
        if ((await typesFor(key)).length > 0) names.push(key)
        else found.foreign++
      }
      /** @type {string[]} */
      const ours = []
      for (const { key, type } of await typedKeys(client, names)) {
        if (!(await typesFor(key)).includes(type)) {
          found.foreign++
          continue
        }
        found.ours[type] = (found.ours[type] ?? 0) + 1
        if (key !== marker) ours.push(key)
      }
      if (remove) found.removed += await unlink(client, ours)
      looked += keys.length
      removed += remove ? ours.length : 0
      onProgress(looked, removed)
    }
  }
  // The plan is removed last: while it is there, the keys are known to be ours.
  if (remove && !signal.aborted) {
    const last = certain(results.find(({ master }) => master === holder))
    last.removed += await unlink(target.control(holder), [marker])
  }
  return results
}

/**
 * One key a command: in a cluster several may lie in different slots.
 * @param {Redis} client
 * @param {string[]} keys at most what one SCAN gave
 */
const unlink = async (client, keys) => {
  const gone = await Promise.all(keys.map((key) => client.unlink(key)))
  return gone.reduce((sum, n) => sum + n, 0)
}

/** Agents that hold a lease under the prefix. @param {Target} target @param {string} prefix */
export const leasesUnder = async (target, prefix) => {
  let leases = 0
  for (const master of target.topology.masters)
    for await (const keys of scan(target.control(master), {
      match: `${escapedPattern(prefix)}millrace:lease:*`,
    }))
      leases += keys.filter(isLease).length
  return leases
}
