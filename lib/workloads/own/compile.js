// Checks a model's texts and makes its commands and keys; `from-text.js` makes a declaration of them. Every error is one
// line that names the place in the file or on the command line.
import { didYouMean } from '../../base/did-you-mean.js'
import {
  aritySentence,
  isKnown,
  keyFault,
  keyIndexes,
  likeCommand,
  longestLifetimeS,
  mostCommands,
  refusalOf,
  repeatOf,
  typeOfCommand,
} from './commands.js'
import { scriptFault } from './scripts.js'
import { parsed, patternOf, refuse, templateParts, wordsOf } from './template.js'

/**
 * @import { NeedName } from '../needs.js'
 * @import { Place, Placeholder, Word } from './template.js'
 * @import { Shape } from '../declare.js'
 *
 * @typedef {object} CommandText
 * @property {string} text
 * @property {Place} place
 * @property {number} [everyMs] sent once for every key, not before so much time has passed
 * @property {'item' | 'tick'} [per]
 * @property {'safe' | 'never'} [retry]
 * @property {Record<string, string>} [counts] names of replies by their kind
 * @property {string} [number] name of the number in its replies
 *
 * @typedef {{ type: string, lifetime: Lifetime, place: Place }} KeyText
 * @typedef {number | 'ttl' | null} Lifetime seconds after the last write
 *
 * @typedef {object} ReadText
 * @property {{ text: string, place: Place }} ids
 * @property {{ text: string, place: Place } | null} id
 * @property {{ text: string, place: Place } | null} value
 *
 * @typedef {object} ModelText
 * @property {string} name
 * @property {string} title
 * @property {readonly NeedName[]} [meets]
 * @property {readonly CommandText[]} write
 * @property {Map<string, KeyText> | null} keys null: those that the commands name
 * @property {ReadText | null} read
 * @property {Place} place
 *
 * @typedef {{ pattern: string, parts: readonly (string | Placeholder)[], type: string, lifetime: Lifetime }} ModelKey
 * @typedef {{ word: Word, key: boolean }} ModelArgument
 * @typedef {{ many: Word[] }} ModelMany
 * @typedef {object} ModelCommand
 * @property {'each' | 'gather' | 'every'} kind
 * @property {string} name
 * @property {(ModelArgument | ModelMany)[]} args
 * @property {string[]} keys patterns
 * @property {number} everyMs
 * @property {'safe' | 'never'} repeat
 * @property {Pick<CommandText, 'counts' | 'number'>} replies what is counted of them
 */

// How a model is read: what its one command of ids answers, and what the ids name.

/**
 * @typedef {object} ModelFetch
 * @property {string} name of the command of ids
 * @property {string} key pattern
 * @property {readonly (readonly (string | Placeholder)[])[]} args behind the key
 * @property {Shape} shape
 * @property {string} id pattern of what names an item
 * @property {{ name: string, after: string[], many: boolean } | null} value
 */

const ofMembers = [
  'ZRANGE',
  'ZREVRANGE',
  'ZRANGEBYSCORE',
  'ZREVRANGEBYSCORE',
  'SMEMBERS',
  'SRANDMEMBER',
  'LRANGE',
]

/** @param {{ text: string, place: Place }} ids @param {ReadonlyMap<string, ModelKey>} keys */
const askOf = (ids, keys) => {
  const [first, key, ...rest] = parsed(ids, wordsOf)
  const name = patternOf(first?.parts ?? ['']).toUpperCase()
  const isPairs = name === 'HGETALL'
  if (!isPairs && !ofMembers.includes(name))
    return refuse(
      ids.place,
      `ids come from ${ofMembers.join(', ')} or HGETALL, not from ${name || 'nothing'}`,
      first?.at,
    )
  const pattern = key ? patternOf(key.parts) : ''
  const modelKey = keys.get(pattern)
  if (!modelKey)
    return refuse(ids.place, `no command of the model writes the key ${pattern || 'of ids'}`, key?.at)
  if (modelKey.type !== typeOfCommand(name))
    refuse(ids.place, `${name} needs a ${typeOfCommand(name)}, but ${pattern} is a ${modelKey.type}`, key.at)
  for (const { parts, at } of [key, ...rest])
    for (const part of parts)
      if (typeof part === 'object' && part.name !== 'oldest' && part.name !== 'minute' && part.name !== 'ttl')
        refuse(
          ids.place,
          `a fetch is about no item: it may name {oldest}, {minute} and {ttl}, not {${part.name}}`,
          at,
        )
  const isScored = rest.some(({ parts }) => patternOf(parts).toUpperCase() === 'WITHSCORES')
  /** @type {Shape} */
  const shape = isPairs ? 'pairs' : isScored ? 'scored' : 'members'
  return { name, key: pattern, args: rest.map(({ parts }) => parts), shape }
}

