// The order of sources: command line, file, environment, .env, default.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import dotenv from 'dotenv'
import { OPTIONS, optionsOf, typedName } from '../../settings.js'
import { didYouMean } from '../base/did-you-mean.js'
import { errorOf, OptionError } from '../base/errors.js'
import { namesOfWriters } from '../loads/names-of-strategy.js'
import { sizesIn } from '../traffic/sizes.js'
import { playsPasses, strategyNamed } from '../workloads/index.js'
import { refuseWords, typedLine } from './command-line.js'
import { conflictIn } from './conflicts.js'
import { optionsIn } from './option-file.js'
import { shown, VALUE_TYPES } from './values.js'

/**
 * @import { AnyKey, Option, Origin, Program, Settings } from '../../settings.js'
 * @import { Typed } from './command-line.js'
 * @import { Values } from './values.js'
 *
 * @typedef {object} Source
 * @property {Origin} origin
 * @property {(option: Option) => { named: string, text: string } | undefined} find
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
const ORIGINS = ['command line', 'file', 'earlier run', 'environment', '.env', 'default']

// Ports that people type, as -p without a unit; without --port and --url, any odd number may be one.
const isPort = (/** @type {string} */ text, /** @type {boolean} */ lacksPort) =>
  /^(63[789]\d|26379)$/.test(text) ||
  (lacksPort && /^\d{4,5}$/.test(text) && Number(text) % 50 !== 0 && Number(text) < 65_536)

/**
 * Warnings about letters that mean something else in redis-cli, redis-benchmark and memtier.
 * @param {Typed} typed
 * @returns {string[]} a sentence each
 */
const cautionsIn = ({ options, letters }) => {
  const text = (/** @type {string} */ name) => options.get(name)
  const period = text('period') ?? ''
  const agents = Number(text('total-agents') ?? 1)
  // With --control, other boxes belong to the run as well.
  const isAlone = !options.has('control')
  const hasAddress = ['host', 'url', 'port'].some((name) => options.has(name))
  return [
    letters.includes('period') && isPort(period, !options.has('port') && !options.has('url'))
      ? [
          `-p ${period} is a period of ${Number(period) / 1000} s; the port is --port ${period} (-p ${period}ms means the period, without this warning)`,
        ]
      : [],
    isAlone &&
    hasAddress &&
    letters.includes('chunks') &&
    letters.includes('total-agents') &&
    agents > 1 &&
    !options.has('agent')
      ? [
          `-t ${agents}: this process is one of ${agents} writers and writes 1/${agents} of the items (-a all: everything); -t and -c do not set threads and clients`,
        ]
      : [],
  ].flat()
}

/** @type {ReturnType<typeof optionsIn>} */
const noFile = { origin: 'file', texts: {} }

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
    const { code } = errorOf(cause)
    if (code === 'ENOENT') return
    throw new OptionError(`.env cannot be read (${code}); MILLRACE_NO_DOTENV=1 leaves it out`, { cause })
  }
}

/** @param {string | undefined} dotenvText @returns {Record<string, string>} */
export const variablesIn = (dotenvText) => dotenv.parse(dotenvText ?? '')

const ours = 'MILLRACE_'
// Names of variables without that prefix. The first two are not options.
const ourVariables = ['NO_DOTENV', 'PEERS'].concat(
  OPTIONS.flatMap(({ env, alsoEnv }) => [env ?? [], alsoEnv].flat())
    .filter((name) => name.startsWith(ours))
    .map((name) => name.slice(ours.length)),
)

/** A misspelt variable must not be ignored. @param {Record<string, string | undefined>} variables @param {string} where */
function refuseUnknownVariables(variables, where) {
  for (const name of Object.keys(variables)) {
    const bare = name.slice(ours.length)
    if (!name.startsWith(ours) || ourVariables.includes(bare)) continue
    const hint = didYouMean(bare, ourVariables, (like) => ours + like)
    throw new OptionError(`unknown variable ${shown(name)}${where}${hint}`)
  }
}

/**
 * The settings of a program, checked and frozen.
 * @param {object} from
 * @param {Program} from.program
 * @param {readonly string[]} from.argv without node and the script
 * @param {NodeJS.ProcessEnv} from.env
 * @param {string} [from.dotenvText]
 */
export function readSettings({ program, argv, ...from }) {
  const options = optionsOf(program)
  const typed = typedLine(argv, options)
  if (typed.help || typed.options.has('version'))
    throw new OptionError('--help and --version are not options of a run')
  return settingsOf(typed, options, from)
}

/**
 * The settings that a command line, a file, the environment and `.env` make of these options.
 * @param {Typed} typed
 * @param {readonly Option[]} all
 * @param {{ env: NodeJS.ProcessEnv, dotenvText?: string, takesWords?: boolean }} from
 * @returns {Readonly<Settings>}
 */
