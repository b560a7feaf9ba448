// The one parser of command lines: an argv becomes what was typed of each option, and the words between them.
import { parseArgs } from 'node:util'
import { nearest } from '../base/nearest.js'
import { OptionError } from '../errors.js'
import { shown, VALUE_TYPES } from './values.js'

/**
 * @typedef {import('../../settings.js').Option} Option
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

/** @type {Pick<Option, 'name' | 'aliases' | 'also' | 'type' | 'bare' | 'choices'>[]} */
const everywhere = [
  { name: 'help', aliases: ['h'], also: [], type: 'flag' },
  { name: 'version', aliases: [], also: [], type: 'flag' },
]

/** @typedef {{ kind: 'option', rawName: string, value?: string, inlineValue?: boolean, index: number }} OptionToken */

/** @param {string} raw @param {string[]} known @returns {never} */
const refuse = (raw, known) => {
  const bare = raw.replace(/^--?(no-)?/, '')
  const like = bare.length > 1 && nearest(bare, known)
  const hint = like ? `; did you mean ${dashed(like)}?` : ''
  throw new OptionError(
    `unknown option ${raw.startsWith('--') ? '--' : '-'}${shown(raw.replace(/^--?/, ''))}${hint}`,
  )
}

/**
 * Whether a word behind an option that needs no value is one.
 * @param {(typeof everywhere)[number]} option
 * @param {string} text
 */
const isValueOf = ({ type, choices, ...option }, text) =>
  choices?.includes(text) ??
  // A number too large for a port is meant as one: the error then names the option and its range.
  ((type === 'listener' && /^\d{1,9}$/.test(text)) ||
    VALUE_TYPES[/** @type {import('./values.js').TypeName} */ (type)].read(
      text,
      /** @type {Option} */ (option),
    ) !== undefined)

/** @param {(typeof everywhere)[number]} option */
const expectedOf = (option) =>
  VALUE_TYPES[/** @type {import('./values.js').TypeName} */ (option.type)].expects(
    /** @type {Option} */ (option),
  )

/** The value of a token, or a sentence on why it has none. @param {OptionToken} token @param {Pick<Option, 'name' | 'type' | 'bare'>} option */
const textIn = ({ rawName, value, inlineValue }, { name, type, bare }) => {
  if (bare !== undefined) return value ?? (rawName.startsWith('--no-') ? 'none' : bare)
  if (type === 'flag') {
    if (value !== undefined && value !== 'true' && value !== 'false')
      throw new OptionError(`${rawName} takes no value`)
    return value ?? String(!rawName.startsWith('--no-') || name.startsWith('no-'))
  }
  if (rawName.startsWith('--no-') && value === undefined)
    throw new OptionError(`unknown option ${shown(rawName)}`)
  // parseArgs leaves the = of -q=5 in place, and takes the next option for a value.
  const text = inlineValue && !rawName.startsWith('--') ? value?.replace(/^=/, '') : value
  if (text === undefined || (text === '' && name !== 'prefix') || (!inlineValue && /^-[^\d.]/.test(text)))
    throw new OptionError(
      text?.startsWith('-') && !text.startsWith('--') && text.length > 2
        ? `--${name} needs a value; one that begins with a dash is given as --${name}=-...`
        : `--${name} needs a value`,
    )
  return text
}

/** What stands before parseArgs may read it otherwise. @param {readonly string[]} argv @param {string[]} long */
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

/** @param {readonly string[]} argv @param {Map<string, Pick<Option, 'type' | 'bare'>>} byName */
const tokensOf = (argv, byName) =>
  parseArgs({
    args: [...argv],
    strict: false,
    allowPositionals: true,
    allowNegative: true,
    tokens: true,
    options: Object.fromEntries(
      [...byName].map(([name, { type, bare }]) => [
        name.length > 1 ? name : `short ${name}`,
        {
          type: /** @type {'boolean' | 'string'} */ (
            type === 'flag' || bare !== undefined ? 'boolean' : 'string'
          ),
          ...(name.length === 1 && { short: name }),
        },
      ]),
    ),
  }).tokens

/**
 * @param {readonly string[]} argv
 * @param {readonly Option[]} own
 * @returns {Typed}
 */
export const typedLine = (argv, own) => {
  const options = [...own, ...everywhere]
  /** @type {Map<string, (typeof options)[number]>} */
  const byName = new Map(options.flatMap((option) => namesOf(option).map((name) => [name, option])))
  const known = [...byName.keys()]
  const long = known.filter((name) => name.length > 1)
  refuseLookalikes(argv, long)
  const tokens = tokensOf(argv, byName)
  /** @type {Map<string, { text: string, named: string }>} */
  const given = new Map()
  /** @type {string[]} */
  const words = []
  /** @type {string[]} */
  const behind = []
  let last = ''
  /** @type {number | null} */
  let separator = null
  /** @typedef {{ option: (typeof options)[number], named: string } | null} Open a choice that may still get its value */
  /** @type {Open} */
  let open = null
  /** @param {OptionToken} token */
  const take = (token) => {
    const bare = token.rawName.replace(/^--?/, '')
    const option = byName.get(bare) ?? byName.get(bare.replace(/^no-/, '')) ?? refuse(token.rawName, long)
    const text = textIn(token, option)
    const before = option.type === 'flag' ? undefined : given.get(option.name)
    const between = 'repeatable' in option ? option.repeatable : undefined
    if (before && !between) throw new OptionError(`--${option.name} is given twice`)
    given.set(option.name, { text: before ? `${before.text}${between}${text}` : text, named: token.rawName })
    open = option.bare !== undefined && token.value === undefined ? { option, named: token.rawName } : null
  }
  /** @type {unknown} */
  let fault
  for (const token of tokens) {
    if (token.kind === 'option-terminator') separator = words.length
    else if (token.kind === 'positional') {
      const asked = /** @type {Open} */ (open)
      if (asked && isValueOf(asked.option, token.value))
        given.set(asked.option.name, { text: token.value, named: asked.named })
      else {
        words.push(token.value)
        behind.push(asked ? `${shown(last)}, which takes ${expectedOf(asked.option)}` : shown(last))
      }
      open = null
    } else
      try {
        take(/** @type {OptionToken} */ (token))
        last = token.rawName
      } catch (error) {
        fault ??= error
      }
  }
  // An address needs no --url in front.
  const url =
    byName.has('url') && !given.has('url') ? words.findIndex((word) => /^rediss?:\/\//.test(word)) : -1
  if (url >= 0) {
    given.set('url', { text: words.splice(url, 1)[0], named: '--url' })
    behind.splice(url, 1)
  }
  const isHelp = given.get('help')?.text === 'true'
  // Help is given whatever else was mistyped.
  if (fault && !isHelp) throw fault
  const whole = isHelp && words[0] === 'all'
  return {
    options: given,
    words,
    behind,
    separator,
    help: isHelp ? (whole ? 'all' : 'brief') : null,
    version: given.get('version')?.text === 'true',
  }
}

/**
 * A word that no option takes may be a password, or the rest of one with a blank in it.
 * @param {Pick<Typed, 'words' | 'behind'>} typed
 */
export const refuseWords = ({ words, behind }) => {
  if (words.length === 0) return
  const where = behind[0] ? ` after ${behind[0]}` : ''
  throw new OptionError(`unexpected word on the command line${where} (not shown: it may be a password)`)
}