/** `GET`, or `HGET field`. @param {{ text: string, place: Place }} value */
const valueCommandIn = (value) => {
  const [name = '', ...after] = parsed(value, wordsOf).map(({ parts }) => patternOf(parts))
  const upper = name.toUpperCase()
  if (upper === 'GET' && after.length === 0) return { name: upper, after, many: true }
  if (upper === 'HGET' && after.length === 1) return { name: upper, after, many: false }
  return refuse(value.place, "a value is read by 'GET' or by 'HGET FIELD'", 0)
}

/** What names an item in the command that writes the key of ids. @param {string} key @param {readonly ReadCommand[]} commands */
const idIn = (key, commands) => {
  const writer = commands.find(({ patterns, indexes }) => indexes.some((i) => patterns[i] === key))
  return writer?.patterns.find((pattern, at) => !writer.indexes.includes(at) && pattern.includes('{n}'))
}

/**
 * @param {ReadText} read
 * @param {ReadonlyMap<string, ModelKey>} keys
 * @param {readonly ReadCommand[]} commands
 * @returns {ModelFetch}
 */
const readOf = (read, keys, commands) => {
  const ask = askOf(read.ids, keys)
  const value = read.value && valueCommandIn(read.value)
  const isPairs = ask.shape === 'pairs'
  if (isPairs && read.value)
    refuse(read.value.place, 'HGETALL brings the values with the ids: leave it out', 0)
  if (!isPairs && !value)
    refuse(read.ids.place, "nothing says how the value of an id is read: add 'value: GET'")
  const id = read.id ? patternOf(parsed(read.id, templateParts)) : idIn(ask.key, commands)
  if (id === undefined)
    return refuse(read.ids.place, `no command writes an id with {n} to ${ask.key}: add 'id:'`)
  if (!isNumbered(id))
    refuse((read.id ?? read.ids).place, `an id is a text and then {n}, as in item:{n}, not ${id}`, 0)
  const type = keys.get(id)?.type
  const wanted = value?.name === 'HGET' ? 'hash' : 'string'
  if (value && type !== wanted)
    refuse(
      (read.value ?? read.ids).place,
      `${value.name} needs a ${wanted}, but ${id} is ${type ? `a ${type}` : 'no key of the model'}`,
      0,
    )
  return { ...ask, id, value }
}

/** An item's number can be read from it. @param {string} id */
const isNumbered = (id) => /^[^{}]*\{n\}[^{}]*$/.test(id)

const ofItem = new Set(['n', 'key', 'value', 'writer', 'random'])
const ofTick = new Set(['time', 'oldest', 'minute'])
const inKeys = new Set(['n', 'key', 'minute', 'writer', 'random'])

/** @param {Word} word @param {(name: string) => boolean} holds */
const has = ({ parts }, holds) => parts.some((part) => typeof part === 'object' && holds(part.name))
/** @param {Word} word */
const isOfItem = (word) => has(word, (name) => ofItem.has(name))
/** @param {Word} word */
const isVarying = (word) => has(word, (name) => ofItem.has(name) || ofTick.has(name))

/**
 * Words of a command with its name, and which of them are keys.
 * @param {{ text: string, place: Place }} command
 * @param {ReadonlyMap<string, unknown> | null} declared patterns
 */