export const settingsOf = (typed, all, { env, dotenvText = '', takesWords = false }) => {
  if (!takesWords) refuseWords(typed)
  // The parser has read it: its names are options.
  const options = all.filter(({ type }) => type !== 'named')
  const dotenvValues = variablesIn(dotenvText)
  refuseUnknownVariables(env, '')
  refuseUnknownVariables(dotenvValues, ' in .env')
  const path = typed.options.get('file')
  const inFile = path === undefined ? noFile : optionsIn(path, options)
  /** @type {Source[]} */
  const sources = [
    {
      origin: 'command line',
      find: (option) =>
        found(
          typed.dashed?.has(option.name) ? `--${option.name}` : typedName(option),
          typed.options.get(option.name),
        ),
    },
    {
      origin: inFile.origin,
      find: ({ name }) => found(`${name} in ${path}`, inFile.texts[name]),
    },
    { origin: 'environment', find: (option) => variableOf(option, env, '') },
    { origin: '.env', find: (option) => variableOf(option, dotenvValues, ' in .env') },
  ]
  const readings = withoutReplaced(options.flatMap((option) => readingOf(option, sources) ?? []))
  return settingsFrom(options, readings.flatMap(offersOf), cautionsIn(typed))
}

/** @param {string} named @param {string | undefined} text */
const found = (named, text) => (text === undefined ? undefined : { named, text })

/**
 * The first of an option's variables that is set. An empty one has no value, but hides weaker sources.
 * @param {Option} option
 * @param {Record<string, string | undefined>} variables
 * @param {string} where
 */
const variableOf = ({ env, alsoEnv }, variables, where) => {
  const name = [env ?? [], alsoEnv].flat().find((one) => variables[one] !== undefined)
  return name === undefined ? undefined : found(`${name}${where}`, variables[name])
}

/**
 * The option as its strongest source has it.
 * @param {Option} option
 * @param {Source[]} sources
 * @returns {Reading | undefined}
 */
function readingOf(option, sources) {
  for (const { origin, find } of sources) {
    const given = find(option)
    if (given === undefined) continue
    const { named, text } = given
    if (text === '' && origin !== 'command line') return
    const value = VALUE_TYPES[option.type].read(text, option)
    if (value === undefined) throw new OptionError(`${named} ${refusal(option, text)}`)
    if (option.on === undefined) return { option, origin, named, value }
    return value ? { option, origin, named, value: option.on } : undefined
  }
}

/** The error for a text that is not a value. @param {Option} option @param {string} text */
const refusal = (option, text) => {
  const must = `must be ${VALUE_TYPES[option.type].expects(option)}`
  if (option.secret) return must
  // -a is a password in redis-cli, -p in mysql.
  if (
    (option.type === 'agents' && !/^[\d-]{1,12}$/.test(text)) ||
    (option.name === 'period' && !/^\d/.test(text))
  )
    return `${must} (what was typed is not shown: a password is given as REDIS_PASSWORD or with --ask-password)`
  const like = option.likeOther ?? {}
  const meant = Object.hasOwn(like, text.toLowerCase()) ? like[text.toLowerCase()] : undefined
  const hint = meant ? `; for ${shown(text)} take ${meant}.` : didYouMean(text, option.choices ?? [])
  return hint ? `'${shown(text)}' is unknown${hint} It ${must}` : `${must}, not '${shown(text)}'`
}

/** Elsewhere -p is the port. @param {Reading[]} readings */
const portHint = (...readings) => {
  const ms = readings.find(({ option }) => option.name === 'period')?.value
  return typeof ms === 'number' && ms >= 1024 && ms < 65_536 && ms % 50 !== 0
    ? ` (-p is the period; the port is --port ${ms})`
    : ''
}

/**
 * When options answer the same question, the stronger source counts; in one source they exclude each other.
 * @param {Reading[]} readings
 */
function withoutReplaced(readings) {
  const replaced = new Set()
  for (const one of readings) {
    const { insteadOf = [], insteadIf = () => true } = one.option
    for (const other of insteadIf(one.value)
      ? readings.filter(({ option }) => insteadOf.includes(option.name))
      : []) {
      if (one.origin === other.origin)
        throw new OptionError(`${one.named} and ${other.named} exclude each other${portHint(one, other)}`)
      replaced.add(rank(one) > rank(other) ? one : other)
    }
  }
  return readings.filter((reading) => !replaced.has(reading))
}

/** The settings that a value stands for. @param {Option} option @param {unknown} value @returns {Record<string, unknown>} */
const partsOf = (option, value) =>
  ['url', 'host'].includes(option.type) ? Object(value) : (option.parts?.(value) ?? { [option.key]: value })

/** @param {Option} option @param {unknown} value undefined: there is none @param {string} key */
const partOf = (option, value, key) => (value === undefined ? undefined : partsOf(option, value)[key])

