// Options from a file: YAML or JSON by their long names, or the run.json of an earlier run.
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DEFAULT_MAX_MEMBERS, namesOf } from '../../settings.js'
import { didYouMean } from '../base/did-you-mean.js'
import { errorOf, OptionError, unreadable } from '../base/errors.js'
import { plainText } from '../base/units.js'
import { names, namesOfKind } from '../loads/names.js'
import { typedLifetime } from '../traffic/lifetimes.js'
import { typedRates } from '../traffic/rates.js'
import { shown } from './values.js'

/**
 * @import { Option } from '../../settings.js'
 * @import { Run } from '../measures/section.js'
 * @import { AnyPlan } from '../measures/measure.js'
 *
 * @typedef {Record<string, string>} Texts of options, by their names
 */

/** @param {string} path */
const textOf = (path) => {
  try {
    return readFileSync(statSync(path).isDirectory() ? join(path, 'run.json') : path, 'utf8')
  } catch (cause) {
    throw unreadable(path, cause, '--file')
  }
}

/** @param {string} text @param {string} path @returns {any} with scalars as they are written in the file */
const documentIn = (text, path) => {
  // Loaded only if a file is given. Its 'failsafe' schema leaves 5m and 300k as typed.
  /** @type {typeof import('yaml')} */
  const { parse } = createRequire(import.meta.url)('yaml')
  try {
    return parse(text, { schema: 'failsafe', logLevel: 'error' })
  } catch (cause) {
    const [sentence] = errorOf(cause).message.split(/[:\n]/, 1)
    throw new OptionError(`--file ${plainText(path)} is neither YAML nor JSON: ${plainText(sentence)}`, {
      cause,
    })
  }
}

/** @param {unknown} value */
const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * @param {string} path
 * @param {readonly Option[]} options of the program
 * @returns {{ origin: 'file' | 'earlier run', texts: Texts }}
 */
export const optionsIn = (path, options) => {
  const text = textOf(path)
  const document = documentIn(text, path)
  if (!isMap(document))
    throw new OptionError(`--file ${plainText(path)}: must have a line for each option, as in 'rate: 300k'`)
  return isMap(document.plan) && 'schema' in document
    ? { origin: 'earlier run', texts: ofRun(JSON.parse(text), path, options) }
    : { origin: 'file', texts: ofLines(document, path, options) }
}

/** @param {Record<string, unknown>} document @param {string} path @param {readonly Option[]} options @returns {Texts} */
const ofLines = (document, path, options) => {
  const where = `--file ${plainText(path)}`
  /** @type {Texts} */
  const texts = {}
  for (const [name, value] of Object.entries(document)) {
    const option = options.find((one) => name.length > 1 && namesOf(one).includes(name))
    // Options of a single command, which have no variable, are not allowed in a file.
    if (
      !option ||
      option.name === 'file' ||
      option.name === 'with' ||
      (option.env === null && option.for.length > 0)
    )
      throw new OptionError(
        `${where}: unknown option ${shown(name)}${didYouMean(name, options.flatMap(namesOf))}`,
      )
    const text = Array.isArray(value) ? value.join(option.repeatable ?? ',') : value
    if (typeof text !== 'string' || text === '') throw new OptionError(`${where}: ${name} needs a value`)
    if (option.secret && ((option.type !== 'url' && option.type !== 'server') || /\/\/[^/]*@/.test(text)))
      throw new OptionError(`${where}: ${name}: no password in a file of options; set REDIS_PASSWORD`)
    if (texts[option.name] !== undefined) throw new OptionError(`${where}: ${option.name} is given twice`)
    texts[option.name] = text
  }
  return texts
}

/** How a value of the settings is typed. @param {Option} option @param {any} value */
const typedValue = ({ type, values = {} }, value) => {
  if (type === 'duration' || (type === 'warmUp' && typeof value === 'number')) return `${value}ms`
  if (type === 'bytes' || (type === 'sizes' && typeof value === 'number')) return `${value}B`
  if (type === 'ratio') return value.join(':')
  return Object.keys(values).find((choice) => values[choice] === value) ?? String(value)
}

