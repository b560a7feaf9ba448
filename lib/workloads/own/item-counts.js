// How many bytes a template's commands store in a key beside the key itself and a short name in it. Pure.
import { allocated } from '../../traffic/sizes.js'
import { patternOf } from './template.js'

/**
 * @import { ModelCommand } from './compile.js'
 * @import { OwnFields } from './fields.js'
 * @import { Word } from './template.js'
 *
 * @typedef {Pick<OwnFields, 'live' | 'writers' | 'valueBytesStored'>} PlanFields
 */

// Names of this length are in the measured costs of elements; 6 bytes are the header of a string.
const measuredName = 10
const headerBytes = 6
// No server stores a longer string by default (proto-max-bulk-len).
const longestString = 2 ** 29
// Epoch seconds / 60, and no less for many years.
const someMinute = 40_000_000

/** @param {ModelCommand} command @returns {Word[]} all but the keys */
export const wordsIn = ({ args }) =>
  args.flatMap((arg) => ('many' in arg ? arg.many : arg.key ? [] : arg.word))

/** The words that a command stores in this key. @param {ModelCommand} command @param {string} pattern @returns {Word[]} */
const wordsFor = (command, pattern) => {
  const { name, args, keys } = command
  if (name === 'MSET' || name === 'MSETNX')
    return args.flatMap((arg, i) => {
      const before = args[i - 1]
      const isOurs = before && 'word' in before && before.key && patternOf(before.word.parts) === pattern
      return isOurs && 'word' in arg ? arg.word : []
    })
  if (keys[0] !== pattern) return []
  // A script and the number of its keys are not stored.
  return /^(EVAL|EVALSHA|FCALL)$/.test(name) ? wordsIn(command).slice(2) : wordsIn(command)
}

/** @param {PlanFields} t @param {Word} word */
const bytesIn = (t, { parts }) => {
  let literal = 0
  let values = 0
  for (const part of parts) {
    if (typeof part === 'string') literal += Buffer.byteLength(part)
    else if (part.name === 'value') values++
  }
  const longer = Math.max(0, allocated(literal + headerBytes) - allocated(measuredName + headerBytes))
  return longer + values * t.valueBytesStored
}

/** The largest number that a word becomes, as text. @param {PlanFields} t @param {Word} word */
const largestIn = (t, { parts }) => {
  /** @type {Record<string, number>} */
  const largest = {
    n: Math.ceil(t.live.ranked),
    writer: t.writers,
    minute: someMinute,
  }
  return parts
    .map((part) => (typeof part === 'string' ? part : (part.args[1] ?? largest[part.name] ?? '')))
    .join('')
}

/** Bytes up to the last bit that SET and INCRBY of a BITFIELD reach. @param {string[]} texts */
const bitfieldBytes = (texts) => {
  const ends = texts.map((text, i) => {
    if (!/^(SET|INCRBY)$/i.test(text)) return 0
    const bits = Number(texts[i + 1]?.slice(1))
    const offset = texts[i + 2] ?? ''
    return bits + (offset.startsWith('#') ? Number(offset.slice(1)) * bits : Number(offset))
  })
  return Math.max(0, ...ends) / 8
}

/**
 * Where a command writes behind an offset, the string is as long as that, whatever is written; null: it does not.
 * @param {PlanFields} t
 * @param {string} name
 * @param {Word[]} words
 */
const reachOf = (t, name, words) => {
  const texts = words.map((word) => largestIn(t, word))
  if (name === 'SETBIT') return Math.floor(Number(texts[0]) / 8) + 1
  if (name === 'SETRANGE') return Number(texts[0]) + (words[1] ? bytesIn(t, words[1]) : 0)
  return name === 'BITFIELD' ? bitfieldBytes(texts) : null
}

/** @param {PlanFields} t @param {ModelCommand} command @param {string} pattern */
const storedBy = (t, command, pattern) => {
  const words = wordsFor(command, pattern)
  if (words.length === 0) return 0
  const reach = reachOf(t, command.name, words)
  // An offset that is no number, or too large, is refused by the server.
  if (reach !== null) return reach > 0 && reach <= longestString ? allocated(reach) : 0
  return words.reduce((sum, word) => sum + bytesIn(t, word), 0)
}

/**
 * What the commands store in a key: a string is replaced by each of them, other types grow.
 * @param {PlanFields} t
 * @param {readonly ModelCommand[]} commands
 * @param {string} pattern of the key
 * @param {string} type
 */
export const bytesStored = (t, commands, pattern, type) => {
  const each = commands.map((command) => storedBy(t, command, pattern))
  return type === 'string' ? Math.max(0, ...each) : each.reduce((sum, bytes) => sum + bytes, 0)
}
