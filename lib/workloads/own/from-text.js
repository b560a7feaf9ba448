// A model in lines, as --command gives them, or in YAML.
import { createRequire } from 'node:module'
import { errorOf, OptionError } from '../../base/errors.js'
import { firstFault } from '../../base/json-schema.js'
import { plainText } from '../../base/units.js'
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
import { needNames } from '../needs.js'
import { longestLifetimeS } from './commands.js'
import { compile } from './compile.js'
import { random, writer } from './fields.js'
import { bytesStored, wordsIn } from './item-counts.js'
import { linesOf, mixSchema, modelOfMix } from './mix-text.js'
import { modelDeclaration, scriptsRule } from './model.js'
import { namePattern, parsed, patternOf, templateParts } from './template.js'

/**
 * @import { Document, Node } from 'yaml'
 * @import { CommandText, Lifetime, Compiled, ModelCommand, ModelFetch, ModelKey, ModelText } from './compile.js'
 * @import { Place, Placeholder, Word } from './template.js'
 * @import { Family, Variable } from '../declare.js'
 * @import { OwnFields as PlanFields } from './fields.js'
 *
 * @typedef {any} Loose a node of the document
 * @typedef {Pick<CommandText, 'per' | 'retry' | 'counts' | 'number'> & { command: string, every?: string }} SaidCommand
 * @typedef {object} ModelFile as the schema has it
 * @property {Record<string, string | { type: string, lifetime?: Lifetime }>} [keys]
 * @property {{ ids: string, id?: string, value?: string }} [read]
 */

// What a model in YAML may hold; what the texts in it mean, compile.js checks.

const someText = { type: 'string', minLength: 1 }
const someLifetime = { anyOf: [{ type: 'integer', minimum: 1, maximum: longestLifetimeS }, { const: 'ttl' }] }
const types = ['string', 'list', 'set', 'zset', 'hash', 'stream']

// Names of what is counted of replies, which are parts of names of metrics.
const replyName = { type: 'string', pattern: '^[a-z][a-z0-9_]{0,29}$' }

/** What a command may count. */
export const repliesSchema = {
  counts: {
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: Object.fromEntries(['zero', 'one', 'other', 'nil', 'bulk'].map((kind) => [kind, replyName])),
  },
  number: replyName,
}

/** What the model is good for, as `millrace choose` asks. */
export const meetsSchema = { type: 'array', items: { enum: [...needNames] } }

/** A model in YAML. */
export const modelSchema = Object.freeze({
  type: 'object',
  additionalProperties: false,
  required: ['write'],
  properties: {
    name: { type: 'string', pattern: namePattern },
    title: someText,
    meets: meetsSchema,
    keys: {
      type: 'object',
      minProperties: 1,
      additionalProperties: {
        type: ['string', 'object'],
        additionalProperties: false,
        required: ['type'],
        properties: { type: { enum: types }, lifetime: someLifetime },
        if: { type: 'string' },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
        then: { enum: types },
      },
    },
    write: {
      type: 'array',
      minItems: 1,
      items: {
        type: ['string', 'object'],
        minLength: 1,
        additionalProperties: false,
        required: ['command'],
        properties: {
          command: someText,
          every: { type: 'string', pattern: '^\\d+(ms|s|m)$' },
          per: { enum: ['item', 'tick'] },
          retry: { enum: ['safe', 'never'] },
          ...repliesSchema,
        },
      },
    },
    read: {
      type: 'object',
      additionalProperties: false,
      required: ['ids'],
      properties: { ids: someText, id: someText, value: someText },
    },
  },
})

// A compiled model as a declaration, the same object as that of a built-in strategy.

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
const declarationOf = ({ name, title, meets }, compiled) => {
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

const longestTitle = 120
/** @type {Record<string, number>} */
const unitMs = { ms: 1, s: 1000, m: 60_000 }

/** @param {readonly string[]} texts */
const titleOf = (texts) => {
  const title = plainText(texts.join('; '))
  return title.length > longestTitle ? `${title.slice(0, longestTitle)}...` : title
}

/** `zadd-setex` of the commands' names. @param {readonly string[]} lines */
const nameOfLines = (lines) => {
  const names = lines.map((line) => /\S+/.exec(line)?.[0] ?? '')
  const name = [...new Set(names)]
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '')
  return /^[a-z]/.test(name) ? `own-${name}`.slice(0, 40) : 'own'
}

/** @param {readonly string[]} lines one command each */
export const modelOfLines = (lines) => {
  const model = {
    name: nameOfLines(lines),
    title: titleOf(lines),
    keys: null,
    read: null,
    place: () => '--command',
    write: lines.map((text) => ({ text, place: placeInLine(text) })),
  }
  return declarationOf(model, compile(model))
}

/** @param {string} text @returns {Place} */
const placeInLine = (text) => (at) =>
  `--command '${plainText(text)}'${at === undefined ? '' : `, character ${at + 1}`}`

