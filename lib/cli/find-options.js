// The options and the help of `millrace find`: what was asked, checked, and the settings of the run that is searched.
import { optionsOf, ownOptions } from '../../settings.js'
import { isLimitOfReaders, objectivesOf, sloOf } from '../answers/find/objectives.js'
import { OptionError } from '../base/errors.js'
import { byteUnits, countUnits, scaled } from '../base/scaled.js'
import { plainText } from '../base/units.js'
import { namesOfWriters } from '../loads/names-of-strategy.js'
import { others } from '../measures/index.js'
import { refuseWords } from '../options/command-line.js'
import { settingsOf } from '../options/read-settings.js'
import { isStrategy, readsKeys, strategyNamed } from '../workloads/index.js'
import { readersWordsIn, settingsOfFetches } from './find-readers.js'

/**
 * @import { Option, Settings } from '../../settings.js'
 * @import { Objectives } from '../answers/find/objectives.js'
 * @import { Typed } from '../options/command-line.js'
 * @import { About } from '../options/help.js'
 * @import { Asked } from './commands.js'
 */

// Options that the search decides, or that belong to a run at one rate.
const decided =
  'rate quantity duration intervals warm-up pacing chunks period once arrivals threshold dry-run file idle-cost snapshot requests report verbose partial stagger all writers agents dashboard metrics flow threads'.split(
    ' ',
  )
/** @type {Record<string, Partial<Option>>} */
const otherwise = {
  json: { help: 'print find.json on stdout, and nothing else', brief: 'print find.json on stdout' },
  items: {
    default: '100k',
    otherwise: '100k',
    help: 'number of different items or keys, which are written or read repeatedly: the rate depends on it',
    brief: 'different items (100k): the rate depends on it',
  },
  fill: {
    otherwise: 'keys, where keys are read',
    help: 'how the keys that commands read are written before the search; none: they are there. A command costs less where its key is missing',
    brief: 'how keys are written before the search',
  },
}
/** Options of the producer that a search takes as they are. */
export const loadOptions = optionsOf('producer')
  .filter(({ name }) => !decided.includes(name))
  .map((option) => ({ ...option, ...otherwise[option.name] }))

const group = 'What is searched for'
// biome-ignore format: a table, an option a row
export const findOptions = ownOptions(group, [
  { name: 'slo', type: 'text', repeatable: '\n', place: 'LIMIT',
    brief: "what must be met: 'latency.p99<20ms'; may be repeated",
    help: `what a second must meet, as in 'latency.p99<20ms' or '${others.p99}<2ms'; may be repeated. Any metric of millrace metrics; what a second alone does not have (memory, costs) is judged on the confirmation` },
  { name: 'over', type: 'choice', choices: ['rate', 'memory'], default: 'rate',
    brief: 'memory: the least of a cache, at --rate', help: 'what is searched; memory: the least of a cache that meets limits such as hit_rate>95% or cache.source_per_s<2k, at --rate, on servers that it starts' },
  { name: 'rate', key: 'peak', type: 'text', place: 'RATE', otherwise: 'it is searched',
    help: 'with --over memory, requests a second' },
  { name: 'within', type: 'text', place: 'MIN..MAX', otherwise: 'from what the target achieves at the limit',
    brief: 'lowest and highest rate, as in 10k..500k',
    help: 'lowest and highest rate of the search, as in 10k..500k; the target is never offered more' },
  { name: 'share', type: 'text', default: '90%', help: 'share of the seconds that must meet all objectives, from 50% to 99%' },
  { name: 'time', type: 'duration', range: ['60s', '1h'], unit: 's', default: '180s',
    brief: true, help: 'how long the load lasts, confirmation included' },
  { name: 'with-read', type: 'text', place: 'OPTIONS', otherwise: 'no readers',
    brief: 'consumers beside it, as in consumers=10,fetch-rate=50',
    help: 'consumers that read meanwhile, in a process of their own, with these options of millrace read, as in consumers=10,fetch-rate=50' },
  { name: 'read', type: 'text', place: 'OPTIONS', otherwise: 'the rate of writes or commands is searched',
    brief: 'search the rate of fetches, as in consumers=10',
    help: 'search the rate of fetches instead: those of consumers with these options of millrace read, as in consumers=10,limit=100, of what another program writes' },
  { name: 'yes', type: 'flag', brief: 'allow overload of servers that are not local',
    help: 'search on servers that are not local without --within: a search overloads them' },
  { name: 'threshold', type: 'text', repeatable: '\n', place: 'LIMIT',
    brief: "exit code 99 unless the answer meets it: 'find.low>150k'",
    help: "exit code 99 unless the answer meets it, as in 'find.low>150k'; also find.middle and find.high; may be repeated" },
])