const readCommand = ({ text, place }, declared) => {
  const [first, ...words] = parsed({ text, place }, wordsOf)
  if (!first) return refuse(place, 'a command is missing')
  const name = patternOf(first.parts).toUpperCase()
  const patterns = words.map(({ parts }) => patternOf(parts))
  const byDeclaration = patterns.flatMap((pattern, i) => (declared?.has(pattern) ? [i] : []))
  if (!isKnown(name) && byDeclaration.length === 0)
    refuse(place, `unknown command ${name}${likeCommand(name)}`, first.at)
  const refusal = refusalOf(name, patterns)
  if (refusal) refuse(place, refusal, first.at)
  // The script as it is sent: braces are not doubled.
  const script = scriptFault(name, [textOf(words[0]), ...patterns.slice(1)])
  if (script && 'refused' in script)
    refuse(place, `${name}: its script calls what a model may not: ${script.refused}`, first.at)
  const wrong = aritySentence(name, words.length + 1)
  if (wrong) refuse(place, wrong, first.at)
  const indexes = isKnown(name) ? keyIndexes(name, patterns) : byDeclaration
  if (!indexes.some((i) => i < words.length))
    refuse(place, `${name} has no key, and a model's commands are about the keys that it declares`, first.at)
  return {
    name,
    words,
    patterns,
    indexes: indexes.filter((i) => i < words.length),
    place,
    at: first.at,
    unread: script && 'unread' in script ? `${place(first.at)}: ${script.unread}` : null,
  }
}

/** A word without placeholders as it is sent. @param {Word | undefined} word */
const textOf = (word) => (word?.parts ?? []).map((part) => (typeof part === 'string' ? part : '{}')).join('')

/** @typedef {ReturnType<typeof readCommand>} ReadCommand */

/** @param {Word} word @param {Place} place */
const checkKeyWord = (word, place) => {
  if (word.ends || word.opens) refuse(place, 'a key cannot be repeated: give each key a command', word.at)
  const fault = keyFault(patternOf(word.parts))
  if (fault) refuse(place, fault, word.at)
  for (const part of word.parts)
    if (typeof part === 'object' && !inKeys.has(part.name))
      refuse(place, `a key may hold {n}, {minute}, {writer} and {random a b}, not {${part.name}}`, word.at)
}

/** Seconds that a command gives to its keys; undefined: it says nothing of that. @param {ReadCommand} command @returns {Lifetime | undefined} */
const lifetimeIn = ({ name, patterns, words, place }) => {
  const upper = patterns.map((pattern) => pattern.toUpperCase())
  const option = upper.findIndex((word) => word === 'EX' || word === 'PX')
  const at =
    { SETEX: 1, EXPIRE: 1, PSETEX: 1, PEXPIRE: 1 }[name] ??
    (option >= 0 && (name === 'SET' || name === 'GETEX') ? option + 1 : -1)
  if (at < 0 || patterns[at] === undefined) return undefined
  if (patterns[at] === '{ttl}') return 'ttl'
  const scale = name.startsWith('P') || upper[option] === 'PX' ? 1000 : 1
  const number = Number(patterns[at])
  if (number / scale > longestLifetimeS)
    refuse(
      place,
      `${patterns[at]} is no lifetime: keys live for ${longestLifetimeS} seconds at most`,
      words[at].at,
    )
  return number > 0 ? Math.ceil(number / scale) : undefined
}

/**
 * The keys that the commands name, each with its type and lifetime.
 * @param {ModelText} model
 * @param {readonly ReadCommand[]} commands
 * @returns {Map<string, ModelKey>}
 */
const keysOf = ({ keys: declared }, commands) => {
  /** @type {Map<string, ModelKey & { by: string, untyped: () => never }>} */
  const keys = new Map()
  for (const command of commands) {
    const { name, words, patterns, indexes, place } = command
    for (const i of indexes) {
      const { parts, at } = words[i]
      checkKeyWord(words[i], place)
      const said = declared?.get(patterns[i])
      if (declared && !said) {
        const hint = didYouMean(patterns[i], [...declared.keys()])
        refuse(place, `${patterns[i]} is not among the model's keys${hint}`, at)
      }
      const type = typeOfCommand(name)
      const key = keys.get(patterns[i]) ?? {
        pattern: patterns[i],
        parts: parts.flatMap((part) =>
          typeof part === 'object' && part.name === 'key' ? templateParts('item:{n}') : part,
        ),
        type: said?.type ?? '',
        lifetime: said?.lifetime ?? null,
        by: 'its declaration',
        untyped: () =>
          refuse(
            place,
            `nothing says what type ${patterns[i]} has; declare it under keys: in a model file`,
            at,
          ),
      }
      if (type && key.type && type !== key.type)
        refuse(place, `${name} needs a ${type}, but ${patterns[i]} is a ${key.type} by ${key.by}`, at)
      if (type && !key.type) Object.assign(key, { type, by: name })
      if (i === indexes[0]) key.lifetime ??= lifetimeIn(command) ?? null
      keys.set(patterns[i], key)
    }
  }
  for (const { type, untyped } of keys.values()) if (!type) untyped()
  for (const [pattern, { place }] of declared ?? [])
    if (!keys.has(pattern)) refuse(place, `no command uses the key ${pattern}`)
  return keys
}

