// A mix as a file of YAML has it, checked: each complaint is a line that names its place.
import { didYouMean } from '../../base/did-you-mean.js'
import { certain } from '../../base/typed.js'
import {
  aritySentence,
  isKnown,
  isRead,
  keyFault,
  keyIndexes,
  likeCommand,
  longestLifetimeS,
  mostCommands,
  refusalOf,
  repeatOf,
  typeOfCommand,
} from './commands.js'
import { declarationOfMix, elementName } from './mix.js'
import { namePattern } from './schema.js'
import { mixPattern, mixPlaceholders, parsed, patternOf, refuse, templateParts, wordsOf } from './template.js'

/**
 * @import { Place } from './template.js'
 * @import { Mix } from '../declare.js'
 * @import { MixCommand, MixKey } from './mix.js'
 *
 * @typedef {Pick<MixKey, 'type' | 'keys'> & Partial<Pick<MixKey, 'element' | 'value'>> & { lifetime?: number, use?: number[],
 *   bytes?: number | number[], elements?: number | number[], left?: number | number[] }} SaidKey
 * @typedef {object} MixFile as the schema has it
 * @property {string} [name]
 * @property {string} [title]
 * @property {Mix['run']} [run]
 * @property {Record<string, SaidKey>} keys
 * @property {{ command: string, share: number }[]} mix
 */

const text = { type: 'string', minLength: 1 }
const seconds = { type: 'number', minimum: 1, maximum: longestLifetimeS }
/** @param {object} item */
const list = (item) => ({ anyOf: [item, { type: 'array', minItems: 1, maxItems: 1000, items: item }] })

export const mixSchema = Object.freeze({
  type: 'object',
  additionalProperties: false,
  required: ['keys', 'mix'],
  properties: {
    name: { type: 'string', pattern: namePattern },
    title: text,
    run: {
      type: 'object',
      additionalProperties: false,
      properties: {
        rate: { type: 'number', exclusiveMinimum: 0 },
        connections: { type: 'integer', minimum: 1, maximum: 10_000 },
        pipeline: { type: 'integer', minimum: 1, maximum: 10_000 },
      },
    },
    keys: {
      type: 'object',
      minProperties: 1,
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'keys'],
        properties: {
          type: { enum: ['string', 'list', 'set', 'zset', 'hash', 'stream'] },
          keys: { type: 'integer', minimum: 1, maximum: 1e9 },
          bytes: list({ type: 'integer', minimum: 1, maximum: 2 ** 26 }),
          use: {
            type: 'array',
            minItems: 1,
            maxItems: 1000,
            items: { type: 'number', minimum: 0, maximum: 1e9 },
          },
          elements: list({ type: 'integer', minimum: 1, maximum: 1e7 }),
          element: text,
          value: { enum: ['text', 'number'] },
          lifetime: seconds,
          left: list(seconds),
        },
      },
    },
    mix: {
      type: 'array',
      minItems: 1,
      maxItems: mostCommands,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['command', 'share'],
        properties: { command: text, share: { type: 'number', exclusiveMinimum: 0, maximum: 1e9 } },
      },
    },
    read: false,
  },
})

/** @param {number | number[] | undefined} one @param {number[]} none @returns {number[]} */
const asList = (one, none) => (one === undefined ? none : [one].flat())

/** @param {string} text */
const inMix = (text) => templateParts(text, 0, mixPlaceholders)

/** @param {MixFile} data @param {(path: (string | number)[]) => Place} nameAt */
const keysIn = (data, nameAt) =>
  new Map(
    Object.entries(data.keys).map(([name, said]) => {
      const place = nameAt(['keys', name])
      const parts = parsed({ text: name, place }, inMix)
      const odd = parts.find((part) => typeof part === 'object' && part.name !== 'id')
      if (typeof odd === 'object') refuse(place, `a pattern under keys has {id}, not {${odd.name}}`)
      const pattern = patternOf(parts)
      const fault = keyFault(pattern)
      if (fault) refuse(place, fault)
      if (said.keys > 1 && !parts.some((part) => typeof part === 'object'))
        refuse(place, `${pattern} names one key, not ${said.keys}; put {id} into it`)
      const element = said.element ?? elementName
      parsed({ text: element, place: nameAt(['keys', name, 'element']) }, inMix)
      const lifetime = said.lifetime ?? null
      const bytes = asList(said.bytes, [16])
      const use = said.use ?? null
      if (use && (said.type !== 'string' || use.length !== bytes.length || Math.max(...use) <= 0))
        refuse(
          nameAt(['keys', name, 'use']),
          'use has a number for each of the sizes in bytes, of keys that are strings, and one of them above 0',
        )
      return [
        pattern,
        {
          pattern,
          type: said.type,
          keys: said.keys,
          element,
          value: said.value ?? 'text',
          lifetime,
          bytes,
          use,
          elements: asList(said.elements, [1]),
          left: asList(said.left, lifetime === null ? [] : [lifetime]),
        },
      ]
    }),
  )