/** The rate and the rhythm of a plan. @param {AnyPlan} plan */
const rhythmOf = (plan) => {
  const { quantity, periodMs, chunks, rate, rates, clients } = plan
  if ('limit' in plan)
    return plan.fetchHz ? { fetchHz: typedRates(rates) ?? plan.fetchHz, pacing: null } : { periodMs }
  if (rates) return { rate: typedRates(rates), pacing: null }
  if (clients) return { rate: plan.nominalHz ?? 'max' }
  if (rate === 'max') return { rate, periodMs, chunks }
  if (plan.pacing !== 'smooth') return { periodMs, chunks }
  return Number.isInteger(periodMs)
    ? { periodMs }
    : { rate: Math.round((quantity * 1000) / periodMs), pacing: null }
}

/** A plan's fields under the names of the settings. @param {AnyPlan} plan */
const settingsIn = (plan) => {
  const {
    sets,
    extraSets,
    maxMembers,
    scriptMembers,
    clients,
    querying,
    sending,
    cache,
    mode,
    fetch,
    chunks,
    rate,
    periodMs,
    fetchHz,
    rates,
    ...rest
  } = plan
  const isRun = 'agents' in plan
  return {
    ...rest,
    ttlS: plan.ttlS === undefined ? undefined : typedLifetime(plan),
    order: plan.order === namesOfKind(plan).defaultOrder ? null : plan.order,
    ...clients,
    ...querying,
    ...sending,
    ...cache,
    ...(isRun ? rhythmOf(plan) : { periodMs }),
    ...(rates && { durationMs: null }),
    ...(clients
      ? { pacing: null, totalAgents: null, once: null, ...(clients.expires ? {} : { ttlS: null }) }
      : {}),
    valueBytes: plan.valueSizes ?? plan.valueBytes,
    ...(plan.settles && { warmUpMs: 'auto' }),
    sortedSets: sets?.length,
    extraSortedSets: extraSets?.length || null,
    maxMembers: maxMembers === DEFAULT_MAX_MEMBERS && scriptMembers === 0 ? null : maxMembers,
    fetch: mode === 'script' ? mode : fetch,
  }
}

const ofValues = ['extraSets', 'valueBytes', 'valueSizes', 'payload']
const ofData = ['strategy', 'quantity', 'sets', 'placement', 'ttlS', 'ttlLeastS', 'seed', 'stamp', 'once']

/** A consumer's plan without the writer's settings, which it reads from the target. @param {AnyPlan} plan */
const withoutWriters = (plan) => {
  const left = plan.source === 'target' ? [...ofValues, ...ofData] : ofValues
  return Object.fromEntries(Object.entries(plan).filter(([name]) => !left.includes(name)))
}

/** Local servers as the run had them. @param {Run} document */
const serversOf = ({ target, nodes = [] }) => {
  if (target?.kind !== 'cluster') return {}
  if (target.origin !== 'embedded') return { cluster: true }
  const shards = nodes.filter((/** @type {{ role: string }} */ { role }) => role === 'master').length
  return { cluster: true, shards, replicas: Math.round(nodes.length / shards) - 1 }
}

/** @param {Run} document @param {string} path @param {readonly Option[]} options @returns {Texts} */
const ofRun = (document, path, options) => {
  const isReader = options.some(({ key }) => key === 'limit')
  const kind = isReader ? 'consumer' : 'producer'
  if (document.kind !== kind)
    throw new OptionError(
      `--file ${plainText(path)}: the result of a ${plainText(String(document.kind)).slice(0, 20)}, not of a ${kind}`,
    )
  if (!Object.hasOwn(names, String(document.plan.flow)))
    throw new OptionError(
      `--file ${plainText(path)} is not the result of a run: 'plan.flow' must be one of ${Object.keys(names).join(', ')}`,
    )
  const plan = isReader ? withoutWriters(document.plan) : document.plan
  /** @type {Record<string, unknown>} */
  const settings = { ...settingsIn(plan), ...serversOf(document) }
  /** @type {Texts} */
  const texts = {}
  const seen = new Set()
  // A user's model is given by its own option.
  if (plan.model) seen.add('strategy')
  for (const name of ['model', 'command']) {
    const text = plan.model?.source?.[name]
    if (typeof text === 'string') texts[name] = text
  }
  for (const option of options) {
    const value = settings[option.key]
    if (option.on !== undefined || seen.has(option.key) || value === undefined || value === null) continue
    if (option.key === 'prefix' && value === '') continue
    seen.add(option.key)
    texts[option.name] = typedValue(option, value)
  }
  return texts
}
