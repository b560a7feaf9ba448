// The one parser of command lines: an argv becomes the typed text of each option, and the words between. It uses
// yargs-parser, which loads in a fifth of the 0.13 s of yargs/helpers.
import { existsSync } from 'node:fs'
import Parser from 'yargs-parser'
import { dashed, everywhere, namesOf, OPTIONS, typedName } from '../../settings.js'
import { didYouMean } from '../base/did-you-mean.js'
import { OptionError, unreadable } from '../base/errors.js'
import { certain, exactly } from '../base/typed.js'
import { settingNamesOf } from './conflicts.js'
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
 * @property {ReadonlySet<string>} [dashed] names of the settings that were typed as options of their own, not by --with
 * @property {'brief' | 'all' | null} help
 * @property {string} [topic] the word behind --help
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

/** Which command takes an option, by its whole name. @param {string} name */
const takenBy = (name) => {
  const option = OPTIONS.find((one) => one.name === name)
  return option ? `; millrace ${option.for.includes('producer') ? 'write' : 'read'} takes it` : ''
}

/** @param {Option} option */
const settingHint = (option) =>
  `: type ${typedName(option)}${option.type === 'flag' ? '' : `=${VALUE_TYPES[option.type].place ?? 'TEXT'}`}`

/**
 * The option that a word is.
 * @param {string} word
 * @param {ReadonlyMap<string, Option>} byName
 * @param {ReadonlyMap<string, Option>} settings what --with takes; one may be typed as an option of its own
 */