/** @param {string} path @param {string} text */
const placesIn = (path, text) => {
  // Loaded only for a file: a run without one starts 12 ms sooner.
  /** @type {typeof import('yaml')} */
  const { LineCounter, parseDocument } = createRequire(import.meta.url)('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (/** @type {number} */ offset) => {
    const { line, col } = lines.linePos(offset)
    return `${plainText(path)}:${Math.max(1, line)}:${Math.max(1, col)}`
  }
  /** The characters of a scalar. @param {Loose} node @returns {Place} */
  const valueIn = (node) => {
    const start = node?.range?.[0] ?? 0
    const value = typeof node?.value === 'string' ? node.value : null
    const from = [start, start + 1].find((begin) => value !== null && text.startsWith(value, begin))
    return (inside) => at(from === undefined ? start : from + (inside ?? 0))
  }
  const node = (/** @type {(string | number)[]} */ path) =>
    path.length === 0 ? document.contents : document.getIn(path, true)
  /** The name of an entry. @param {(string | number)[]} path */
  const nameAt = (path) => {
    /** @type {Loose} */
    const parent = node(path.slice(0, -1))
    const pair = parent?.items?.find((/** @type {Loose} */ one) => one.key?.value === path.at(-1))
    return valueIn(pair?.key ?? parent)
  }
  return { document, at, place: (/** @type {(string | number)[]} */ path) => valueIn(node(path)), nameAt }
}

/** @param {Document} document @param {Place} place */
const plainDataOf = (document, place) => {
  try {
    return document.toJS()
  } catch (error) {
    // Aliases that expand to millions of values.
    throw new OptionError(`${place()}: ${plainText(errorOf(error).message.split('\n', 1)[0])}`, {
      cause: error,
    })
  }
}

/** @param {string} text */
const everyMsOf = (text) => {
  const [, digits, unit] = /^(\d+)(ms|s|m)$/.exec(text) ?? []
  return Number(digits) * unitMs[unit]
}

/** The pattern that a name of `keys` stands for. @param {string} text @param {Place} place */
const keyPattern = (text, place) => patternOf(parsed({ text, place }, templateParts))

/** @param {ModelFile} data @param {ReturnType<typeof placesIn>} places */
const keysIn = (data, { nameAt }) =>
  data.keys === undefined
    ? null
    : new Map(
        Object.entries(data.keys).map(([name, said]) => {
          const place = nameAt(['keys', name])
          const { type, lifetime = null } = typeof said === 'string' ? { type: said } : said
          return [keyPattern(name, place), { type, lifetime, place }]
        }),
      )

/** @param {ModelFile} data @param {ReturnType<typeof placesIn>} places */
const readIn = ({ read }, { place }) => {
  if (read === undefined) return null
  const part = (/** @type {'id' | 'value'} */ name) =>
    read[name] === undefined ? null : { text: read[name], place: place(['read', name]) }
  return { ids: { text: read.ids, place: place(['read', 'ids']) }, id: part('id'), value: part('value') }
}

/**
 * @param {string} path
 * @param {string} text
 * @param {string} name unless the file names it
 * @param {boolean} [onlyReads] of a mix
 */
export const modelOfYaml = (path, text, name, onlyReads = false) => {
  const places = placesIn(path, text)
  const { document, at, place, nameAt } = places
  const [error] = document.errors
  if (error) throw new OptionError(`${at(error.pos[0])}: ${plainText(error.message.split('\n', 1)[0])}`)
  const data = plainDataOf(document, place([]))
  const isMix = data?.mix !== undefined
  const fault = firstFault(data, isMix ? mixSchema : modelSchema)
  if (fault) {
    const where = fault.extra === null ? place(fault.path) : nameAt([...fault.path, fault.extra])
    throw new OptionError(`${where()}: ${fault.sentence}`)
  }
  if (isMix) {
    const lines = data.mix.map((/** @type {import('./mix-text.js').MixEntry} */ entry) =>
      linesOf(entry).join('; '),
    )
    const title = titleOf(data.title ? [data.title] : lines)
    return {
      declared: modelOfMix(data, { name: data.name ?? name, title, onlyReads, place, nameAt }),
      place: place(['name'])(),
    }
  }
  const write = data.write.map((/** @type {string | SaidCommand} */ one, /** @type {number} */ i) => {
    const isLine = typeof one === 'string'
    /** @type {SaidCommand} */
    const { command, every, per, retry, counts, number } = isLine ? { command: one } : one
    return {
      text: command,
      place: place(isLine ? ['write', i] : ['write', i, 'command']),
      everyMs: every === undefined ? undefined : everyMsOf(every),
      per,
      retry,
      counts,
      number,
    }
  })
  const model = {
    name: data.name ?? name,
    title: titleOf(data.title ? [data.title] : write.map((/** @type {CommandText} */ one) => one.text)),
    meets: data.meets,
    keys: keysIn(data, places),
    read: readIn(data, places),
    place: place(['write']),
    write,
  }
  return { declared: declarationOf(model, compile(model)), place: place(['name'])() }
}