/** @param {string} text @returns {[number, number]} */
const withinOf = (text) => {
  const [low, high] = text.split('..').map((part) => scaled(part, countUnits) ?? Number.NaN)
  if (!(low > 0 && high > low && text.split('..').length === 2))
    throw new OptionError(
      `--within ${plainText(text).slice(0, 40)}: must be two rates as in 10k..500k, the lower one first`,
    )
  return [low, high]
}

/** @param {string} text */
const shareOf = (text) => {
  const [, digits, sign] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text) ?? []
  const share = Number(digits) / (sign === '%' ? 100 : 1)
  if (!(share >= 0.5 && share <= 0.99))
    throw new OptionError(`--share ${plainText(text).slice(0, 40)}: must be from 50% to 99%`)
  return share
}

const thresholdForm = /^\s*find\.(low|middle|high)\s*(<=|>=|<|>)\s*(\S+)\s*$/

/** @param {string} text @param {typeof countUnits} [units] @returns {{ text: string, end: 'low' | 'middle' | 'high', relation: string, limit: number }} */
const thresholdOf = (text, units = countUnits) => {
  const [, end, relation, number] = thresholdForm.exec(text) ?? []
  const limit = scaled((number ?? '').replace(/\/s$/, ''), units)
  if (limit === undefined)
    throw new OptionError(
      `--threshold ${plainText(text).slice(0, 60)}: must be an end of the answer and its limit, as in ${units === byteUnits ? "'find.high<2GB'" : "'find.low>150k'"}`,
    )
  return { text: text.trim(), end: /** @type {'low'} */ (end), relation, limit }
}

/** @param {unknown} text @param {typeof countUnits} [units] */
const thresholdsIn = (text, units) =>
  text === undefined
    ? []
    : String(text)
        .split('\n')
        .map((one) => thresholdOf(one, units))

const trialsOfMemory = 9
const leastTrialS = 6
const warmPart = 0.4

// Items of a batch: small enough for low rates; at high rates several are sent together.
const batchItems = 100
const usualItems = 100_000

/** What a data model is: a word of the command line. @param {Typed} typed @returns {Typed} */
const withStrategy = (typed) => {
  const { words, options } = typed
  if (words.length === 0) return typed
  refuseWords(typed, ['strategy', 'model', 'command'].some((name) => options.has(name)) ? 0 : 1)
  const [text] = words
  const name = /[./]/.test(text) ? 'model' : 'strategy'
  return { ...typed, words: [], options: new Map([...options, [name, text]]) }
}

/** The data model as it was typed. @param {Typed} typed */
const modelWords = ({ options }) =>
  ['strategy', 'model', 'command'].flatMap((name) => {
    const text = options.get(name)
    return text === undefined
      ? []
      : text.split(name === 'command' ? '\n' : /$^/).flatMap((one) => [`--${name}`, one])
  })

/** @param {Typed} typed @param {Readonly<Record<string, string>>} texts */
const withOptions = (typed, texts) => ({
  ...typed,
  options: new Map([...typed.options, ...Object.entries(texts)]),
})

