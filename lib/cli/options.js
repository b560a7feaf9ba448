// Command line beats environment beats .env beats default.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import dotenv from 'dotenv'
import { OPTIONS, optionsOf } from '../../settings.js'
import { nearest } from '../base/nearest.js'
import { OptionError } from '../errors.js'
import { millraceVersion } from '../run/versions.js'
import { refuseStrangers, typedOptions, typedText } from './command-line.js'
import { conflictIn } from './conflicts.js'
import { helpText } from './help.js'
import { shown, VALUE_TYPES } from './values.js'

/**
 * @typedef {import('../../settings.js').Option} Option
 * @typedef {import('../../settings.js').Origin} Origin
 * @typedef {import('../../settings.js').Program} Program
 * @typedef {import('../../settings.js').Settings} Settings
 * @typedef {import('../../settings.js').AnyKey} AnyKey
 *
 * @typedef {object} Source
 * @property {Origin} origin
 * @property {(option: Option) => string | undefined} text
 *
 * @typedef {object} Reading an option that was given, and its value
 * @property {Option} option
 * @property {Origin} origin
 * @property {string} named as the user knows it: `--ws`, or the variable
 * @property {unknown} value
 *
 * @typedef {{ key: string, value: unknown, reading: Reading }} Offer a value for one setting
 */

/** @type {Origin[]} strongest first */
const ORIGINS = ['command line', 'environment', '.env', 'default']

/** @param {Reading} reading */
const rank = (reading) => ORIGINS.indexOf(reading.origin)

/**
 * The text of `.env`, unless there is none or MILLRACE_NO_DOTENV is set.
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
export function loadDotenv(cwd, env) {
  if (env.MILLRACE_NO_DOTENV) return
  try {
    return readFileSync(join(cwd, '.env'), 'utf8')
  } catch (cause) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (cause)
    if (code === 'ENOENT') return
    throw new OptionError(`.env cannot be read (${code}); MILLRACE_NO_DOTENV=1 leaves it out`, { cause })
  }
}

/** @param {string | undefined} dotenvText @returns {Record<string, string>} */
export const variablesIn = (dotenvText) => dotenv.parse(dotenvText ?? '')

const ours = 'MILLRACE_'
// Variables of ours that are no options.
const otherVariables = ['MILLRACE_NO_DOTENV', 'MILLRACE_PEERS']

/**
 * A misspelt variable must not be ignored.
 * @param {Record<string, string | undefined>} variables
 * @param {string} where
 */
function refuseUnknownVariables(variables, where) {
  const known = [...OPTIONS.map(({ env }) => env), ...otherVariables].filter((name) => name.startsWith(ours))
  for (const name of Object.keys(variables)) {
    if (!name.startsWith(ours) || known.includes(name)) continue
    const like = nearest(
      name.slice(ours.length),
      known.map((one) => one.slice(ours.length)),
    )
    const hint = like ? `; did you mean ${ours}${like}?` : ''
    throw new OptionError(`unknown variable ${shown(name)}${where}${hint}`)
  }
}

/**
 * The settings of a program, checked and frozen; or the text that --help or --version asks for.
 * @param {object} from
 * @param {Program} from.program
 * @param {string[]} from.argv without node and the script
 * @param {NodeJS.ProcessEnv} from.env
 * @param {string} [from.dotenvText]
 * @param {number} [from.columns] of the terminal
 * @returns {Readonly<Settings> | { help: string } | { version: string }}
 */
export function readSettings({ program, argv, env, dotenvText = '', columns = 80 }) {
  const options = optionsOf(program)
  const typed = typedOptions(argv, options)
  if (typed.help) return { help: helpText(program, columns) }
  if (typed.version) return { version: millraceVersion() }
  refuseStrangers(typed, options)

  const dotenvValues = variablesIn(dotenvText)
  refuseUnknownVariables(env, '')
  refuseUnknownVariables(dotenvValues, ' in .env')
  /** @type {Source[]} */
  const sources = [
    { origin: 'command line', text: (option) => typedText(typed, option) },
    { origin: 'environment', text: (option) => env[option.env] },
    { origin: '.env', text: (option) => dotenvValues[option.env] },
  ]
  const readings = withoutReplaced(options.flatMap((option) => readingOf(option, sources) ?? []))
  return settled(options, readings.flatMap(offersOf))
}

