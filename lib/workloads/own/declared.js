// A compiled model as a declaration, the same object as that of a built-in strategy.
import {
  byCommand,
  byId,
  count,
  each,
  every,
  familyOf,
  gather,
  ids,
  label,
  many,
  minute,
  n,
  oldest,
  sum,
  time,
} from '../declare.js'
import { ttl, value } from '../latest/parts.js'
import { random, writer } from './fields.js'
import { bytesStored, wordsIn } from './item-counts.js'
import { modelDeclaration, scriptsRule } from './model.js'
import { patternOf } from './template.js'

/**
 * @import { Family, Variable } from '../declare.js'
 * @import { Compiled, Lifetime, ModelCommand, ModelKey, ModelText } from './compile.js'
 * @import { OwnFields as PlanFields } from './fields.js'
 * @import { ModelFetch } from './read.js'
 * @import { Placeholder, Word } from './template.js'
 */

// In addition to values and the names of members; measured like those of latest/parts.js.
/** @type {Record<string, number>} */
const keyBytes = { string: 122, hash: 290 }
const otherKeyBytes = 200
/** @type {Record<string, number>} */
const elementBytes = {
  zset: 123,
  set: 68,
  list: 14,
  hash: 90,
  stream: 40,
}
// With more keys than this, they are not asked how many items they hold.
const mostAsked = 1000

/** @param {PlanFields} t @param {Placeholder} placeholder @returns {(string | number | Variable)[]} */
const atomsOf = (t, { name, args }) => {
  if (name === 'n') return [n]
  if (name === 'key') return ['item:', n]
  if (name === 'value') return [value(t)].flat()
  if (name === 'ttl') return [ttl(t)]
  if (name === 'time') return [time]
  if (name === 'oldest') return [oldest]
  if (name === 'minute') return [minute]
  if (name === 'writer') return [writer(t)]
  return name === 'count' ? [count] : [random(t, args[0], args[1])]
}

/** @param {PlanFields} t @param {readonly (string | Placeholder)[]} parts */
const allAtoms = (t, parts) => parts.flatMap((part) => (typeof part === 'object' ? atomsOf(t, part) : part))

/** @param {PlanFields} t @param {Lifetime} lifetime */
const secondsOf = (t, lifetime) => (lifetime === 'ttl' ? t.ttlS : lifetime)

/** @param {readonly (string | Placeholder)[]} parts */
const namesIn = (parts) => parts.flatMap((part) => (typeof part === 'object' ? part.name : []))

/** How many texts atoms can make, where that is known. @param {readonly (string | number | Variable)[]} atoms */
const spanOf = (atoms) =>
  atoms.reduce(
    (/** @type {number} */ product, atom) =>
      product * (typeof atom === 'object' && atom.range ? atom.range[1] - atom.range[0] : 1),
    1,
  )

/**
 * A family with what its keys take when they are full, as far as that follows from the commands.
 * @param {PlanFields} t
 * @param {ModelKey} key
 * @param {readonly ModelCommand[]} commands
 */
const familyIn = (t, { pattern, parts, type, lifetime }, commands) => {
  const ofItems = commands.filter(({ kind }) => kind !== 'every')
  const words = ofItems.filter(({ keys }) => keys[0] === pattern).flatMap(wordsIn)
  const inWords = new Set(words.flatMap((word) => namesIn(word.parts)))
  const atoms = allAtoms(t, parts).filter((atom) => typeof atom !== 'number')
  const names = namesIn(parts)
  const span = spanOf(atoms)
  const isOwn = names.includes('n')
  const isElements = type in elementBytes
  const isIndex = !isOwn && ['n', 'key', 'value'].some((name) => inWords.has(name)) && isElements
  const lifetimeS = secondsOf(t, lifetime)
  const stored = bytesStored(t, ofItems, pattern, type)
  const beside = bytesStored(
    t,
    commands.filter(({ kind }) => kind === 'every'),
    pattern,
    type,
  )
  if (!isIndex) {
    // When numbers are drawn, a key of all items holds as many as exist.
    const elements =
      isElements && !isOwn
        ? Math.min(t.live.items, spanOf(words.flatMap((word) => allAtoms(t, word.parts))))
        : 1
    const bytes = (keyBytes[type] ?? otherKeyBytes) + t.longer
    return familyOf(pattern, type, atoms, {
      lifetimeS,
      keys: isOwn ? t.live.items : span,
      bytes: bytes + (type === 'string' ? Math.max(stored, beside) : stored * elements + beside),
      holds: 0,
      bytesAnItem: 0,
    })
  }
  const bytesAnItem = elementBytes[type] + t.longer + stored
  const isAsked = span <= mostAsked
  return familyOf(pattern, type, atoms, {
    lifetimeS,
    keys: span,
    bytes: beside + (isAsked ? 0 : (t.live.ranked * bytesAnItem) / span),
    holds: isAsked ? t.live.ranked : 0,
    bytesAnItem,
  })
}

