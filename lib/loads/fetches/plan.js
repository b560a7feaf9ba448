// What a consumer reads: its own settings, and the writer's plan as the target holds it.
import { OPTIONS, typedName, wordsOf } from '../../../settings.js'
import { OptionError } from '../../base/errors.js'
import { libraryOf } from '../../base/libraries.js'
import { keysOf } from '../../base/typed.js'
import { plainText } from '../../base/units.js'
import { announcedWords } from '../../plan/announcement.js'
import { storedBy, storedIn } from '../../plan/stored-fields.js'
import { typedLifetime } from '../../traffic/lifetimes.js'
import { meanRate } from '../../traffic/rates.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { isStrategy, strategyNamed } from '../../workloads/index.js'

/**
 * @import { ReaderSettings } from '../../../settings.js'
 * @import { Rates } from '../../traffic/rates.js'
 * @import { AnnouncedPlan } from '../../plan/announcement.js'
 * @import { InThreads } from '../plan.js'
 *
 * @typedef {Readonly<ReturnType<typeof buildPlan> & { valuesBy: string } & InThreads>} ReadPlan
 *
 * @typedef {object} ReadFacts what the target said
 * @property {AnnouncedPlan | null} announced null: there is no plan in the target
 * @property {readonly number[]} agents which of the agents this process is
 * @property {boolean} cluster
 * @property {number} masters
 */

/** The plan of a writer by the options, in the fields of an announcement. @param {ReaderSettings} s */
const asked = (s) => ({
  strategy: s.strategy,
  quantity: s.quantity,
  ttlS: s.ttlLeastS === null ? s.ttlS : typedLifetime(s),
  valueBytes: s.valueSizes ?? s.valueBytes,
  payload: s.payload,
  seed: s.seed,
  stamp: s.stamp,
  once: s.once,
  placement: s.placement,
  sortedSets: s.sortedSets,
})

/** The same fields of an announcement. @param {AnnouncedPlan} announced */
const fieldsOf = (announced) => ({
  ...announced,
  ttlS: announced.ttlLeastS === undefined ? announced.ttlS : typedLifetime(announced),
  valueBytes: announced.valueSizes ?? announced.valueBytes,
  sortedSets: Math.max(1, announced.sets.length),
})

/** @typedef {keyof ReturnType<typeof asked> & string} Field */

/**
 * Options that were given, not defaults, and that the plan contradicts.
 * @param {ReaderSettings} settings
 * @param {AnnouncedPlan} announced
 * @returns {Field[]}
 */
const contradictions = (settings, announced) => {
  const ours = asked(settings)
  const theirs = fieldsOf(announced)
  return keysOf(ours).filter((field) => settings.given[field] !== 'default' && ours[field] !== theirs[field])
}

/** A value as the user types it: `hash` for plain. @param {Field} field @param {unknown} value */
const typedAs = (field, value) => {
  const { values = {} } = OPTIONS.find(({ key }) => key === field) ?? {}
  return Object.keys(values).find((choice) => values[choice] === value) ?? value
}

/** An option as it was given: `--sl`, `--items 5`. @param {ReaderSettings} settings @param {Field} field */
const named = (settings, field) => {
  const value = typedAs(field, settings[field])
  const by = settings.givenBy[field]
  const isFlag =
    value === true || OPTIONS.some(({ name, env, on }) => on === value && (by === `--${name}` || by === env))
  if (settings.given[field] !== 'command line') return `${by}=${isFlag ? true : value}`
  return isFlag ? by : `${by}${by.startsWith('--with ') ? '=' : ' '}${value}`
}

/** The option as the writer would type it: `--ns 3`, `--stamp`. @param {Field} field @param {unknown} value */
const written = (field, value) => {
  const rows = OPTIONS.filter(({ key }) => key === field)
  const on = rows.find((row) => row.on === value)
  if (on || value === true) return typedName(on ?? rows[0])
  if (value === false) return `without ${typedName(rows[0])}`
  return wordsOf(rows[0].name, String(typedAs(field, value))).join(' ')
}

/**
 * The one plan that is meant: by the options where they name one, else the one that is being written. Null where there is
 * none at all.
 * @param {ReaderSettings} settings
 * @param {readonly AnnouncedPlan[]} announcements the newest first
 * @param {(announced: AnnouncedPlan) => boolean} isLive whether its writers have renewed it recently
 * @returns {AnnouncedPlan | null}
 */
export const chosenPlan = (settings, announcements, isLive) => {
  if (announcements.length === 0) return null
  const prefix = settings.prefix ? `prefix ${settings.prefix}` : 'no prefix'
  const agreeing = announcements.filter((announced) => contradictions(settings, announced).length === 0)
  if (agreeing.length === 0) {
    const nearest = announcements.find(isLive) ?? announcements[0]
    const [field] = contradictions(settings, nearest)
    const theirs = fieldsOf(nearest)[field]
    throw new OptionError(
      `${named(settings, field)} contradicts what is written under ${prefix}: ${announcements.map(announcedWords).join('; ')}` +
        `${field === 'strategy' ? '' : ` (${written(field, theirs)})`}. Leave it out, for the plan in the target says it, or set --prefix`,
    )
  }
  const live = agreeing.filter(isLive)
  const rest = live.length > 0 ? live : agreeing
  // After their end, the items of the last plan may still be there, unless the plans stored them differently.
  const strategies = new Set(rest.map(({ strategy }) => strategy))
  if (strategies.size === 1 && (live.length < 2 || rest.length === 1)) return rest[0]
  throw new OptionError(
    `several plans are written under ${prefix}: ${rest.map(announcedWords).join('; ')}. Name one with ${
      strategies.size > 1 ? '--strategy' : '--items'
    }`,
  )
}

