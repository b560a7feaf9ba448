// The keys in a target, by SCAN and the plans that are there: ours or those of others. Only reads.
import { isGenuine, isLease, prefixOfPlan, prefixReader, typesOfPlan } from '../plan/ownership.js'
import { planKey, plansIn } from './announcements.js'
import { listIn } from './lists.js'
import { ownerOf } from './topology.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Target } from './open.js'
 *
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
export const typedKeys = async (client, keys) => {
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
export const escapedPattern = (prefix) => prefix.replace(/[\\*?[\]]/g, '\\$&')

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
export const ownersBook = (target, nowMs, { db, prefixes }) => {
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
