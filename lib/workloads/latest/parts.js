// What several strategies of 'latest items' share: their keys, the commands around them, and how sets are fetched.

import { certain, exactly, pair } from '../../base/typed.js'
import { leftOf, lifetimeOf } from '../../traffic/lifetimes.js'
import { minuteKeyS } from '../../traffic/live-items.js'
import { payloadBody } from '../../traffic/payload.js'
import { listedKeys } from '../bind/arguments.js'
import {
  all,
  each,
  every,
  family,
  fixed,
  gather,
  ids,
  made,
  many,
  modulo,
  newest,
  number,
  oldest,
  script,
  sized,
  stamp,
  sum,
  time,
} from '../declare.js'
import { spreadTags } from './fields.js'

/**
 * @import { LifetimeFields } from '../../traffic/lifetimes.js'
 * @import { PayloadFields } from '../../traffic/payload.js'
 * @import { Argument, Ask, Command, Family, Shape, Slot } from '../declare.js'
 * @import { LatestFields as PlanFields } from './fields.js'
 *
 * @typedef {Pick<PlanFields, 'lingerS' | 'longer'> & { live: { ranked: number } }} Ranked
 * @typedef {Ranked & Pick<PlanFields, 'sets' | 'placement' | 'tags'>} SetFields
 * @typedef {Ranked & Pick<PlanFields, 'extraSets'>} ExtraSetFields
 */

// Bytes an item beside its value, with a key of 10 characters: measured on Redis 7.0.15 with jemalloc, 20,000 items,
// values of 16 B to 10 kB (all within 3 % of these; small values of hash and stream take less).
const stringKeyBytes = 122
const rankBytes = 123

const keepKey = script('keep-key', { calls: ['EXPIRE'], inline: true })
const fetchItems = script('fetch-latest-items', {
  calls: ['ZCARD', 'ZRANGEBYSCORE', 'ZREVRANGEBYSCORE', 'GET'],
})
const purge = script('purge', { calls: ['ZCOUNT', 'ZREMRANGEBYRANK'], inline: true })

export const workload = 'latest'
export const play = Object.freeze({ flow: exactly('ticks'), operations: ['store'] })
/** The shared options about sorted sets. */
export const ofSortedSets = Object.freeze(['sortedSets', 'placement', 'extraSortedSets'])

/** Seconds that the item lives. @param {LifetimeFields} t */
export const ttl = (t) => (t.ttlLeastS ? number('ttl', lifetimeOf(t)) : t.ttlS)
/** Seconds that it has left where it was written at any time of them. @param {LifetimeFields} t */
export const ttlLeft = (t) => number('ttl', leftOf(t))

/** @param {PayloadFields} t */
export const valueBody = (t) => {
  const body = payloadBody(t)
  return body.least === body.most ? fixed('value', body.most, body.put) : sized('value', body)
}

/** The bytes of the item's value; in front of them, where it is stamped, the tick's time. @param {PayloadFields} t */
export const value = (t) => {
  const body = valueBody(t)
  return t.stamp ? [stamp, body] : body
}

/** @param {PlanFields} t */
const tag = (t) => ({
  ...made('tag', (n) => t.tags[n % t.sets]),
  range: pair(0, t.sets),
})

/** The value under its own key. @param {PlanFields} t */
export const itemKeys = (t) =>
  family(t.taggedItems ? 'item:{n}{{{tag}}}' : 'item:{n}', 'string', {
    of: { tag: tag(t) },
    lifetimeS: t.ttlS,
    keys: t.live.items,
    bytes: stringKeyBytes + t.longer + t.valueBytesStored,
  })

/** The sorted sets, item i in set i mod N. @param {SetFields} t @param {number} [bytesAnItem] */
export const setKeys = (t, bytesAnItem = rankBytes + t.longer) => {
  const options = { lifetimeS: t.lingerS, holds: t.live.ranked, bytesAnItem }
  const of = { j: modulo('j', t.sets), tag: made('tag', (n) => t.tags[n % t.sets]) }
  if (t.placement === 'same-slot') return family('latest-ids:{j}{{forced-slot}}', 'zset', { ...options, of })
  if (t.placement === 'spread') return family('latest-ids:{j}{{{tag}}}', 'zset', { ...options, of })
  return t.sets === 1
    ? family('latest-ids', 'zset', options)
    : family('latest-ids:{j}', 'zset', { ...options, of })
}

/** Further sorted sets with the same members. @param {ExtraSetFields} t @param {number} [bytesAnItem] */
export const extraSetKeys = (t, bytesAnItem = rankBytes + t.longer) =>
  Array.from({ length: t.extraSets }, (_, j) =>
    family(`latest-ids-extra:${j + 1}`, 'zset', { lifetimeS: t.lingerS, holds: t.live.ranked, bytesAnItem }),
  )

