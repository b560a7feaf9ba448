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

/** @param {string} path @returns {Promise<any>} */
const documentOf = async (path) => {
  const text = await textOf(path)
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new OptionError(`${path} is not JSON: was it written to the end?`, { cause })
  }
}

/**
 * The lines that are whole: a run that was killed may have left half of its last one.
 * @param {string} path
 * @returns {Promise<Omit<Second, 'over_ms'>[]>}
 */
const linesOf = async (path) => {
  const lines = ((await textOf(path)) ?? '').split('\n').filter(Boolean)
  return lines.flatMap((line, at) => {
    try {
      return [JSON.parse(line)]
    } catch (cause) {
      if (at === lines.length - 1) return []
      throw new OptionError(`${path}, line ${at + 1}, is not JSON`, { cause })
    }
  })
}

/** @param {string} folder @param {any} document @param {string} kind */
const checked = (folder, document, kind) => {
  if (document.schema === 1 && typeof document === 'object') return document
  throw new OptionError(
    `${folder}: the ${kind} has schema ${String(document.schema)}, and this version of Millrace reads 1`,
  )
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
  const run = await documentOf(join(folder, 'run.json'))
  return run && checked(folder, run, 'run')
}

/**
 * experiment.json alone.
 * @param {string} folder
 * @returns {Promise<ExperimentDocument | null>} null: the folder holds no experiment
 */
export const readExperiment = async (folder) => {
  const experiment = await documentOf(join(folder, 'experiment.json'))
  return experiment && checked(folder, experiment, 'experiment')
}

/**
 * What a folder of results holds: an experiment, or a run with its seconds.
 * @param {string} folder
 * @returns {Promise<RunRecord | ExperimentRecord>}
 */
export const readRecord = async (folder) => {
  const experiment = await readExperiment(folder)
  if (experiment) {
    const { timeline, phases } = experiment
    const whole = timeline === undefined ? null : await runIn(join(folder, timeline))
    const runs = experiment.rows.flatMap((row) => row.runs)
    const pages = runs.filter((run) => existsSync(join(folder, run, 'report.html')))
    return { kind: 'experiment', experiment, timeline: whole && { ...whole, phases }, pages }
  }
  const record = await runIn(folder)
  if (!record) throw new OptionError(`${folder} holds neither run.json nor experiment.json`)
  return record
}

/** @param {string} folder */
const runIn = async (folder) => {
  const run = await readRunDocument(folder)
  if (!run) return null
  const seconds = await linesOf(join(folder, 'intervals.ndjson'))
  return runRecord(run, seconds)
}
