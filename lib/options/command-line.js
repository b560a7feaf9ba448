// The one parser of command lines, on that of yargs, which loads in a fifth of the 0.13 s that yargs/helpers takes: an argv
// becomes what was typed of each option, and the words between.
import Parser from 'yargs-parser'
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

const everywhere = /** @type {Option[]} */ (
  [
    { name: 'help', aliases: ['h'] },
    { name: 'version', aliases: [] },
  ].map((option) => ({ ...option, also: /** @type {string[]} */ ([]), type: 'flag' }))
)

/** Whether a word behind an option that needs no value is one. @param {Option} option @param {string} text */
const isValueOf = (option, text = '') =>
  (option.type === 'flag' ? ['true', 'false'] : option.choices)?.includes(text) ??
  // A number too large for a port is meant as one: the error then names the option and its range.
  (/^\d{1,9}$/.test(text) || VALUE_TYPES[option.type].read(text, option) !== undefined)

const anOption = /^(--?)([^\d.=-][^=]*)(?:=(.*))?$/s

/**
 * The options of a line as yargs reads them without a guess: each value is the number of its place in `texts`, options
 * that need no value have theirs, and `-p250ms` is two words. Refuses unknown options, and those given twice.
 * @param {readonly string[]} argv up to a lone `--`
 * @param {ReadonlyMap<string, Option>} byName
 */
const readable = (argv, byName) => {
  const texts = /** @type {{ text: string, behind: string }[]} */ ([])
  const named = /** @type {Map<string, string>} */ (new Map())
  let behind = ''
  const place = (/** @type {string} */ text) => `\0${texts.push({ text, behind }) - 1}`
  const words = argv.flatMap((word, at) => {
    const [, dashes, whole, inline] = anOption.exec(word) ?? []
    if (whole === undefined) return place(word)
    const isLetters = dashes === '-' && whole.length > 1
    // -cluster is --cluster with a dash too few, not -c luster.
    const letter = isLetters && !byName.has(whole) ? byName.get(whole[0]) : undefined
    const isJoined = letter && letter.type !== 'flag' && letter.bare === undefined
    const name = isJoined ? whole[0] : whole
    const bareName = byName.has(name) ? name : name.replace(/^no-/, '')
    const option = byName.get(bareName)
    const ofFlag = option?.type === 'flag' ? ['true', 'false'] : [option?.bare, option?.bare && 'none']
    const bare = ofFlag[name === bareName ? 0 : 1]
    if (!option || (dashes === '-' && name.length > 1) || (name !== bareName && bare === undefined)) {
      const like = bareName.length > 1 && nearest(bareName, [...byName.keys()])
      const hint = like && like !== name.slice(3) ? `; did you mean ${dashed(like)}?` : ''
      throw new OptionError(`unknown option ${dashes}${shown(name)}${hint}`)
    }
    const now = `${dashes}${name}`
    const before = named.get(option.name)
    if (before !== undefined && option.repeatable === undefined)
      throw new OptionError(
        option.type === 'flag' && before !== now
          ? `${before} and ${now}: give one of them`
          : `--${option.name} is given twice`,
      )
    named.set(option.name, now)
    behind = now
    if (isJoined) return [now, place(word.slice(2))]
    if (inline !== undefined && (name !== bareName || (option.type === 'flag' && !isValueOf(option, inline))))
      throw new OptionError(`${now} takes no value`)
    if (inline === '' && option.name !== 'prefix') throw new OptionError(`--${option.name} needs a value`)
    if (inline !== undefined) return [now, place(inline)]
    const next = argv[at + 1]
    if (bare === undefined && (next === undefined || anOption.test(next))) {
      const isDashed = /^-[^-]./.test(next ?? '')
      const hint = isDashed ? `; one that begins with a dash is given as --${option.name}=-...` : ''
      throw new OptionError(`--${option.name} needs a value${hint}`)
    }
    if (bare === undefined || (name === bareName && isValueOf(option, next))) return now
    if (option.bare) behind = `${now}, which takes ${VALUE_TYPES[option.type].expects(option)}`
    return [`--${bareName}`, place(bare)]
  })
  return { words, texts, named }
}

/**
 * @param {readonly string[]} argv
 * @param {readonly Option[]} own
 * @returns {Typed}
 */
export const typedLine = (argv, own) => {
  const all = [...own, ...everywhere]
  const byName = new Map(all.flatMap((option) => namesOf(option).map((name) => [name, option])))
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const asked = argv.slice(0, end).findIndex((word) => word === '--help' || word === '-h')
  if (argv[asked] === '-h' && /^(?!all$)[^-]/.test(argv[asked + 1] ?? '-'))
    throw new OptionError('-h prints the help; the server is named by --host')
  // Help is given whatever else was mistyped.
  if (asked >= 0) {
    const help = argv[asked + 1] === 'all' || argv[0] === 'all' ? 'all' : 'brief'
    return { options: new Map(), words: [], behind: [], separator: null, version: false, help }
  }
  const { words, texts, named } = readable(argv.slice(0, end), byName)
  // With all options it would take 2 ms.
  const given = all.filter(({ name }) => named.has(name))
  const { _: places, ...found } = Parser(words, {
    alias: Object.fromEntries(given.map((option) => [option.name, namesOf(option).slice(1)])),
    string: given.map(({ name }) => name),
    configuration: { 'camel-case-expansion': false, 'dot-notation': false, 'strip-aliased': true },
  })
  const at = (/** @type {unknown} */ mark) => texts[Number(`${mark}`.slice(1))]
  const options = new Map(
    Object.entries(found).map(([name, marks]) => {
      const text = [marks]
        .flat()
        .map((mark) => at(mark).text)
        .join(byName.get(name)?.repeatable)
      return [name, { text, named: named.get(name) ?? '' }]
    }),
  )
  const after = argv.slice(end + 1).map((text) => ({ text, behind: '' }))
  const rest = [...places.map(at), ...after]
  // An address needs no --url in front.
  const url =
    byName.has('url') && !options.has('url') ? rest.findIndex(({ text }) => /^rediss?:\/\//.test(text)) : -1
  if (url >= 0) options.set('url', { text: rest.splice(url, 1)[0].text, named: '--url' })
  return {
    options,
    words: rest.map(({ text }) => text),
    behind: rest.map((word) => word.behind),
    separator: end < argv.length ? rest.length - after.length : null,
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