/** @param {{ text: string, share: number, place: Place }} command @param {ReturnType<typeof keysIn>} keys @returns {MixCommand} */
const commandIn = ({ text: line, share, place }, keys) => {
  const [first, ...words] = parsed({ text: line, place }, (text) => wordsOf(text, mixPlaceholders))
  const name = patternOf(first?.parts ?? []).toUpperCase()
  if (!isKnown(name)) refuse(place, `unknown command ${name}${likeCommand(name)}`, first?.at)
  const patterns = words.map(({ parts }) => patternOf(parts))
  const refusal =
    refusalOf(name, patterns) ??
    (/^(EVAL|FCALL)/.test(name)
      ? `${name}: a mix has no scripts; write what the script does as commands`
      : null) ??
    aritySentence(name, words.length + 1)
  if (refusal) refuse(place, refusal, first.at)
  const repeated = words.find(({ ends }) => ends)
  if (repeated)
    refuse(place, "'...' is for models with write: a command of a mix is about one key", repeated.at)
  const indexes = keyIndexes(name, patterns).filter((i) => i < words.length)
  if (indexes.length === 0)
    refuse(place, `${name} has no key, and a mix is about the keys that it declares`, first.at)
  for (const i of indexes) {
    const pattern = mixPattern(words[i].parts)
    const known = keys.get(pattern)
    if (!known || patterns[i].includes('{id}'))
      refuse(
        place,
        known
          ? `${patterns[i]}: say which key: {live}, {new}, {turn}, {last} or {missing}`
          : `${pattern} is not among the model's keys${didYouMean(pattern, [...keys.keys()])}`,
        words[i].at,
      )
    const type = typeOfCommand(name)
    if (type && known?.type !== type)
      refuse(place, `${name} needs a ${type}, but ${pattern} is a ${known?.type}`, words[i].at)
  }
  const firstKey = certain(keys.get(mixPattern(words[indexes[0]].parts)))
  if (firstKey.lifetime === null && patterns.some((pattern) => pattern.includes('{lifetime}')))
    refuse(place, `{lifetime}: ${firstKey.pattern} has no lifetime under keys`, first.at)
  for (const [i, { parts, at }] of words.entries())
    for (const part of parts)
      if (typeof part === 'object' && ['id', 'left'].includes(part.name))
        refuse(place, `{${part.name}} is for keys and fills, not for argument ${i + 1} of a command`, at)
  return {
    name,
    args: words.map(({ parts }) => parts),
    keyArgs: new Set(indexes),
    firstKey,
    share,
    repeat: repeatOf(name),
  }
}

/**
 * @param {MixFile} data
 * @param {{ name: string, title: string, onlyReads: boolean, place: (path: (string | number)[]) => Place, nameAt: (path: (string | number)[]) => Place }} about
 */
export const modelOfMix = (data, { name, title, onlyReads, place, nameAt }) => {
  const keys = keysIn(data, nameAt)
  /** @type {MixCommand[]} */
  const commands = data.mix.map(({ command, share }, i) =>
    commandIn({ text: command, share, place: place(['mix', i, 'command']) }, keys),
  )
  /** @type {Mix} */
  const file = {
    run: data.run ?? {},
    commands: commands.map(({ name: command, share, firstKey: { pattern } }) => ({
      name: command,
      share,
      pattern,
      reads: isRead(command),
    })),
  }
  const whole = declarationOfMix({ name, title, keys, commands, file })
  if (!onlyReads) return whole
  const reads = commands.filter((command) => isRead(command.name))
  if (reads.length === 0) refuse(place(['mix']), 'has no command that only reads')
  // About the same keys: what wrote them is the same model.
  return { ...declarationOfMix({ name, title, keys, commands: reads, file: null }), model: whole.model }
}