/**
 * The option as its strongest source has it. An empty variable is none, but hides that of `.env`.
 * @param {Option} option
 * @param {Source[]} sources
 * @returns {Reading | undefined}
 */
function readingOf(option, sources) {
  const source = sources.find(({ text }) => text(option) !== undefined)
  const text = source?.text(option)
  if (source === undefined || text === undefined) return
  if (text === '' && source.origin !== 'command line') return

  const long = { 'command line': `--${option.name}`, '.env': `${option.env} in .env` }
  const named = long[/** @type {keyof typeof long} */ (source.origin)] ?? option.env
  const { read, expects } = VALUE_TYPES[option.type]
  const value = read(text, option)
  if (value === undefined) {
    const what = option.secret ? '' : `, not '${shown(text)}'`
    throw new OptionError(`${named} must be ${expects(option)}${what}`)
  }
  if (option.on === undefined) return { option, origin: source.origin, named, value }
  return value ? { option, origin: source.origin, named, value: option.on } : undefined
}

/**
 * Of options that answer the same question the stronger source counts; in one source they exclude each other.
 * @param {Reading[]} readings
 */
function withoutReplaced(readings) {
  const replaced = new Set()
  for (const one of readings) {
    for (const other of readings.filter(({ option }) => one.option.insteadOf?.includes(option.name))) {
      if (one.origin === other.origin)
        throw new OptionError(`${one.named} and ${other.named} exclude each other`)
      replaced.add(rank(one) > rank(other) ? one : other)
    }
  }
  return readings.filter((reading) => !replaced.has(reading))
}

/**
 * @param {Reading} reading
 * @returns {Offer[]}
 */
function offersOf(reading) {
  const { option, value } = reading
  if (option.type !== 'url') return [{ key: option.key, value, reading }]
  return Object.entries(Object(value)).map(([key, part]) => ({ key, value: part, reading }))
}

/**
 * The offer that counts for a setting: of the strongest source, where all must agree.
 * @param {Offer[]} offers
 * @returns {Offer | undefined}
 */
function strongest(offers) {
  const top = Math.min(...offers.map(({ reading }) => rank(reading)))
  const best = offers.filter(({ reading }) => rank(reading) === top)
  const implied = best.map(({ reading }) => reading.option.implies)
  const [first, second] = best.filter(({ value }, i) => {
    const same = best.findIndex((offer) => offer.value === value)
    return same === i && !implied.includes(/** @type {string} */ (value))
  })
  if (second) throw new OptionError(`${first.reading.named} and ${second.reading.named} exclude each other`)
  return first
}

/**
 * @param {readonly Option[]} options
 * @param {Offer[]} offers
 * @returns {Readonly<Settings>}
 */
function settled(options, offers) {
  /** @type {Record<string, unknown>} */
  const values = {}
  /** @type {Map<string, Offer>} */
  const counting = new Map()
  /** @type {Record<string, Origin>} */
  const given = {}
  for (const { key, ...option } of options) {
    if (given[key]) continue
    const offer = strongest(offers.filter((candidate) => candidate.key === key))
    if (offer) counting.set(key, offer)
    values[key] = offer ? offer.value : defaultOf({ key, ...option })
    given[key] = offer?.reading.origin ?? 'default'
  }
  if (values.host ?? values.port) {
    values.host ??= '127.0.0.1'
    values.port ??= values.sentinel === undefined ? 6379 : 26379
  }

  const settings = /** @type {Settings} */ (Object.freeze({ ...values, given: Object.freeze(given) }))
  const sentence = conflictIn(settings, (key) => namedSetting(key, settings, options, counting.get(key)))
  if (sentence) throw new OptionError(sentence)
  return settings
}

/** @param {Option} option */
function defaultOf(option) {
  if (option.type === 'flag') return option.off ?? option.default === 'true'
  return option.default === undefined ? undefined : VALUE_TYPES[option.type].read(option.default, option)
}

/**
 * @param {AnyKey} key
 * @param {Settings} settings
 * @param {readonly Option[]} options
 * @param {Offer} [offer]
 */
function namedSetting(key, settings, options, offer) {
  const option = offer?.reading.option ?? options.find((candidate) => candidate.key === key)
  const named = offer?.reading.named ?? `--${option?.name}`
  return option?.type === 'choice' ? `${named} ${/** @type {any} */ (settings)[key]}` : named
}