/** Without the options of the search. @param {Typed} typed */
const ofLoad = ({ options, ...typed }) => ({
  ...typed,
  options: new Map([...options].filter(([name]) => loadOptions.some((option) => option.name === name))),
})

const producing = optionsOf('producer')
const decidedVariables = producing
  .filter(({ name }) => decided.includes(name))
  .flatMap(({ env, alsoEnv }) => [env ?? [], alsoEnv].flat())

/** @param {NodeJS.ProcessEnv} env */
const withoutDecided = (env) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !decidedVariables.includes(name)))

// As many jobs as a search lets wait: a rate above the workers' fills them within seconds.
const usualQueue = 1000

/** @param {Settings} settings @param {boolean} hasReaders */
const refuseAloneQueues = ({ strategy }, hasReaders) => {
  if (strategyNamed(strategy).queue && !hasReaders)
    throw new OptionError(
      `millrace find ${strategy} needs workers that take the jobs, which otherwise fill the queue: add --with-read workers=8`,
    )
}

/** @param {Settings} settings @param {Objectives} objectives @param {boolean} hasReaders */
const refuseOnFleet = ({ control, totalAgents, cloudwatch, strategy }, { overConfirmation }, hasReaders) => {
  if (!control && totalAgents > 1)
    throw new OptionError('-t needs --control: without it a search is played by one process')
  if (!control) return
  if (strategyNamed(strategy).play.caches)
    throw new OptionError(`--control: a search of ${strategy} is played by one process`)
  if (hasReaders)
    throw new OptionError(
      '--with-read does not go with --control: start millrace read with the same --control and --run',
    )
  // The other boxes would wait for its points.
  if (cloudwatch) throw new OptionError('--cloudwatch does not go with --control')
  if (overConfirmation.length > 0)
    throw new OptionError(
      `--slo ${overConfirmation[0]}: with --control only limits that each second has are checked`,
    )
}

/** @param {{ typed: Typed, objectives: Objectives, hasReaders: boolean }} asked */
const refuseBesideFetches = ({ typed, objectives, hasReaders }) => {
  if (hasReaders)
    throw new OptionError('--read does not go with --with-read: it searches the rate of its consumers')
  if (typed.options.has('control')) throw new OptionError('--read does not go with --control')
  const other = objectives.bySecond.find(({ figure }) =>
    figure.name.startsWith(others.p99.replace(/p99$/, '')),
  )
  if (other) throw new OptionError(`--slo ${other.text}: beside consumers other clients are not measured`)
}

/**
 * The options of the search, and the settings of the run it is played in.
 * @param {Pick<Asked, 'settings' | 'typed' | 'env' | 'dotenvText'>} asked
 */