/** @param {Compiled} compiled @returns {(t: PlanFields) => Record<string, Family>} */
const keysOf =
  ({ keys, commands }) =>
  (t) =>
    Object.fromEntries([...keys].map(([pattern, key]) => [pattern, familyIn(t, key, commands)]))

/**
 * An argument that is the name of a key, or an id, has the prefix of keys.
 * @param {PlanFields} t
 * @param {Record<string, Family>} k
 * @param {string | undefined} id
 */
const argumentIn = (t, k, id) => (/** @type {Word} */ word) => {
  const pattern = patternOf(word.parts)
  if (k[pattern]) return k[pattern]
  if (pattern === id) return label(pattern)
  const atoms = allAtoms(t, word.parts)
  return atoms.length === 1 ? atoms[0] : atoms
}

/** @param {Compiled} compiled @param {PlanFields} t @param {Record<string, Family>} k */
const storeOf = ({ commands, fetch }, t, k) => {
  const argument = argumentIn(t, k, fetch?.id)
  return commands.map(({ kind, name, args, everyMs, repeat, replies }) => {
    const slots = args.map((arg) => ('many' in arg ? many(...arg.many.map(argument)) : argument(arg.word)))
    if (kind === 'every') return every(everyMs, name, slots, { repeat, ...replies })
    return kind === 'each'
      ? each(name, slots, { repeat, ...replies })
      : gather(name, slots, { repeat, ...replies, max: t.maxMembers })
  })
}

/** @type {Record<string, [string, string]>} */
const countedBy = {
  zset: ['cardinality', 'ZCARD'],
  set: ['cardinality', 'SCARD'],
  list: ['cardinality', 'LLEN'],
  hash: ['cardinality', 'HLEN'],
}

/** @param {ModelFetch} fetch @param {readonly ModelCommand[]} commands @param {string | undefined} type of the key of ids */
const readingOf = ({ name, key, args, shape, id, value: valueCommand }, commands, type) => {
  const isRanked = commands.some(
    ({ name: own, keys, args: words }) =>
      own === 'ZADD' &&
      keys[0] === key &&
      words.some((arg) => 'many' in arg && arg.many.some(({ parts }) => patternOf(parts) === '{time}')),
  )
  const idOf = (/** @type {Record<string, Family>} */ k) => k[id] ?? label(id)
  return {
    read: {
      fetch: (/** @type {PlanFields} */ t, /** @type {Record<string, Family>} */ k) => ({
        asks: [
          sum(...countedBy[k[key].type], [k[key]]),
          ids(
            name,
            [k[key], ...args.map((parts) => allAtoms(t, parts))].map((arg) =>
              Array.isArray(arg) && arg.length === 1 ? arg[0] : arg,
            ),
            shape,
          ),
        ],
        value: valueCommand,
        dated: isRanked && shape === 'scored',
        unique: k[key].type === 'list' || key.includes('{minute}'),
      }),
      ids: idOf,
      counters: (/** @type {PlanFields} */ _, /** @type {Record<string, Family>} */ k) => {
        const [, command] = countedBy[k[key].type]
        return [{ structure: command, nature: 'of the model', name: command, args: [k[key]] }]
      },
    },
    check: {
      items: (/** @type {PlanFields} */ _, /** @type {Record<string, Family>} */ k) => {
        const inHash = byCommand('values', 'HMGET', [k[key], many(idOf(k))])
        if (valueCommand === null) return [inHash]
        const command = { zset: 'ZMSCORE', set: 'SMISMEMBER' }[k[key].type]
        return [byId, ...(command ? [byCommand('members', command, [k[key], many(idOf(k))])] : [])]
      },
      unchecked: () => (type === 'list' ? [`the ids in the list ${key}`] : []),
    },
  }
}

/** @param {ModelText} text @param {Compiled} compiled */
export const declarationOf = ({ name, title, meets }, compiled) => {
  const { fetch, apart, commands, unread } = compiled
  return modelDeclaration({
    name,
    title,
    ...(meets && { meets }),
    rules: [
      (s) =>
        apart !== null &&
        s.cluster &&
        `${apart}: its keys are in several slots of a cluster; give them one tag, as in a{{x}} b{{x}}`,
      scriptsRule(unread),
    ],
    keys: keysOf(compiled),
    operations: (/** @type {PlanFields} */ t, /** @type {Record<string, Family>} */ k) => ({
      store: storeOf(compiled, t, k),
    }),
    ...(fetch && readingOf(fetch, commands, compiled.keys.get(fetch.key)?.type)),
  })
}