/** Of sets whose names alone are asked for. */
const unmeasured = Object.freeze({ lingerS: 0, longer: 0, live: { ranked: 0 } })

/**
 * The names of the sorted sets, as a plan and its announcement list them.
 * @param {string} prefix
 * @param {number} count
 * @param {'plain' | 'same-slot' | 'spread'} placement
 */
export const setNames = (prefix, count, placement) => {
  const tags = placement === 'spread' ? spreadTags(count) : []
  return listedKeys([setKeys({ ...unmeasured, sets: count, placement, tags }, 0)], prefix)
}

/** @param {string} prefix @param {number} count */
export const extraSetNames = (prefix, count) =>
  listedKeys(extraSetKeys({ ...unmeasured, extraSets: count }, 0), prefix)

/** A key a minute, that lives on for three. @param {string} name @param {string} type @param {object} options */
export const minuteKeys = (name, type, options) =>
  family(`${name}:{minute}`, type, { lifetimeS: minuteKeyS, ...options })

/**
 * Renews the lifetime of keys that gather items, and makes those that are not there by `make`, a command without its
 * key: it goes before the items, so that such a key never is without a lifetime.
 * @param {Family} key
 * @param {number} everyMs
 * @param {Slot[]} make
 */
export const keep = (key, everyMs, make) =>
  every(everyMs, 'EVAL', [keepKey, 1, key, certain(key.lifetimeS), ...make])

/** @param {PlanFields} t @param {{ item: Family }} k */
export const storeItem = (t, k) => each('SETEX', [k.item, ttl(t), value(t)])

/** @param {Family} set @param {{ most: number, everyMs: number }} pace */
const purged = (set, { most, everyMs }) =>
  every(everyMs, 'EVAL', [purge, 1, set, ['(', oldest], most], { paced: true, purges: true })

/**
 * Sorted sets: kept, filled by `fill`, and purged of what is dead. What makes one has a dead score, until the same item
 * is ranked or the next purge comes.
 * @param {PlanFields} t
 * @param {{ set: Family, extra?: readonly Family[] }} k
 * @param {Command[]} fill
 * @param {Argument} member
 */
export const keepSets = (t, { set, extra = [] }, fill, member) => [
  ...[set, ...extra].map((one) => keep(one, t.renewalMs, ['ZADD', 0, many(member)])),
  ...fill,
  purged(set, t.purgeSets),
  ...extra.map((one) => purged(one, t.purgeExtraSets)),
]

/**
 * Sorted sets, by time, of what `store` writes.
 * @param {PlanFields} t
 * @param {{ set: Family, extra: readonly Family[] }} k
 * @param {Argument} member
 * @param {Command[]} [store]
 */
export const rankItems = (t, k, member, store = []) => {
  const sets = [k.set, ...k.extra]
  const ranks = sets.map((one) => gather('ZADD', [one, many(time, member)], { max: t.maxMembers }))
  return keepSets(t, k, [...store, ...ranks], member)
}

/**
 * The published fetch: ZCARD, then everything younger than the ttl, or the newest so many. Without scores the
 * newest one is asked for beside, for the freshness.
 * @param {PlanFields} t
 * @param {{ set: Family }} k
 * @param {{ members: Shape, scored: Shape }} shapes
 * @returns {Ask[]}
 */
export const asksOfSets = (t, { set }, shapes) => {
  const cardinality = sum('cardinality', 'ZCARD', [set])
  // With their scores, of which a few cost little: several sets are merged by them.
  if (t.limit > 0) {
    const range = [set, '+inf', oldest, 'WITHSCORES', 'LIMIT', 0, t.limit]
    return [cardinality, ids('ZREVRANGEBYSCORE', range, shapes.scored)]
  }
  const range = [set, oldest, '+inf']
  return t.scores
    ? [cardinality, ids('ZRANGEBYSCORE', [...range, 'WITHSCORES'], shapes.scored)]
    : [
        cardinality,
        newest('ZREVRANGE', [set, 0, 0, 'WITHSCORES']),
        ids('ZRANGEBYSCORE', range, shapes.members),
      ]
}

/** Ids, scores and values in one call. @param {PlanFields} t @param {{ set: Family }} k @returns {Ask[]} */
export const asksOfScript = (t, { set }) => [
  ids('EVALSHA', [fetchItems, t.sets, all(set), oldest, t.limit], 'script'),
]

/** Structures that count what sorted sets hold. @param {{ set: Family }} k */
export const countersOfSets = ({ set }) => [
  { structure: 'ZCARD', nature: 'exact but for the dead not yet purged, fresh', name: 'ZCARD', args: [set] },
  { structure: 'ZCOUNT', nature: 'exact, fresh', name: 'ZCOUNT', args: [set, oldest, '+inf'] },
]