const optionIn = (word, byName, settings) => {
  const [, dashes, whole, inline] = anOption.exec(word) ?? []
  if (whole === undefined) return
  const needsValue = (/** @type {Option | undefined} */ one) => one && one.type !== 'flag' && !one.bare
  // -cluster is --cluster with a dash too few, not -c luster.
  const isJoined = dashes === '-' && !byName.has(whole) && needsValue(byName.get(whole[0]))
  const name = isJoined ? whole[0] : whole
  const isOff = !byName.has(name) && name.startsWith('no-')
  const meant = isOff ? name.slice(3) : name
  const option = byName.get(meant) ?? settings.get(meant)
  if (!option || (dashes === '-' && name.length > 1) || (isOff && needsValue(option))) {
    const now = [...byName.values()].find(({ was = {} }) => Object.hasOwn(was, meant))?.was?.[meant]
    if (now && !option) throw new OptionError(`unknown option ${dashes}${name}: type ${now}`)
    const others = meant.length === 1 || (isOff && option) ? [] : [...byName.keys()]
    const known = elsewhere.get(whole)?.find((one) => byName.has(one))
    const like = known ? `; did you mean ${dashed(known)}?` : didYouMean(meant, others, dashed)
    const hint = like || (option ? '' : takenBy(meant))
    throw new OptionError(`unknown option ${dashes}${shown(name)}${hint}`)
  }
  const named = `${dashes}${name}`
  /** @type {string | undefined} */
  const joined = isJoined ? word.slice(2) : inline
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

/**
 * The texts of `page-size=50,coalesce`, by the names of the settings.
 * @param {string} text
 * @param {ReadonlyMap<string, Option>} settings
 * @param {string} strategy
 */
const namedIn = (text, settings, strategy) => {
  /** @type {Map<string, string>} */
  const texts = new Map()
  for (const part of text.split(/,(?=\s*[a-z][a-z-]*\s*(?:[=,]|$))/)) {
    const [, name, value] = /^\s*([^=\s]*)\s*(?:=\s*(.*?)\s*)?$/s.exec(part) ?? []
    const option = settings.get(name)
    if (!option) {
      const hint =
        didYouMean(name, [...settings.keys()]) ||
        `; it takes ${settingNamesOf(strategy, [...settings.values()]).join(', ') || 'none'}`
      throw new OptionError(`--with has no setting '${shown(name)}'${hint}`)
    }
    const given = value ?? (option.type === 'flag' ? 'true' : '')
    if (given === '') throw new OptionError(`${typedName(option)} needs a value${settingHint(option)}`)
    if (option.type === 'flag' && !/^(true|false)$/.test(given))
      throw new OptionError(`${typedName(option)} takes no value`)
    if (texts.has(option.name)) throw new OptionError(`${typedName(option)} is given twice`)
    texts.set(option.name, given)
  }
  return texts
}

/**
 * @param {Map<string, string>} options with --with as it was typed
 * @param {ReadonlyMap<string, Option>} settings
 * @param {string} [word] in front, which may be a strategy
 */
const withNamed = (options, settings, word = '') => {
  const { with: text, ...rest } = Object.fromEntries(options)
  if (text === undefined) return options
  const named = namedIn(text, settings, options.get('strategy') ?? word)
  const twice = [...named.keys()].find((name) => options.has(name))
  if (twice) throw new OptionError(`--${twice} is given twice`)
  return new Map([...Object.entries(rest), ...named])
}

/** How an option was typed, where it has more than one name. @param {string} name @param {readonly ReturnType<typeof optionIn>[]} parts */
const spellingsOf = (name, parts) => {
  const typed = parts.flatMap((part) => (part?.option.name === name ? part.named.split(',')[0] : []))
  const names = [...new Set(typed)]
  return names.length > 1 ? `, as ${names.join(' and ')}` : ''
}

/** @param {readonly Option[]} options */
const byNames = (options) =>
  new Map(options.flatMap((option) => namesOf(option).map((name) => [name, option])))

/** @param {readonly string[]} argv @param {readonly Option[]} own @returns {Typed} */
export const typedLine = (argv, own) => {
  const settings = byNames(own.filter((option) => option.with))
  const all = [...own.filter((option) => !option.with), ...everywhere]
  const byName = byNames(all)
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const asked = argv.slice(0, end).findIndex((word) => word === '--help' || word === '-h')
  if (argv[asked] === '-h' && /^(?!all$)[^-]/.test(argv[asked + 1] ?? '-'))
    throw new OptionError('-h prints the help; give the server with --host')
  const help = argv[asked + 1] === 'all' || argv[0] === 'all' ? 'all' : 'brief'
  // Help is printed even if other options are wrong.
  const line = asked < 0 ? argv.slice(0, end) : []
  /** @type {ReturnType<typeof optionIn>[]} */
  const parts = []
  // For texts the parser is given their places in the line, so that it has nothing to guess at.
  const placed = line.map((word, at) => {
    const part = optionIn(word, byName, settings)
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
  const isWord = (/** @type {string | number} */ at) =>
    !byName.has('url') || !/^rediss?:\/\//.test(argv[Number(at)])
  for (const at of [...front, ...after].filter((one) => !isWord(one)))
    found.url = [found.url ?? [], at].flat()
  const textsOf = (/** @type {[string, number]} */ [name, value]) => {
    const texts = [value].flat().map((at) => parts[at]?.text ?? argv[at])
    const { repeatable } = certain(byName.get(name) ?? settings.get(name))
    if (texts.length > 1 && !repeatable)
      throw new OptionError(`--${name} is given twice${spellingsOf(name, parts)}`)
    return exactly([name, texts.join(repeatable)])
  }
  const words = front.filter(isWord).map(Number)
  return {
    options: withNamed(new Map(Object.entries(found).map(textsOf)), settings, argv[words[0]]),
    letters: parts.flatMap((part) => (part?.named.length === 2 ? part.option.name : [])),
    words: [...words, ...after.filter(isWord)].map((at) => argv[Number(at)]),
    behind: words.map((at) => parts.slice(0, at).findLast(Boolean)?.named ?? ''),
    separator: end < argv.length ? words.length : null,
    dashed: new Set(Object.keys(found)),
    help: asked < 0 ? null : help,
    topic: asked < 0 ? undefined : argv[asked + 1],
  }
}

/** The first word is none of the commands that follow a name, or is missing. @param {string | undefined} word @param {readonly string[]} names */
export const unknownAction = (word, names) =>
  new OptionError(
    word === undefined
      ? `a command is missing: ${names.join(', ')} (see --help)`
      : `'${shown(word)}' is no command: ${names.join(', ')} (see --help)`,
  )

/** The path of a file, by its ending or its beginning; a password may have a slash within. @param {string} word */
const isPath = (word) => /\.(ya?ml|json)$|^\.{1,2}\//.test(word)

// A word that no option takes may be a password, or the rest of one with a blank in it.
/** @param {Pick<Typed, 'words' | 'behind'>} typed @param {number} [taken] how many words the command takes */
export const refuseWords = ({ words, behind }, taken = 0) => {
  if (words.length <= taken) return
  const word = words[taken]
  if (isPath(word) && !existsSync(word)) throw unreadable(word, { code: 'ENOENT', message: '' })
  const where = behind[taken] ? ` after ${behind[taken]}` : ''
  throw new OptionError(`unexpected word on the command line${where} (not shown: it may be a password)`)
}