/** What a published program would have written, where no plan says more. @param {ReaderSettings} settings */
const announcedBySettings = (settings) => ({
  ...storedBy(settings),
  order: undefined,
  churn: undefined,
  writePeriodMs: null,
  writers: settings.totalAgents,
  startedMs: 0,
})

/** @param {ReaderSettings} settings @param {Field[]} fields */
const givenAny = ({ given }, fields) => fields.some((field) => given[field] !== 'default')

/**
 * How often a consumer fetches, on average.
 * @param {ReaderSettings} settings
 * @returns {{ periodMs: number, fetchHz?: number, rates?: Rates }}
 */
const fetchTimes = ({ rates, periodMs, totalAgents, consumers, ...settings }) => {
  const fetchHz = rates ? meanRate(rates) : Number(settings.fetchHz ?? Number.NaN)
  if (Number.isNaN(fetchHz)) return { periodMs }
  return { periodMs: (totalAgents * consumers * 1000) / fetchHz, fetchHz, ...(rates && { rates }) }
}

/** @param {ReaderSettings} settings @param {ReadFacts} facts */
const buildPlan = (settings, { announced, agents, cluster, masters }) => {
  const written = announced
    ? { ...announced, writePeriodMs: announced.periodMs, writers: announced.totalAgents }
    : announcedBySettings(settings)
  return {
    /** @type {'fetches'} */
    flow: 'fetches',
    /** null: there was no plan in the target, and the options or their defaults decide. @type {'target' | 'options'} */
    source: announced ? 'target' : 'options',
    ...storedIn({ ...written, prefix: settings.prefix }),
    /** The writer's value, null where it is not known. @type {number | null} */
    writePeriodMs: written.writePeriodMs,
    writers: written.writers,
    order: written.order ?? 'sequential',
    churn: written.churn ?? null,
    startedMs: written.startedMs,
    /** Without a plan or an option, the expected bytes and numbers are unknown. */
    knowsBytes: announced !== null || givenAny(settings, ['valueBytes', 'payload', 'seed', 'stamp']),
    knowsItems: announced !== null || givenAny(settings, ['quantity']),
    ...fetchTimes(settings),
    pacing: /** @type {'open' | 'closed'} */ (settings.pacing),
    limit: settings.limit,
    mode: settings.mode,
    fetch: settings.fetch,
    values: settings.values,
    /** node-redis reads from masters or from any node. @type {ReaderSettings['reads']} */
    reads:
      settings.driver === 'node-redis' && cluster && settings.reads === 'replica' ? 'any' : settings.reads,
    totalAgents: settings.totalAgents,
    agents,
    consumers: settings.consumers,
    verify: settings.verify,
    count: settings.count,
    windowBytes: settings.windowBytes,
    durationMs: settings.durationMs ?? null,
    driver: settings.driver,
    ...(settings.driver !== 'socket' && { library: libraryOf(settings) }),
    cluster,
    masters,
  }
}

/** A user's model is read with the file that wrote, or one that means the same. @param {AnnouncedPlan} announced */
const checkModel = ({ model, strategy }) => {
  if (!model) return
  const ours = isStrategy(strategy) ? strategyNamed(strategy).model : null
  if (!ours)
    throw new OptionError(
      `what is written there is of the model '${plainText(strategy).slice(0, 40)}', which no built-in strategy is; add --model with its file`,
    )
  if (ours.digest !== model.digest)
    throw new OptionError(
      `--model: ${strategy} is not what is written there: its keys, commands or reads have changed; read with the file that wrote`,
    )
}

/** @param {ReturnType<typeof buildPlan>} plan */
const checkPlan = (plan) => {
  const { mode, fetch, values, strategy, cluster, masters, sets } = plan
  const { read } = strategyNamed(strategy)
  if (!read)
    throw new OptionError(
      strategyNamed(strategy).model
        ? `the model ${strategy} does not say how it is read: add read: (YAML) or fetch (JavaScript)`
        : `--strategy ${strategy}: a consumer reads items, and ${strategy} has none; it is played by millrace write`,
    )
  const { value } = strategyOf({ ...plan, mode: 'manual' }).reader()
  if (!values && value === null)
    throw new OptionError(
      `--no-values: what strategy ${strategy} is read by brings the values with the ids; leave it out`,
    )
  if (mode === 'script') {
    if (!read.modes.includes(mode))
      throw new OptionError(
        `--mode script reads sorted sets of ids and their keys; of strategy ${strategy} use --mode manual`,
      )
    if (cluster && masters > 1)
      throw new OptionError(
        `--mode script on ${masters} masters: a script may touch keys of its own node only, and item:<n> lies anywhere; use --mode manual (with --read-with mget for fewer commands)`,
      )
    if (cluster && sets.length > 1)
      throw new OptionError(
        `--mode script with ${sets.length} sorted sets in a cluster: a script may be given keys of one slot only; use --mode manual`,
      )
  }
  if (fetch === 'mget' && !value?.many)
    throw new OptionError(
      `--read-with mget: the values of strategy ${strategy} are no keys that MGET reads; leave it out`,
    )
}

/** @param {ReaderSettings} settings @param {ReadFacts} facts @returns {ReadPlan} */
export const readPlanOf = (settings, facts) => {
  if (facts.announced) checkModel(facts.announced)
  const plan = buildPlan(settings, facts)
  checkPlan(plan)
  const { value, command } = strategyOf(plan).reader()
  return Object.freeze({
    ...plan,
    /** The command that brings the values. */ valuesBy: value?.many ? plan.fetch : command,
  })
}