/** Arguments, with those that are repeated as lists. @param {ReadCommand} command @returns {(ModelArgument | ModelMany)[]} */
const argumentsOf = ({ words, indexes, place }) => {
  /** @type {(ModelArgument | ModelMany)[]} */
  const args = []
  const wordAt = (/** @type {number} */ i) => {
    const arg = args[i]
    return arg && 'word' in arg && !arg.key ? arg.word : null
  }
  for (const [i, word] of words.entries()) {
    args.push({ word, key: indexes.includes(i) })
    if (!word.ends) continue
    let from = args.length - 1
    if (word.ends === 'marked') while (wordAt(from) && !wordAt(from)?.opens) from--
    else for (let before = wordAt(from - 1); before && isVarying(before); before = wordAt(from - 1)) from--
    if (!wordAt(from)) refuse(place, 'this ] closes no list: write [a b]...', word.at)
    const many = args.splice(from).flatMap((arg) => ('word' in arg ? arg.word : []))
    if (!many.some(isOfItem))
      refuse(place, "nothing in it changes with the item, so '...' cannot repeat it", many[0].at)
    args.push({ many })
  }
  return args
}

/** @param {ReadCommand} command @param {CommandText} text @returns {ModelCommand} */
const commandOf = (command, { everyMs, per, retry, counts: names, number }) => {
  const { name, words, patterns, indexes, place } = command
  const args = argumentsOf(command)
  const isGathered = args.some((arg) => 'many' in arg)
  const counts = words.find((word) => has(word, (one) => one === 'count'))
  if (counts && (!isGathered || counts.parts.length > 1))
    refuse(place, "{count} is an argument of its own, of a command that repeats some by '...'", counts.at)
  const moving = words.find(isOfItem)
  const isTimed = everyMs !== undefined || per === 'tick'
  if (isTimed && moving)
    refuse(
      place,
      `sent for a key and not for an item, so ${patternOf(moving.parts)} has no value in it`,
      moving.at,
    )
  const loose = args.find((arg) => 'word' in arg && !arg.key && isOfItem(arg.word))
  if (isGathered && loose && 'word' in loose)
    refuse(
      place,
      `${patternOf(loose.word.parts)} changes with the item, so it must be repeated as well, as in [a b]...`,
      loose.word.at,
    )
  const kind = isTimed ? 'every' : isGathered ? 'gather' : moving || per === 'item' ? 'each' : 'every'
  return {
    kind,
    name,
    args,
    keys: indexes.map((i) => patterns[i]),
    everyMs: everyMs ?? 0,
    repeat: retry ?? repeatOf(name),
    replies: { ...(names && { counts: names }), ...(number && { number }) },
  }
}

/** The part of a key that decides about its slot. @param {string} pattern */
const tagIn = (pattern) => /\{\{(.+?)\}\}(?!\})/.exec(pattern)?.[1] ?? pattern

/** The commands and keys of a model. @param {ModelText} model */
export const compile = (model) => {
  if (model.write.length > mostCommands)
    refuse(model.place, `${model.write.length} commands are too many: a model has ${mostCommands} at most`)
  const read = model.write.map((command) => readCommand(command, model.keys))
  const keys = keysOf(model, read)
  const commands = read.map((command, i) => commandOf(command, model.write[i]))
  if (!commands.some(({ kind }) => kind !== 'every'))
    refuse(model.place, `no command carries an item: one must name ${itemWords}`)
  return {
    keys,
    commands,
    fetch: model.read && readOf(model.read, keys, read),
    /** A command whose keys are in several slots, which no cluster runs. */
    apart:
      read
        .find(({ patterns, indexes }) => new Set(indexes.map((i) => tagIn(patterns[i]))).size > 1)
        ?.place() ?? null,
    /** A script whose commands are not known. */
    unread: read.find(({ unread }) => unread)?.unread ?? null,
  }
}

const itemWords = [...ofItem].map((name) => (name === 'random' ? '{random a b}' : `{${name}}`)).join(', ')

/** @typedef {ReturnType<typeof compile>} Compiled */
