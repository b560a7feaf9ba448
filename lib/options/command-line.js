// The one parser of command lines, on that of yargs: an argv becomes what was typed of each option, and the words between.
import { Parser } from 'yargs/helpers'
import { OptionError } from '../base/errors.js'
import { nearest } from '../base/nearest.js'
import { shown, VALUE_TYPES } from './values.js'

/**
 * @import { Option } from '../../settings.js'
 * @import { TypeName } from './values.js'
 *
 * @typedef {object} Typed
 * @property {ReadonlyMap<string, { text: string, named: string }>} options by name; `named` as it was typed: `-q`
 * @property {readonly string[]} words
 * @property {readonly string[]} behind the option in front of each word, as it was typed, and what it takes; empty at the beginning
 * @property {number | null} separator words in front of a lone `--`
 * @property {'brief' | 'all' | null} help
 * @property {boolean} version
 */

/** Every spelling of an option. @param {Pick<Option, 'name' | 'aliases' | 'also'>} option */
export const namesOf = ({ name, aliases, also }) => [name, ...aliases, ...also]

/** @param {string} name */
export const dashed = (name) => `${name.length === 1 ? '-' : '--'}${name}`

/** @typedef {Pick<Option, 'name' | 'aliases' | 'also' | 'type' | 'bare' | 'choices' | 'repeatable'>} Known */

/** @type {Known[]} */
const everywhere = [
  { name: 'help', aliases: ['h'], also: [], type: 'flag' },
  { name: 'version', aliases: [], also: [], type: 'flag' },
]

/** @param {string} raw @param {string[]} known @returns {never} */
const refuse = (raw, known) => {
  const name = raw.split('=', 1)[0]
  const bare = name.replace(/^--?(no-)?/, '')
  const like = bare.length > 1 && known.length > 0 && nearest(bare, known)
  const hint = like ? `; did you mean ${dashed(like)}?` : ''
  throw new OptionError(
    `unknown option ${name.startsWith('--') ? '--' : '-'}${shown(name.replace(/^--?/, ''))}${hint}`,
  )
}

/** @param {Known} option */
const valueTypeOf = ({ type }) => VALUE_TYPES[/** @type {TypeName} */ (type)]

/**
 * Whether a word behind an option that needs no value is one.
 * @param {Known} option
 * @param {string} text
 */
const isValueOf = (option, text) =>
  option.choices?.includes(text) ??
  // A number too large for a port is meant as one: the error then names the option and its range.
  ((option.type === 'listener' && /^\d{1,9}$/.test(text)) ||
    valueTypeOf(option).read(text, /** @type {Option} */ (option)) !== undefined)

const isOption = (/** @type {string} */ word) => /^-[^\d.]/.test(word) && word !== '--'

/** The option that a word names, and how. @param {string} word @param {Map<string, Known>} byName */
const namedBy = (word, byName) => {
  const [, typed = '', inline] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? []
  const option = byName.get(typed) ?? byName.get(typed.replace(/^no-/, ''))
  const isNegative = option !== undefined && !byName.has(typed)
  return { option, inline, isNegative, named: word.split('=', 1)[0] }
}

// A word as the number of its place, which tells a value from other words: no command line holds this character.
const mark = (/** @type {number} */ place) => `\0${place}`
const placeIn = (/** @type {unknown} */ word) =>
  `${word}`.startsWith('\0') ? Number(`${word}`.slice(1)) : -1

/**
 * The words as yargs reads them as they are meant: a value that an option may do without is joined to it, `-p250ms` is
 * two words, and one that is no option is its place. Beside them how each option was typed, and what is in front of a word.
 * @param {readonly string[]} argv
 * @param {Map<string, Known>} byName
 */
const readable = (argv, byName) => {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  /** @type {Map<string, { named: string, next: string | undefined, isEmpty: boolean }>} */
  const typed = new Map()
  /** @type {string[]} */
  const behind = []
  let last = ''
  const words = argv.flatMap((word, i) => {
    behind[i] ??= last
    if (i >= end || !isOption(word)) return i === end ? word : mark(i)
    const letter = byName.get(word[1])
    const isJoined = /^-[^-][^=]/.test(word) && letter && letter.type !== 'flag' && letter.bare === undefined
    const { option, inline, isNegative, named } = namedBy(isJoined ? word.slice(0, 2) : word, byName)
    last = shown(named)
    if (option === undefined) return word
    const before = typed.get(option.name)
    if (before && option.type === 'flag')
      throw new OptionError(
        before.named === named ? `${named} is given twice` : `${before.named} and ${named}: give one of them`,
      )
    typed.set(option.name, { named, next: argv[i + 1], isEmpty: inline === '' })
    if (isJoined) return [named, word.slice(2)]
    if (option.bare !== undefined && inline === undefined) {
      if (isNegative) return `--${option.name}=none`
      if (i + 1 < end && isValueOf(option, argv[i + 1])) return named
      const expected = valueTypeOf(option).expects(/** @type {Option} */ (option))
      behind[i + 1] = `${last}, which takes ${expected}`
      return `${named}=${option.bare}`
    }
    if (option.type === 'flag' && inline !== undefined && !/^(true|false)$/.test(inline))
      throw new OptionError(`${named} takes no value`)
    return isNegative && option.type !== 'flag' ? refuse(word, []) : word
  })
  return { words, typed, behind }
}

