// The one parser of command lines, on that of yargs: an argv becomes what was typed of each option, and the words between.
import { Parser } from 'yargs/helpers'
import { OptionError } from '../base/errors.js'
import { nearest } from '../base/nearest.js'
import { shown, VALUE_TYPES } from './values.js'

/**
 * @import { Option } from '../../settings.js'
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

const everywhere = /** @type {Option[]} */ ([
  { name: 'help', aliases: ['h'], also: /** @type {string[]} */ ([]), type: 'flag' },
  {
    name: 'version',
    aliases: /** @type {string[]} */ ([]),
    also: /** @type {string[]} */ ([]),
    type: 'flag',
  },
])

const configuration = {
  'camel-case-expansion': false,
  'dot-notation': false,
  'duplicate-arguments-array': true,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'strip-aliased': true,
}

/** @param {string} word @param {readonly string[]} known @returns {never} */
const refuse = (word, known) => {
  const [, dashes = '', name] = /^(-*)([^=]*)/.exec(word) ?? []
  const bare = name.replace(/^no-/, '')
  const like = bare.length > 1 && nearest(bare, known)
  const hint = like ? `; did you mean ${dashed(like)}?` : ''
  throw new OptionError(`unknown option ${dashes}${shown(name)}${hint}`)
}

/** Whether a word behind an option that needs no value is one. @param {Option} option @param {string} text */
const isValueOf = (option, text) =>
  option.choices?.includes(text) ??
  // A number too large for a port is meant as one: the error then names the option and its range.
  ((option.type === 'listener' && /^\d{1,9}$/.test(text)) ||
    VALUE_TYPES[option.type].read(text, option) !== undefined)

const isOption = (/** @type {string} */ word) => /^-[^\d.]/.test(word)

// A word as the number of its place, which tells a value from other words: no command line holds this character.
const mark = (/** @type {number} */ place) => `\0${place}`
const placeIn = (/** @type {unknown} */ word) =>
  `${word}`.startsWith('\0') ? Number(`${word}`.slice(1)) : -1

/**
 * What was typed, as yargs reads it as it is meant: `-p250ms` is two words, a value that an option may do without is
 * joined to it, and each other word is its place. Unknown options, and flags given twice, are refused.
 * @param {readonly string[]} argv up to a lone `--`
 * @param {ReadonlyMap<string, Option>} byName
 */
const readable = (argv, byName) => {
  const long = [...byName.keys()].filter((name) => name.length > 1)
  /** @type {Map<string, { named: string, at: number }>} */
  const typed = new Map()
  /** @type {string[]} */
  const behind = []
  let last = ''
  const words = argv.flatMap((word, at) => {
    behind[at] ??= last
    if (!isOption(word)) return mark(at)
    const letter = byName.get(word[1])
    const isJoined = /^-[^-][^=]/.test(word) && letter && letter.type !== 'flag' && letter.bare === undefined
    const [named, ...inline] = isJoined ? [word.slice(0, 2), word.slice(2)] : word.split(/=(.*)/s, 2)
    const name = named.replace(/^--?/, '')
    // -tls would be -t -l -s.
    if (/^-[^-]{2}/.test(word) && long.includes(word.slice(1))) refuse(word, [word.slice(1)])
    const option = byName.get(name) ?? byName.get(name.replace(/^no-/, ''))
    if (option === undefined) return refuse(word, long)
    const isNegative = !byName.has(name)
    last = shown(named)
    const before = typed.get(option.name)?.named
    if (before && option.type === 'flag')
      throw new OptionError(
        before === named ? `${named} is given twice` : `${before} and ${named}: give one of them`,
      )
    typed.set(option.name, { named, at })
    if (option.bare !== undefined && inline.length === 0) {
      if (isNegative) return `--${option.name}=none`
      if (at + 1 < argv.length && isValueOf(option, argv[at + 1])) return named
      behind[at + 1] = `${last}, which takes ${VALUE_TYPES[option.type].expects(option)}`
      return `${named}=${option.bare}`
    }
    if (option.type === 'flag' && inline.length > 0 && !/^(true|false)$/.test(inline[0]))
      throw new OptionError(`${named} takes no value`)
    if (isNegative && option.type !== 'flag') refuse(word, [])
    return isJoined ? [named, ...inline] : word
  })
  return { words, typed, behind }
}

/**
 * @param {readonly string[]} argv
 * @param {ReadonlyMap<string, Option>} byName
 */
const readLine = (argv, byName) => {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const { words, typed, behind } = readable(argv.slice(0, end), byName)
  const all = [...new Set(byName.values())]
  const { _: before, ...found } = Parser(words, {
    alias: Object.fromEntries(all.map((option) => [option.name, namesOf(option).slice(1)])),
    boolean: all.filter(({ type }) => type === 'flag').map(({ name }) => name),
    string: all.filter(({ type }) => type !== 'flag').map(({ name }) => name),
    configuration,
  })
  const options = new Map(
    Object.entries(found).map(([name, value]) => {
      const { type, repeatable } = /** @type {Option} */ (byName.get(name))
      const { named, at } = typed.get(name) ?? { named: '', at: 0 }
      const texts = [value].flat().map((word) => argv[placeIn(word)] ?? `${word}`)
      // An empty prefix is one.
      if (type !== 'flag' && texts.includes('') && !(name === 'prefix' && argv[at].endsWith('='))) {
        const hint = /^-[^-\d.]./.test(argv[at + 1] ?? '')
        throw new OptionError(
          `--${name} needs a value${hint ? `; one that begins with a dash is given as --${name}=-...` : ''}`,
        )
      }
      if (texts.length > 1 && repeatable === undefined) throw new OptionError(`--${name} is given twice`)
      return [name, { text: texts.join(repeatable), named }]
    }),
  )
  const places = before.map(placeIn)
  const after = argv.slice(end + 1)
  return {
    options,
    words: [...places.map((at) => argv[at]), ...after],
    behind: [...places.map((at) => behind[at]), ...after.map(() => '')],
    separator: end < argv.length ? places.length : null,
  }
}

/**
 * @param {readonly string[]} argv
 * @param {readonly Option[]} own
 * @returns {Typed}
 */
export const typedLine = (argv, own) => {
  const byName = new Map(
    [...own, ...everywhere].flatMap((option) => namesOf(option).map((name) => [name, option])),
  )
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const asked = argv.slice(0, end).findIndex((word) => word === '--help' || word === '-h')
  if (argv[asked] === '-h' && /^(?!all$)[^-]/.test(argv[asked + 1] ?? '-'))
    throw new OptionError('-h prints the help; the server is named by --host')
  // Help is given whatever else was mistyped.
  if (asked >= 0) {
    const help = argv[asked + 1] === 'all' || argv[0] === 'all' ? 'all' : 'brief'
    return { options: new Map(), words: [], behind: [], separator: null, version: false, help }
  }
  const { options, words, behind, separator } = readLine(argv, byName)
  // An address needs no --url in front.
  const url =
    byName.has('url') && !options.has('url') ? words.findIndex((word) => /^rediss?:\/\//.test(word)) : -1
  if (url >= 0) options.set('url', { text: words[url], named: '--url' })
  const isRest = (/** @type {unknown} */ _, /** @type {number} */ i) => i !== url
  return {
    ...{ options, words: words.filter(isRest), behind: behind.filter(isRest), separator, help: null },
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
