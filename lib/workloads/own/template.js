// The text of a command as a model writes it: words, and the placeholders in them, each with the character (from 0) at
// which it begins. Pure.

import { didYouMean } from '../../base/did-you-mean.js'
import { OptionError } from '../../base/errors.js'

/**
 * @typedef {(at?: number) => string} Place names a character of a text
 * @typedef {{ text: string, place: Place }} Where
 * @typedef {{ name: string, args: number[] }} Placeholder
 * @typedef {object} Word
 * @property {number} at
 * @property {(string | Placeholder)[]} parts
 * @property {boolean} opens `[a b]...`: it is the first of what is repeated
 * @property {'' | 'varying' | 'marked'} ends it is the last of what is repeated, back to where it `opens`, or as far as
 *   arguments vary
 */

/** What is wrong with a text, and where. */
class TemplateError extends Error {
  /** @param {string} message @param {number} at */
  constructor(message, at) {
    super(message)
    this.at = at
  }
}

/** @param {Place} place @param {string} sentence @param {number} [at] @returns {never} */
export const refuse = (place, sentence, at) => {
  throw new OptionError(`${place(at)}: ${sentence}`)
}

/** Errors of reading a text name its place. @template T @param {Where} where @param {(text: string) => T} read @returns {T} */
export const parsed = ({ text, place }, read) => {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof TemplateError) return refuse(place, error.message, error.at)
    throw error
  }
}

/** What stands for what; docs and complaints list them in this order. @type {Readonly<Record<string, string>>} */
export const placeholders = Object.freeze({
  n: 'the number of the item',
  key: 'its key, item:{n}',
  value: 'its value, as --value-size and --payload say',
  ttl: 'seconds of --ttl',
  time: 'epoch milliseconds of the tick',
  oldest: 'the time before which items have expired, by --ttl',
  minute: 'epoch seconds / 60',
  writer: 'the number of the writer that owns the item',
  count: 'number of items that the command carries',
  random: 'a whole number from a to b, all equally likely; always the same for an item and a --seed',
})

/** What stands for what in a mix. @type {Readonly<Record<string, string>>} */
export const mixPlaceholders = Object.freeze({
  live: 'in a key: one of the keys that are there, all equally likely; {live 2} is another one',
  new: 'in a key: one that was never there; the pattern has one key more',
  turn: 'in a key: the new ones in turn, for what follows their making, such as EXPIRE',
  last: 'in a key: the oldest, for commands that remove it',
  missing: 'in a key: one that is never there',
  own: 'in a key: one that only this run of its steps names',
  id: 'under keys: the number of a key',
  bytes: 'as many bytes as bytes says',
  element:
    'the number of an element that the key has at the start; {element 150} draws from half as many more',
  add: 'the number of a new element',
  random: 'a whole number from a to b, all equally likely',
  lifetime: 'seconds of lifetime',
  left: 'at the fill: the seconds that are left of a key',
})

const blank = /\s/
const largest = 2 ** 32

/** @param {string} inner between the braces @param {number} at @param {Record<string, string>} allowed @returns {Placeholder} */
const placeholderIn = (inner, at, allowed) => {
  const [name, ...texts] = inner.trim().split(/\s+/)
  if (!Object.hasOwn(allowed, name)) {
    const hint = didYouMean(name, Object.keys(allowed), (like) => `{${like}}`)
    throw new TemplateError(`unknown placeholder {${inner}}${hint} (a brace is written {{ or }})`, at)
  }
  const args = texts.map(Number)
  if (name === 'element' && args.length === 1 && args[0] >= 1 && args[0] <= 10_000) return { name, args }
  if (name === 'live' && args.length === 1 && Number.isInteger(args[0]) && args[0] >= 1 && args[0] <= 1000)
    return { name, args }
  if (name !== 'random' && args.length > 0)
    throw new TemplateError(`{${name}} takes nothing behind its name`, at)
  const [from, to] = args
  if (name === 'random' && !(args.length === 2 && args.every(Number.isInteger) && from >= 0 && to >= from))
    throw new TemplateError(`{${inner}} must be {random a b}, two whole numbers from 0 on`, at)
  if (name === 'random' && to >= largest)
    throw new TemplateError(`{${inner}}: ${to} is above ${largest - 1}`, at)
  return { name, args }
}