export const findRequest = ({ settings: own, typed: line, env, dotenvText }) => {
  const { slo, within, share, time, yes, threshold, seed, read: ofConsumers, 'with-read': read } = own
  if (slo === undefined)
    throw new OptionError("--slo is missing: what must a second meet? For example --slo 'latency.p99<20ms'")
  const slos = String(slo).split('\n')
  if (own.peak !== undefined)
    throw new OptionError('--rate belongs to --over memory: else the rate is searched')
  const objectives = objectivesOf(slos)
  if (objectives.bySecond.length === 0)
    throw new OptionError(
      `--slo ${slos[0]}: this is not measured each second; add a limit of latency, as in --slo 'latency.p99<20ms'`,
    )
  const range = within === undefined ? null : withinOf(within)
  const typed = withStrategy(line)
  const passed = ofLoad(typed)
  const from = { env: withoutDecided(env), dotenvText }
  const fixed = { 'idle-cost': 'never', ...(typed.options.has('control') && { all: 'true' }) }
  const common = {
    slos,
    objectives,
    within: range,
    share: shareOf(share),
    seconds: Math.round(time / 1000),
    thresholds: thresholdsIn(threshold),
    mayOverload: yes || range !== null,
  }
  if (ofConsumers !== undefined) {
    refuseBesideFetches({ typed, objectives, hasReaders: read !== undefined })
    const settings = settingsOfFetches(String(ofConsumers), passed, from)
    return { ...common, settings, isOfFetches: true, readers: null, model: [], seed: seed ?? settings.seed }
  }
  const ofModel = { ...passed, options: new Map([...passed.options].filter(([name]) => name !== 'fill')) }
  const plain = settingsOf(withOptions(ofModel, fixed), producing, from)
  refuseAloneQueues(plain, read !== undefined)
  refuseOnFleet(plain, objectives, read !== undefined)
  const declared = strategyNamed(plain.strategy)
  const { inBatches } = namesOfWriters(plain.strategy)
  const items = plain.given.quantity === 'default' ? usualItems : plain.quantity
  const rate = (range ? Math.min(1, Math.sqrt(range[0] * range[1]) / 20_000) : 1) * batchItems * 200
  /** @type {Record<string, string>} */
  const more = {}
  if (inBatches) more.items = String(items)
  if (readsKeys(declared) && !typed.options.has('fill')) more.fill = 'keys'
  if (declared.queue && plain.given.maxQueue === 'default') more['max-queue'] = String(usualQueue)
  // Passes go as fast as the replies come; at a rate, their commands are played.
  if (inBatches || declared.passes) more.rate = String(Math.max(1, Math.round(rate)))
  const settings = settingsOf(withOptions(passed, { ...fixed, ...more }), producing, from)
  const readers = read === undefined ? null : readersWordsIn(String(read), settings.strategy)
  const ofReaders = objectives.overConfirmation.find(isLimitOfReaders)
  if (ofReaders && !readers)
    throw new OptionError(`--slo ${ofReaders}: there are no readers; add --with-read`)
  return {
    ...common,
    settings,
    isOfFetches: false,
    readers,
    model: modelWords(typed),
    seed: seed ?? settings.seed,
  }
}

/**
 * The least memory of a cache: the settings of its runs, which are those of `millrace write` at the rate.
 * @param {Pick<Asked, 'settings' | 'typed' | 'env' | 'dotenvText'>} asked
 */
export const memoryRequest = ({ settings: own, typed: line, env, dotenvText }) => {
  const { slo, peak: rate, time, threshold, seed } = own
  if (slo === undefined)
    throw new OptionError("--slo is missing: what must be met? For example --slo 'hit_rate>95%'")
  const slos = String(slo).split('\n')
  const from = { env: withoutDecided(env), dotenvText }
  const odd = ['within', 'share', 'read', 'with-read', 'host', 'url', 'control', 'maxmemory', 'fill'].find(
    (name) => line.options.has(name),
  )
  if (odd !== undefined)
    throw new OptionError(
      `--${odd} does not go with --over memory: it starts servers of its own, and gives them the memory that it tries`,
    )
  if (rate === undefined)
    throw new OptionError(
      '--rate is missing: requests a second at which the memory is searched, as in --rate 10k',
    )
  const typed = withStrategy(line)
  const strategy = typed.options.get('strategy') ?? ''
  if (!isStrategy(strategy) || !strategyNamed(strategy).play.caches)
    throw new OptionError(
      `--over memory: ${plainText(strategy).slice(0, 40) || 'items'}: no cache; take cache-aside`,
    )
  const perTrialS = Math.max(leastTrialS, Math.round(time / 1000 / trialsOfMemory))
  const more = { rate: String(rate), fill: 'keys', maxmemory: '1GB', 'idle-cost': 'never' }
  const ofTrial = { duration: `${perTrialS}s`, 'warm-up': `${Math.ceil(perTrialS * warmPart)}s` }
  const settings = settingsOf(withOptions(ofLoad(typed), { ...more, ...ofTrial }), producing, from)
  return {
    settings,
    slos,
    trials: trialsOfMemory,
    checks: slos.map(sloOf),
    thresholds: thresholdsIn(threshold, byteUnits),
    seed: Number(seed ?? settings.seed),
  }
}
