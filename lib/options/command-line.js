// The one parser of command lines: an argv becomes the typed text of each option, and the words between. It uses
// yargs-parser, which loads in a fifth of the 0.13 s of yargs/helpers.
import Parser from 'yargs-parser'
import { dashed, everywhere, namesOf } from '../../settings.js'
import { didYouMean } from '../base/did-you-mean.js'
import { OptionError } from '../base/errors.js'
import { shown, VALUE_TYPES } from './values.js'

/**
 * @import { Option } from '../../settings.js'
 *
 * @typedef {object} Typed
 * @property {ReadonlyMap<string, string>} options by name
 * @property {readonly string[]} letters names of the options that were typed as a letter
 * @property {readonly string[]} words
 * @property {readonly string[]} behind the option in front of each word, as it was typed, and what it takes; empty at the beginning
 * @property {number | null} separator words in front of a lone `--`
 * @property {'brief' | 'all' | null} help
 */

const anOption = /^(--?)([^\d.=-][^=]*)(?:=(.*))?$/s

// A number that is too large counts as a value, so that the error names the option and its range.
/** Whether the next word is the value of an option that needs none. @param {Option} option @param {string} text */
const isValueOf = (option, text) =>
  option.type !== 'flag' &&
  (/^\d{1,9}$/.test(text) || VALUE_TYPES[option.type].read(text, option) !== undefined)

// What other tools or commands call a server.
const elsewhere = new Map([
  ['p', ['port', 'url']],
  ['host', ['url']],
  ['port', ['url']],
])

/** The option that a word is. @param {string} word @param {ReadonlyMap<string, Option>} byName */
const optionIn = (word, byName) => {
  const [, dashes, whole, inline] = anOption.exec(word) ?? []
  if (whole === undefined) return
  const needsValue = (/** @type {Option | undefined} */ one) => one && one.type !== 'flag' && !one.bare
  // -cluster is --cluster with a dash too few, not -c luster.
  const isJoined = dashes === '-' && !byName.has(whole) && needsValue(byName.get(whole[0]))
  const name = isJoined ? whole[0] : whole
  const isOff = !byName.has(name) && name.startsWith('no-')
  const meant = isOff ? name.slice(3) : name
  const option = byName.get(meant)
  if (!option || (dashes === '-' && name.length > 1) || (isOff && needsValue(option))) {
    const others = meant.length === 1 || (isOff && option) ? [] : [...byName.keys()]
    const known = elsewhere.get(whole)?.find((one) => byName.has(one))
    const hint = known ? `; did you mean ${dashed(known)}?` : didYouMean(meant, others, dashed)
    throw new OptionError(`unknown option ${dashes}${shown(name)}${hint}`)
  }
  const named = `${dashes}${name}`
  const joined = /** @type {string | undefined} */ (isJoined ? word.slice(2) : inline)
  if (joined !== undefined && (isOff || (option.type === 'flag' && !/^(true|false)$/.test(joined))))
    throw new OptionError(`${named} takes no value`)
  const bare = option.type === 'flag' ? String(!isOff) : option.bare && (isOff ? 'none' : option.bare)
  return {
    option,
    named: option.bare ? `${named}, which takes ${VALUE_TYPES[option.type].expects(option)}` : named,
    text: joined ?? bare,
    takes: (/** @type {string} */ next) =>
      joined === undefined && (bare === undefined || (!isOff && isValueOf(option, next))),
  }
}

/** @param {readonly string[]} argv @param {readonly Option[]} own @returns {Typed} */
export const typedLine = (argv, own) => {
  const all = [...own, ...everywhere]
  const byName = new Map(all.flatMap((option) => namesOf(option).map((name) => [name, option])))
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const asked = argv.slice(0, end).findIndex((word) => word === '--help' || word === '-h')
  if (argv[asked] === '-h' && /^(?!all$)[^-]/.test(argv[asked + 1] ?? '-'))
    throw new OptionError('-h prints the help; give the server with --host')
  const help = argv[asked + 1] === 'all' || argv[0] === 'all' ? 'all' : 'brief'
  // Help is printed even if other options are wrong.
  const line = asked < 0 ? argv.slice(0, end) : []
  const parts = /** @type {ReturnType<typeof optionIn>[]} */ ([])
  // For texts the parser is given their places in the line, so that it has nothing to guess at.
  const placed = line.map((word, at) => {
    const part = optionIn(word, byName)
    parts.push(part)
    if (!part) return String(at)
    const { option, text, takes } = part
    // The end of the line is not a value.
    const next = line[at + 1] ?? '--end'
    if (!anOption.test(next) && takes(next)) return `--${option.name}`
    if (text || (text === '' && option.name === 'prefix')) return `--${option.name}=${at}`
    const isDashed = text === undefined && /^-[^-]./.test(next)
    const hint = isDashed ? `; one that begins with a dash is given as --${option.name}=-...` : ''
    throw new OptionError(`--${option.name} needs a value${hint}`)
  })
  const last = argv.slice(end).map((_, i) => (i === 0 ? '--' : String(end + i)))
  const configuration = { 'populate--': true, 'camel-case-expansion': false, 'parse-numbers': false }
  const { _: front, '--': after = [], ...found } = Parser([...placed, ...last], { configuration })
  // An address needs no --url in front.
  const isWord = (/** @type {any} */ at) => !byName.has('url') || !/^rediss?:\/\//.test(argv[at])
  for (const at of [...front, ...after].filter((one) => !isWord(one)))
    found.url = [found.url ?? [], at].flat()
  const textsOf = (/** @type {[string, any]} */ [name, value]) => {
    const texts = [value].flat().map((at) => parts[at]?.text ?? argv[at])
    const { repeatable } = /** @type {Option} */ (byName.get(name))
    if (texts.length > 1 && !repeatable) throw new OptionError(`--${name} is given twice`)
    return /** @type {const} */ ([name, texts.join(repeatable)])
  }
  const words = /** @type {number[]} */ (front.filter(isWord))
  return {
    options: new Map(Object.entries(found).map(textsOf)),
    letters: parts.flatMap((part) => (part?.named.length === 2 ? part.option.name : [])),
    words: [...words, ...after.filter(isWord)].map((at) => argv[Number(at)]),
    behind: words.map((at) => parts.slice(0, at).findLast(Boolean)?.named ?? ''),
    separator: end < argv.length ? words.length : null,
    help: asked < 0 ? null : help,
  }
}

// A word that no option takes may be a password, or the rest of one with a blank in it.
/** @param {Pick<Typed, 'words' | 'behind'>} typed @param {number} [taken] how many words the command takes */
export const refuseWords = ({ words, behind }, taken = 0) => {
  if (words.length <= taken) return
  const where = behind[taken] ? ` after ${behind[taken]}` : ''
  throw new OptionError(`unexpected word on the command line${where} (not shown: it may be a password)`)
}
