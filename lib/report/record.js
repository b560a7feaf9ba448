// A results folder read back: what reports, charts and comparisons are made of.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OptionError } from '../errors.js'
import { mergedCurve } from '../measure/latency.js'

/**
 * @typedef {import('./result.js').RunDocument} RunDocument
 * @typedef {import('./experiment-document.js').ExperimentDocument} ExperimentDocument
 * @typedef {import('../measure/node-sampler.js').NodeRow} NodeRow
 *
 * @typedef {{ p50: number, p90: number, p99: number, p999: number, max: number, count: number, hdr: string }} SecondLatency
 *
 * @typedef {object} Second a line of intervals.ndjson; what was not measured is null or absent
 * @property {number} at_ms
 * @property {number} over_ms since the line before
 * @property {string} phase
 * @property {Record<string, number>} [items]
 * @property {number | null} [achieved]
 * @property {{ intended: SecondLatency | null, service: SecondLatency | null }} [latency_us]
 * @property {SecondLatency | null} [bystander_us]
 * @property {Record<string, number | null>} [client]
 * @property {NodeRow[]} [nodes]
 * @property {number | null} [items_per_s] of a consumer, as are these
 * @property {SecondLatency | null} [duration_us]
 * @property {SecondLatency | null} [ids_us]
 * @property {SecondLatency | null} [values_us]
 * @property {SecondLatency | null} [freshness_us]
 *
 * @typedef {'duration_us' | 'ids_us' | 'values_us' | 'freshness_us'} FetchTime
 *
 * @typedef {{ beyond: number, us: number }[]} Curve the latency that one in `beyond` items exceeds
 * @typedef {{ intended: Curve, service: Curve }} Distribution
 *
 * @typedef {object} RunRecord
 * @property {'run'} kind
 * @property {RunDocument} run
 * @property {Second[]} seconds
 * @property {Distribution} distribution
 * @property {import('./experiment-document.js').ExperimentPhase[]} phases of an experiment's continuous run
 *
 * @typedef {{ kind: 'experiment', experiment: ExperimentDocument, timeline: RunRecord | null, pages: string[] }} ExperimentRecord pages: runs that have one
 */

/** @param {string} path @returns {Promise<string | null>} null: there is no such file */
const textOf = (path) =>
  readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw new OptionError(`${path} cannot be read (${error.code ?? error})`, { cause: error })
  })

/** @param {string} path @returns {Promise<unknown>} undefined: there is no such file */
const documentOf = async (path) => {
  const text = await textOf(path)
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new OptionError(`${path} is not JSON: was it written to the end?`, { cause })
  }
}

/** @param {unknown} line */
const isLine = (line) => isObject(line) && isNumber(line.at_ms)

/**
 * The lines that are whole: a run that was killed may have left half of its last one.
 * @param {string} path
 * @returns {Promise<Omit<Second, 'over_ms'>[]>}
 */