/** @param {string[]} words @param {Iterable<Known>} options */
const parsed = (words, options) => {
  const all = [...options]
  const named = (/** @type {boolean} */ flags) =>
    all.filter(({ type }) => (type === 'flag') === flags).map(({ name }) => name)
  return Parser(words, {
    alias: Object.fromEntries(all.map((option) => [option.name, namesOf(option).slice(1)])),
    boolean: named(true),
    string: named(false),
    configuration: {
      'camel-case-expansion': false,
      'dot-notation': false,
      'duplicate-arguments-array': true,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'populate--': true,
      'strip-aliased': true,
      'unknown-options-as-args': true,
    },
  })
}

/** @param {string} name @param {string | undefined} next the word where its value belongs */
const lacksValue = (name, next = '') => {
  const hint = /^-[^-\d.]./.test(next) ? `; one that begins with a dash is given as --${name}=-...` : ''
  return new OptionError(`--${name} needs a value${hint}`)
}

/**
 * @param {readonly string[]} argv
 * @param {Map<string, Known>} byName
 * @param {string[]} long
 * @returns {Pick<Typed, 'options' | 'words' | 'behind'> & { before: number }} before: words in front of a lone `--`
 */
const readLine = (argv, byName, long) => {
  const { words, typed, behind } = readable(argv, byName)
  const { _: before, '--': after = [], ...found } = parsed(words, new Set(byName.values()))
  const unknown = before.find((word) => isOption(`${word}`))
  if (unknown !== undefined) refuse(`${unknown}`, long)
  /** @type {Map<string, { text: string, named: string }>} */
  const options = new Map()
  for (const [name, value] of Object.entries(found)) {
    const { type, repeatable } = /** @type {Known} */ (byName.get(name))
    const { named = '', next, isEmpty } = typed.get(name) ?? {}
    const texts = [value].flat().map((word) => argv[placeIn(word)] ?? `${word}`)
    // An empty prefix is one.
    const isNone = (/** @type {string} */ text) =>
      text === '--' || (text === '' && !(name === 'prefix' && isEmpty))
    if (type !== 'flag' && texts.some(isNone)) throw lacksValue(name, next)
    if (texts.length > 1 && repeatable === undefined) throw new OptionError(`--${name} is given twice`)
    options.set(name, { text: texts.join(repeatable), named })
  }
  const places = [...before, ...after].map(placeIn)
  return {
    options,
    words: places.map((at) => argv[at]),
    behind: places.map((at) => behind[at]),
    before: before.length,
  }
}

/** What yargs would read otherwise. @param {readonly string[]} argv @param {string[]} long */
const refuseLookalikes = (argv, long) => {
  for (const [i, word] of argv.entries()) {
    if (word === '--') return
    if (word === '-h' && /^[^-]/.test(argv[i + 1] ?? '-') && argv[i + 1] !== 'all')
      throw new OptionError('-h prints the help; the server is named by --host')
    // -tls would be -t -l -s.
    if (/^-[^-]{2}/.test(word) && long.includes(word.slice(1)))
      throw new OptionError(`unknown option ${word}; did you mean -${word}?`)
  }
}

/**
 * @param {readonly string[]} argv
 * @param {readonly Option[]} own
 * @returns {Typed}
 */
export const typedLine = (argv, own) => {
  /** @type {Map<string, Known>} */
  const byName = new Map(
    [...own, ...everywhere].flatMap((option) => namesOf(option).map((name) => [name, option])),
  )
  const long = [...byName.keys()].filter((name) => name.length > 1)
  refuseLookalikes(argv, long)
  const end = argv.indexOf('--')
  const asked = (end < 0 ? argv : argv.slice(0, end)).findIndex((word) => word === '--help' || word === '-h')
  // Help is given whatever else was mistyped.
  if (asked >= 0)
    return {
      ...{ options: new Map(), words: [], behind: [], separator: null, version: false },
      help: argv[asked + 1] === 'all' || argv[0] === 'all' ? 'all' : 'brief',
    }
  const { options, words, behind, before } = readLine(argv, byName, long)
  // An address needs no --url in front.
  const url =
    byName.has('url') && !options.has('url') ? words.findIndex((word) => /^rediss?:\/\//.test(word)) : -1
  const given = url < 0 ? options : new Map([...options, ['url', { text: words[url], named: '--url' }]])
  const isRest = (/** @type {unknown} */ _, /** @type {number} */ i) => i !== url
  return {
    options: given,
    words: words.filter(isRest),
    behind: behind.filter(isRest),
    separator: end < 0 ? null : before,
    help: null,
    version: options.get('version')?.text === 'true',
  }
}

/**
 * A word that no option takes may be a password, or the rest of one with a blank in it.
 * @param {Pick<Typed, 'words' | 'behind'>} typed
 * @param {number} [taken] how many words the command takes
 */
export const refuseWords = ({ words, behind }, taken = 0) => {
  if (words.length <= taken) return
  const where = behind[taken] ? ` after ${behind[taken]}` : ''
  throw new OptionError(`unexpected word on the command line${where} (not shown: it may be a password)`)
}