/**
 * The parts of a text: what is between placeholders, and these; `{{` and `}}` are braces.
 * @param {string} text
 * @param {number} [begin] where it begins in the whole
 * @param {Record<string, string>} [allowed] placeholders
 */
export const templateParts = (text, begin = 0, allowed = placeholders) => {
  /** @type {(string | Placeholder)[]} */
  const parts = []
  let plain = ''
  for (let i = 0; i < text.length; i++) {
    const double = text[i] === text[i + 1]
    if ((text[i] === '{' || text[i] === '}') && double) {
      plain += text[i++]
    } else if (text[i] === '{') {
      const end = text.indexOf('}', i)
      if (end < 0) throw new TemplateError('this { is never closed (a brace is written {{)', begin + i)
      if (plain) parts.push(plain)
      plain = ''
      parts.push(placeholderIn(text.slice(i + 1, end), begin + i, allowed))
      i = end
    } else if (text[i] === '}') throw new TemplateError('a lone } (a brace is written }})', begin + i)
    else plain += text[i]
  }
  if (plain || parts.length === 0) parts.push(plain)
  return parts
}

/** Where a word that begins at `from` ends; blanks in quotes and in placeholders are a part of it. @param {string} line @param {number} from */
const endOf = (line, from) => {
  let quote = ''
  let depth = 0
  for (let i = from; i < line.length; i++) {
    const letter = line[i]
    if (quote) quote = letter === quote ? '' : quote
    else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '{') depth++
    else if (letter === '}') depth = Math.max(0, depth - 1)
    else if (blank.test(letter) && depth === 0) return i
  }
  if (quote) throw new TemplateError(`this ${quote} is never closed`, line.indexOf(quote, from))
  return line.length
}

/** @param {string} text @param {number} at @param {Record<string, string>} allowed @returns {Word} */
const wordOf = (text, at, allowed) => {
  const gathered = text.endsWith('...')
  const marked = gathered && text.endsWith(']...')
  let [from, to] = [0, text.length - (gathered ? 3 : 0)]
  if (marked) to--
  const opens = text.startsWith('[')
  if (opens) from++
  const quote = text[from]
  if ((quote === '"' || quote === "'") && text.indexOf(quote, from + 1) === to - 1) {
    from++
    to--
  }
  const inner = text.slice(from, to)
  const ends = marked ? 'marked' : gathered ? 'varying' : ''
  const parts = quote === "'" ? [inner] : templateParts(inner, at + from, allowed)
  return { at, parts, opens, ends }
}

/**
 * Words as redis-cli splits them: "two words" and 'two words' are one; between '...' braces mean nothing.
 * @param {string} line
 * @param {Record<string, string>} [allowed] placeholders
 * @returns {Word[]}
 */
export const wordsOf = (line, allowed = placeholders) => {
  /** @type {Word[]} */
  const words = []
  for (let i = 0; i < line.length; i++) {
    if (blank.test(line[i])) continue
    const end = endOf(line, i)
    words.push(wordOf(line.slice(i, end), i, allowed))
    i = end
  }
  // `[` alone is a part of an argument, as in ranges of members: only where a later `]...` closes it, it opens a list.
  let closes = false
  for (const word of words.toReversed()) {
    if (word.ends) closes = word.ends === 'marked'
    if (!word.opens) continue
    if (!closes) {
      word.opens = false
      const [first, ...rest] = word.parts
      word.parts = typeof first === 'string' ? [`[${first}`, ...rest] : ['[', ...word.parts]
    }
    closes = false
  }
  return words
}

/** Names of models. */
export const namePattern = '^[a-z][a-z0-9-]{0,39}$'

/** A pattern as it would be written: equal ones are the same key. @param {readonly (string | Placeholder)[]} parts */
export const patternOf = (parts) =>
  parts
    .map((part) => {
      if (typeof part === 'string') return part.replaceAll('{', '{{').replaceAll('}', '}}')
      return part.name === 'key' ? 'item:{n}' : `{${[part.name, ...part.args].join(' ')}}`
    })
    .join('')

const keyNumbers = ['live', 'new', 'turn', 'missing', 'last', 'own']

/** The number that a key has whatever a command does with it. @param {readonly (string | Placeholder)[]} parts */
export const mixPattern = (parts) =>
  patternOf(
    parts.map((part) =>
      typeof part === 'object' && keyNumbers.includes(part.name) ? { name: 'id', args: [] } : part,
    ),
  )