const linesOf = async (path) => {
  const lines = ((await textOf(path)) ?? '').split('\n').filter(Boolean)
  return lines.flatMap((line, at) => {
    try {
      const read = JSON.parse(line)
      if (isLine(read)) return [read]
    } catch (cause) {
      if (at === lines.length - 1) return []
      throw new OptionError(`${path}, line ${at + 1}, is not JSON`, { cause })
    }
    throw new OptionError(`${path}, line ${at + 1}, is not a second of a run`)
  })
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (/** @type {unknown} */ value) => typeof value === 'string'
const isNumber = (/** @type {unknown} */ value) => typeof value === 'number'
const isMoment = (/** @type {unknown} */ value) => isText(value) && !Number.isNaN(Date.parse(String(value)))

/** @typedef {(value: unknown) => boolean} Is */

/** @param {Is} is @returns {Is} */
const listOf = (is) => (value) => Array.isArray(value) && value.every(is)

/** @param {Record<string, Is>} shape what must be there; more may @returns {Is} */
const holding = (shape) => (value) =>
  isObject(value) && Object.entries(shape).every(([name, is]) => is(value[name]))

const texts = listOf(isText)
const versions = holding({ millrace: isText, node: isText, servers: texts })
const isWarning = holding({ message: isText })

const run = {
  run: isText,
  started: isMoment,
  duration_s: isNumber,
  plan: isObject,
  versions,
  commands: isObject,
  rate: isObject,
  client: isObject,
  nodes: listOf(holding({ address: isText, role: isText })),
  events: listOf(holding({ at_ms: isNumber, kind: isText })),
  warnings: listOf(isWarning),
}

/** @type {Record<string, Record<string, Is>>} */
const runs = {
  producer: {
    ...run,
    items: isObject,
    latency_us: isObject,
    ticks: isObject,
    server: isObject,
  },
  consumer: { ...run, fetches: isObject },
}

/** @type {Record<string, Is>} */
const experiment = {
  id: isText,
  question: isText,
  setup: isText,
  started: isMoment,
  versions,
  columns: listOf(holding({ name: isText })),
  rows: listOf(
    holding({
      label: isText,
      figures: (value) => isObject(value) && Object.values(value).every(holding({ samples: Array.isArray })),
      runs: texts,
      marks: listOf(holding({ text: isText })),
    }),
  ),
  ratios: listOf(holding({ label: isText, figure: isText, ours: isObject })),
  phases: listOf(holding({ label: isText, from_ms: isNumber, to_ms: isNumber })),
  verdict: isText,
  warnings: listOf(isWarning),
}

/**
 * A document that is what its file is called; else a line that says what is wrong with it.
 * @param {string} path
 * @param {unknown} document
 * @param {string} what
 * @param {Record<string, Is> | undefined} shape
 * @returns {any}
 */
const checked = (path, document, what, shape) => {
  if (!isObject(document)) throw new OptionError(`${path} is not the result of ${what}`)
  if (document.schema !== 1)
    throw new OptionError(
      `${path}: its schema is ${String(document.schema)}, and this version of Millrace reads 1`,
    )
  const wrong = Object.entries(shape ?? { kind: () => false }).find(([name, is]) => !is(document[name]))
  if (!wrong) return document
  throw new OptionError(`${path} is not the result of ${what}: '${wrong[0]}' is missing or wrong`)
}

/** @param {Second[]} seconds @returns {Distribution} */
export const distributionOf = (seconds) => {
  const curve = (/** @type {'intended' | 'service'} */ name) =>
    mergedCurve(seconds.flatMap(({ latency_us: latency }) => latency?.[name]?.hdr ?? []))
  return { intended: curve('intended'), service: curve('service') }
}

/**
 * @param {RunDocument} run
 * @param {Omit<Second, 'over_ms'>[]} lines
 * @returns {RunRecord}
 */
export const runRecord = (run, lines) => {
  const seconds = lines.map((line, at) => ({ ...line, over_ms: line.at_ms - (lines[at - 1]?.at_ms ?? 0) }))
  return { kind: 'run', run, seconds, distribution: distributionOf(seconds), phases: [] }
}

/**
 * run.json alone.
 * @param {string} folder
 * @returns {Promise<RunDocument | null>} null: the folder holds no run
 */
export const readRunDocument = async (folder) => {
  const path = join(folder, 'run.json')
  const found = await documentOf(path)
  if (found === undefined) return null
  const kind = isObject(found) ? String(found.kind) : ''
  return checked(path, found, 'a run', Object.hasOwn(runs, kind) ? runs[kind] : undefined)
}

/**
 * experiment.json alone.
 * @param {string} folder
 * @returns {Promise<ExperimentDocument | null>} null: the folder holds no experiment
 */
export const readExperiment = async (folder) => {
  const path = join(folder, 'experiment.json')
  const found = await documentOf(path)
  return found === undefined ? null : checked(path, found, 'an experiment', experiment)
}

/**
 * What a folder of results holds: an experiment, or a run with its seconds.
 * @param {string} folder
 * @returns {Promise<RunRecord | ExperimentRecord>}
 */
export const readRecord = async (folder) => {
  const found = await readExperiment(folder)
  if (found) {
    const { timeline, phases } = found
    const whole = timeline === undefined ? null : await runIn(join(folder, timeline))
    const pages = found.rows
      .flatMap((row) => row.runs)
      .filter((name) => existsSync(join(folder, name, 'report.html')))
    return { kind: 'experiment', experiment: found, timeline: whole && { ...whole, phases }, pages }
  }
  const record = await runIn(folder)
  if (!record) throw new OptionError(`${folder} holds neither run.json nor experiment.json`)
  return record
}

/** @param {string} folder */
const runIn = async (folder) => {
  const document = await readRunDocument(folder)
  if (!document) return null
  const seconds = await linesOf(join(folder, 'intervals.ndjson'))
  return runRecord(document, seconds)
}
