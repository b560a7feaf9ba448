// A mix as a file of YAML has it, checked: each complaint is a line that names its place.
import { didYouMean } from '../../base/did-you-mean.js'
import { certain, exactly } from '../../base/typed.js'
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
import { declarationOfMix } from './mix.js'
import {
  mixPattern,
  mixPlaceholders,
  namePattern,
  parsed,
  patternOf,
  refuse,
  templateParts,
  wordsOf,
} from './template.js'

/**
 * @import { Place } from './template.js'
 * @import { Mix } from '../declare.js'
 * @import { MixCommand, MixKey, MixOperation } from './mix.js'
 *
 * @typedef {Pick<MixKey, 'type' | 'keys'> & Partial<Pick<MixKey, 'element' | 'value'>> & { lifetime?: number, use?: number[],
 *   bytes?: number | number[], elements?: number | number[], left?: number | number[] }} SaidKey
 * @typedef {object} MixFile as the schema has it
 * @property {string} [name]
 * @property {string} [title]
 * @property {Mix['run']} [run]
 * @property {Record<string, SaidKey>} keys
 * @property {MixEntry[]} mix
 *
 * @typedef {string | { transaction: string[] }} Step
 * @typedef {{ command?: string, steps?: Step[], transaction?: string[], share: number }} MixEntry
 */

/** What names an element where the file does not. */
const elementName = 'e{element}'

const text = { type: 'string', minLength: 1 }
const seconds = { type: 'number', minimum: 1, maximum: longestLifetimeS }
/** @param {object} item */
const list = (item) => ({ anyOf: [item, { type: 'array', minItems: 1, maxItems: 1000, items: item }] })

// As many steps and commands of a transaction an operation may have.
const mostSteps = 100
const transaction = { type: 'array', minItems: 1, maxItems: mostSteps, items: text }

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
        required: ['share'],
        properties: {
          command: text,
          steps: {
            type: 'array',
            minItems: 1,
            maxItems: mostSteps,
            items: {
              type: ['string', 'object'],
              minLength: 1,
              additionalProperties: false,
              required: ['transaction'],
              properties: { transaction },
            },
          },
          transaction,
          share: { type: 'number', exclusiveMinimum: 0, maximum: 1e9 },
        },
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

/** @param {{ text: string, place: Place, isAlone: boolean }} command isAlone: no step of several @param {ReturnType<typeof keysIn>} keys @returns {MixCommand} */
const commandIn = ({ text: line, place, isAlone }, keys) => {
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
  const own = words.find(({ parts }) => parts.some((part) => typeof part === 'object' && part.name === 'own'))
  if (isAlone && own) refuse(place, '{own} is for steps and transactions, which name it again', own.at)
  return {
    name,
    args: words.map(({ parts }) => parts),
    keyArgs: new Set(indexes),
    firstKey,
    repeat: repeatOf(name),
  }
}

/** All lines of an entry, pauses too. @param {Partial<MixEntry>} entry @returns {string[]} */
export const linesOf = ({ command, steps, transaction = [] }) =>
  command === undefined
    ? [steps ?? { transaction }]
        .flat()
        .flatMap((step) => (typeof step === 'string' ? step : (step?.transaction ?? [])))
    : [command]

const pause = /^pause (\d+(?:\.\d+)?)(ms|s)$/

/**
 * An entry of the mix: a command, or steps.
 * @param {MixEntry} entry
 * @param {number} at
 * @param {ReturnType<typeof keysIn>} keys
 * @param {(path: (string | number)[]) => Place} place
 * @returns {MixOperation}
 */
const operationIn = (entry, at, keys, place) => {
  const given = exactly(['command', 'steps', 'transaction']).filter((name) => entry[name] !== undefined)
  if (given.length !== 1) refuse(place(['mix', at]), 'has one of command, steps or transaction')
  const { share, command, steps = [{ transaction: entry.transaction ?? [] }] } = entry
  const path = ['mix', at, ...given]
  if (command !== undefined) {
    const only = commandIn({ text: command, place: place(path), isAlone: true }, keys)
    return { share, commands: [only], sequence: null }
  }
  /** @type {MixCommand[]} */
  const commands = []
  /** @type {NonNullable<MixOperation['sequence']>[number][]} */
  const sequence = []
  let pauseMs = 0
  for (const [group, step] of steps.entries()) {
    const own = given[0] === 'steps' ? [...path, group] : path
    if (typeof step === 'string' && /^pause\b/.test(step)) {
      const [, n, unit] = pause.exec(step) ?? refuse(place(own), "a pause has a time, as in 'pause 20ms'")
      pauseMs += Number(n) * (unit === 's' ? 1000 : 1)
      continue
    }
    const isTransaction = typeof step !== 'string'
    const lines = isTransaction ? step.transaction : [step]
    const inStep = isTransaction && given[0] === 'steps' ? [...own, 'transaction'] : own
    for (const [i, text] of lines.entries()) {
      commands.push(
        commandIn({ text, place: place(isTransaction ? [...inStep, i] : own), isAlone: false }, keys),
      )
      sequence.push({ group, isTransaction, pauseMs: i === 0 ? pauseMs : 0 })
    }
    pauseMs = 0
  }
  if (pauseMs > 0 || commands.length === 0)
    refuse(place([...path, steps.length - 1]), 'a pause is between two commands')
  return { share, commands, sequence }
}

/**
 * @param {MixFile} data
 * @param {{ name: string, title: string, onlyReads: boolean, place: (path: (string | number)[]) => Place, nameAt: (path: (string | number)[]) => Place }} about
 */
export const modelOfMix = (data, { name, title, onlyReads, place, nameAt }) => {
  const keys = keysIn(data, nameAt)
  const mixed = data.mix.map((entry, i) => operationIn(entry, i, keys, place))
  /** @type {Mix} */
  const file = {
    run: data.run ?? {},
    commands: mixed.flatMap(({ share, commands }) =>
      commands.map(({ name: command, firstKey: { pattern } }) => ({
        name: command,
        share,
        pattern,
        reads: isRead(command),
      })),
    ),
  }
  const whole = declarationOfMix({ name, title, keys, mixed, file })
  if (!onlyReads) return whole
  const reads = mixed.filter(({ commands }) => commands.every((command) => isRead(command.name)))
  if (reads.length === 0) refuse(place(['mix']), 'has no command that only reads')
  // About the same keys: what wrote them is the same model.
  return { ...declarationOfMix({ name, title, keys, mixed: reads, file: null }), model: whole.model }
}