/** @param {Reading} reading @returns {Offer[]} */
function offersOf(reading) {
  return Object.entries(partsOf(reading.option, reading.value)).map(([key, part]) => ({
    key,
    value: part,
    reading,
  }))
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
    return same === i && !implied.some((one) => one === value)
  })
  if (!second) return first
  const both = `${first.reading.named} and ${second.reading.named}`
  throw new OptionError(first.key === 'port' ? `${both} name two ports` : `${both} exclude each other`)
}

/**
 * @param {readonly Option[]} options
 * @param {Offer[]} offers
 * @param {readonly string[]} cautions
 * @returns {Readonly<Settings>}
 */
function settingsFrom(options, offers, cautions) {
  /** @type {Record<string, unknown>} */
  const values = {}
  /** @type {Map<string, Offer>} */
  const counting = new Map()
  /** @type {Record<string, Origin>} */
  const given = {}
  /** @type {Record<string, string>} */
  const givenBy = {}
  for (const option of options) {
    for (const key of [option.key, ...(option.alsoKeys ?? [])]) {
      if (given[key]) continue
      const offer = strongest(offers.filter((candidate) => candidate.key === key))
      if (offer) {
        counting.set(key, offer)
        givenBy[key] = offer.reading.named
      }
      values[key] = offer ? offer.value : partOf(option, defaultOf(option), key)
      given[key] = offer?.reading.origin ?? 'default'
    }
  }
  if (values.host ?? values.port) {
    values.host ??= '127.0.0.1'
    values.port ??= values.sentinel === undefined ? 6379 : 26379
  }

  Object.assign(values, spreadOf(values), derivedFrom(/** @type {Settings} */ ({ ...values, given })))
  if (given.warmUpMs === 'default' && settles(/** @type {Settings} */ ({ ...values })))
    values.warmUpMs = 'auto'
  const settings = /** @type {Settings} */ (
    Object.freeze({
      ...values,
      given: Object.freeze(given),
      givenBy: Object.freeze(givenBy),
      cautions: Object.freeze(cautions),
    })
  )
  const sentence = conflictIn(settings, (key) => namedSetting(key, settings, options, counting.get(key)))
  if (sentence) throw new OptionError(sentence)
  return settings
}

/**
 * When sizes differ, their mean is reported and forecast; when lifetimes differ, indexes are cut by the longest.
 * @param {Values} values
 */
const spreadOf = ({ valueBytes, ttlS }) => {
  const sizes = typeof valueBytes === 'string' ? sizesIn(valueBytes) : undefined
  const [least, most] = Array.isArray(ttlS) ? ttlS : [null, ttlS]
  if (valueBytes === undefined) return {}
  return {
    valueBytes: sizes?.mean ?? valueBytes,
    valueSizes: sizes?.text ?? null,
    ttlS: most,
    ttlLeastS: least,
  }
}

/**
 * Settings that were not given and follow from the rate and the kind of workload.
 * @param {Settings} settings
 * @returns {Partial<Settings>}
 */
const derivedFrom = ({ strategy, rate, quantity, given }) => {
  if (rate === undefined && strategy === undefined) return {}
  const items = given.quantity === 'default' ? undefined : quantity
  const { defaultItems, queue } = strategyNamed(strategy)
  if (queue && typeof rate === 'number') return ofRate(Math.max(1, Math.round(items ?? rate)), rate)
  const most = defaultItems ?? namesOfWriters(strategy).defaultItems
  if (most !== null) return { quantity: items ?? most }
  if (typeof rate !== 'number') return {}
  const each = items ?? Math.round(rate)
  return { ...ofRate(each, rate), pacing: 'smooth' }
}

// A warm-up until the run is steady takes up to half of it, so a shorter run would have little left.
const settlesFromMs = 8000

/** Whether its first seconds would change the result and may be left out. @param {Settings} settings */
const settles = (settings) => {
  const { durationMs, intervals = 0, periodMs, once, rates, strategy } = settings
  const { queue } = strategyNamed(strategy)
  const lengthMs = durationMs ?? intervals * periodMs
  return lengthMs >= settlesFromMs && !once && !rates && !playsPasses(settings) && !queue
}

/** @param {number} quantity @param {number} rate */
const ofRate = (quantity, rate) => ({ quantity, periodMs: (quantity * 1000) / rate })

/** @param {Option} option */
function defaultOf(option) {
  if (option.type === 'flag') return option.off ?? option.default === 'true'
  return option.default === undefined ? undefined : VALUE_TYPES[option.type].read(option.default, option)
}

/** @param {AnyKey} key @param {Readonly<Partial<Record<AnyKey, unknown>>>} settings @param {readonly Option[]} options @param {Offer} [offer] */
function namedSetting(key, settings, options, offer) {
  const option =
    offer?.reading.option ??
    options.find((candidate) => candidate.key === key || candidate.alsoKeys?.includes(key))
  const named = offer?.reading.named ?? (option ? typedName(option) : key)
  const between = option?.with && named.startsWith('--') ? '=' : ' '
  return option?.type === 'choice' ? `${named}${between}${settings[key]}` : named
}
