// How a model is read: what its one command of ids answers, and what the ids name.
import { typeOfCommand } from './commands.js'
import { parsed, patternOf, refuse, templateParts, wordsOf } from './template.js'

/**
 * @import { Shape } from '../declare.js'
 * @import { ModelKey, ReadCommand, ReadText } from './compile.js'
 * @import { Place, Placeholder } from './template.js'
 *
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
export const readOf = (read, keys, commands) => {
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
