// A results folder read back: what reports, charts and comparisons are made of.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OptionError } from '../base/errors.js'
import { faultIn } from '../base/json-schema.js'
import * as S from '../base/shape.js'
import { entryOf, exactly } from '../base/typed.js'
import { plainText } from '../base/units.js'
import {
  agentRange,
  events,
  first,
  moment,
  more,
  versions,
  warnings,
  writtenShape,
} from '../measures/head.js'
import { ofReaders, ofWorkers, ofWriters, SECTIONS, shapesOfRun, shapesOfSecond } from '../measures/index.js'
import { commandsShape } from '../measures/server.js'
import { bucketsIn, isHistogram, mergedCurve } from '../probes/latency.js'
import { documentOf } from './facts.js'
import { unfinishedWords, writtenAgain } from './files.js'

/**
 * @import { OfOthers } from '../measures/index.js'
 * @import { Buckets } from '../base/buckets.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { RunDocument } from './document.js'
 * @import { ExperimentDocument, ExperimentPhase } from './experiment-document.js'
 * @import { Folded, Line } from '../measures/fold.js'
 * @import { Measure } from '../measures/contract.js'
 * @import { Section } from '../measures/section.js'
 *
 * @typedef {Line & { over_ms: number }} Second over_ms: since the line before
 *
 * @typedef {{ beyond: number, us: number }[]} Curve the latency that one in `beyond` items exceeds
 * @typedef {{ intended: Curve, service: Curve }} Distribution
 *
 * @typedef {{ fromS: number, toS: number, buckets: Buckets }} HeatColumn latencies of a moment
 *
 * @typedef {object} RunRecord
 * @property {'run'} kind
 * @property {RunDocument} run
 * @property {Second[]} seconds
 * @property {Distribution} distribution
 * @property {HeatColumn[]} heat from the due time; of a consumer, of whole reads
 * @property {ExperimentPhase[]} phases of an experiment's continuous run
 *
 * @typedef {{ kind: 'experiment', experiment: ExperimentDocument, timeline: RunRecord | null, pages: string[] }} ExperimentRecord pages: runs that have one
 */

// The JSON Schemas of the files of a result: what reports, comparisons and verify.js rely on. Fields that are not named
// here may be there.

const atLeast = (/** @type {number} */ minimum) => exactly({ type: 'integer', minimum })

// The page has a link to it, and its page is written there.
const folderWithin = exactly({
  type: 'string',
  pattern: '^[A-Za-z0-9][\\w.-]*(/[A-Za-z0-9][\\w.-]*)*$',
})

/** @param {readonly Section[]} sections @param {readonly Measure[]} measures */
const runOf = (sections, measures) => {
  const own = shapesOfRun(sections, measures)
  const needed = [
    ...sections.flatMap(({ name, isNeeded }) => (isNeeded ? [name] : [])),
    ...measures.flatMap((measure) => measure.needed ?? []),
  ]
  return {
    type: 'object',
    properties: { ...first, events, warnings, ...more, ...own },
    required: [...new Set([...Object.keys(first), 'events', 'warnings', ...needed])],
  }
}

/** run.json of a producer. */
export const PRODUCER = runOf(SECTIONS.producer, ofWriters)
/** run.json of a consumer. */
export const CONSUMER = runOf(SECTIONS.consumer, ofReaders)
/** run.json of the workers of a queue. */
export const WORKERS = runOf(SECTIONS.workers, ofWorkers)

/** What verify.js needs of a producer's run.json besides. */
export const VERIFIABLE = S.object({
  items: S.object({ offered: S.whole }),
  nodes: exactly({ type: 'array', minItems: 1 }),
  target: S.object(S.each(['kind', 'origin'], S.text)),
  plan: S.object({
    strategy: S.text,
    ...S.each(['quantity', 'chunks'], atLeast(1)),
    spacingMs: exactly({ type: 'number', minimum: 0 }),
    ttlS: exactly({ type: 'number', exclusiveMinimum: 0 }),
    valueBytes: exactly({ type: 'integer', minimum: 1, maximum: 512e6 }),
    payload: S.oneOf('random', 'sparse', 'zero'),
    placement: S.oneOf('plain', 'same-slot', 'spread'),
    seed: S.whole,
    stamp: S.flag,
    prefix: S.text,
    buckets: atLeast(1),
    taggedItems: S.flag,
    pacing: S.text,
    agents: exactly({ type: 'array', items: agentRange, minItems: 1 }),
    sets: exactly({ type: 'array', items: { type: 'string' }, minItems: 1 }),
  }),
  written: writtenShape,
})

const figureOfRow = S.object({
  ...S.each(['median', 'low', 'high'], S.maybe(S.figure)),
  samples: S.list(S.figure),
})

/** experiment.json */
export const EXPERIMENT = S.object({
  schema: S.just(1),
  ...S.each(['id', 'question', 'setup'], S.text),
  started: moment,
  duration_s: S.maybe(S.number),
  command: S.maybe(S.text),
  versions,
  columns: S.list(S.object({ name: S.text, title: S.maybe(S.text), chart: S.maybe(S.flag) })),
  rows: S.list(
    S.object({
      label: S.text,
      factors: S.maybe(S.anything),
      figures: S.byName(figureOfRow),
      published: S.maybe(S.nullable(S.byName(S.figure))),
      runs: S.list(folderWithin),
      marks: S.list(S.object({ code: S.maybe(S.text), text: S.text })),
    }),
  ),
  ratios: S.list(
    S.object({
      ...S.each(['label', 'figure'], S.text),
      ...S.each(['numerator', 'denominator'], S.maybe(S.text)),
      ours: S.object(S.each(['ratio', 'low', 'high'], S.maybe(S.figure))),
      published: S.maybe(S.figure),
      ...S.each(['claim', 'why'], S.maybe(S.note)),
    }),
  ),
  phases: S.list(S.object({ label: S.text, from_ms: S.number, to_ms: S.number })),
  timeline: S.maybe(folderWithin),
  verdict: S.text,
  warnings,
})

const latency = S.nullable(
  S.object({
    ...S.each(['p50', 'p90', 'p99', 'p999', 'max', 'count'], S.maybe(S.figure)),
    hdr: S.maybe(S.text),
  }),
)

/** A line of intervals.ndjson. */
export const SECOND = S.object({
  at_ms: S.number,
  phase: S.maybe(S.text),
  items: S.maybe(S.byName(S.number)),
  achieved: S.maybe(S.figure),
  latency_us: S.maybe(S.object(S.each(['intended', 'service'], S.maybe(latency)))),
  ...Object.fromEntries(
    Object.entries(shapesOfSecond({ times: latency, number: S.figure })).map(([name, shape]) => [
      name,
      S.maybe(shape),
    ]),
  ),
  nodes: S.maybe(
    S.list(
      S.object({
        address: S.text,
        ...S.each(['role', 'gap'], S.maybe(S.text)),
        commands: S.maybe(commandsShape),
      }),
    ),
  ),
})

/** @param {string} path @returns {Promise<string | null>} null: there is no such file */
const textOf = (path) =>
  readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw new OptionError(`${path} cannot be read (${error.code ?? error})`, { cause: error })
  })

/** @param {string} path @returns {Promise<unknown>} undefined: there is no such file */
const jsonOf = async (path) => {
  const text = await textOf(path)
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new OptionError(`${path} is not JSON: was it written to the end?`, { cause })
  }
}

/**
 * The lines that are whole: a run that was killed may have left half of its last one.
 * @param {string} path
 * @returns {Promise<Line[]>}
 */
const linesOf = async (path) =>
  (await objectsIn(path)).map((read, at, all) => {
    const isBefore = at > 0 && read?.at_ms < all[at - 1].at_ms
    const fault = isBefore ? `it is before line ${at}` : faultIn(read, SECOND)
    if (fault) throw new OptionError(`${path}, line ${at + 1}, is not a second of a run: ${fault}`)
    return read
  })

/** @param {string} path @returns {Promise<any[]>} */
const objectsIn = async (path) => {
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

const EVENT = {
  type: 'object',
  required: ['at_ms', 'kind', 'text'],
  properties: { at_ms: { type: 'number' }, kind: { type: 'string' }, text: { type: 'string' } },
}

/**
 * run.json again, from what lies beside it.
 * @param {string} folder
 * @returns {Promise<boolean>} false: a folder without the facts of a run
 */
export const remadeIn = (folder) =>
  writtenAgain(folder, async (facts) => {
    const [lines, events] = await Promise.all([
      linesOf(join(folder, 'intervals.ndjson')),
      objectsIn(join(folder, 'events.ndjson')),
    ])
    const own = events.map((event, at) => {
      const fault = faultIn(event, EVENT)
      if (fault) throw new OptionError(`${folder}/events.ndjson, line ${at + 1}, is not an event: ${fault}`)
      const { at_ms, kind, text } = event
      return { at_ms, kind, text }
    })
    // What was asked of CloudWatch later is in run.json alone.
    const { cloudwatch } = (await readRunDocument(folder)) ?? {}
    return { ...documentOf(facts, lines, own), ...(cloudwatch && { cloudwatch }) }
  })

/** What is wrong with the histograms of a second. @param {Pick<Second, 'latency_us'>} second */
const histogramFault = ({ latency_us: latency }) => {
  for (const name of exactly(['intended', 'service'])) {
    const found = latency?.[name]
    if (found && !isHistogram(found.hdr)) return `'latency_us.${name}.hdr' is no histogram`
  }
  return null
}

const kinds = { producer: PRODUCER, consumer: CONSUMER }

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A document that is what its file is called; else a line that says what is wrong with it.
 * @param {string} path
 * @param {unknown} document
 * @param {string} what
 * @param {(document: Record<string, unknown>) => string | null} fault
 * @returns {any}
 */
const checked = (path, document, what, fault) => {
  if (!isObject(document)) throw new OptionError(`${path} is not the result of ${what}`)
  if (document.schema !== 1)
    throw new OptionError(
      `${path}: its schema is ${plainText(String(document.schema)).slice(0, 40)}, and this version of Millrace reads 1`,
    )
  const wrong = fault(document)
  if (wrong) throw new OptionError(`${path} is not the result of ${what}: ${wrong}`)
  return document
}

/** @param {Second[]} seconds @returns {Distribution} */
const distributionOf = (seconds) => {
  const curve = (/** @type {'intended' | 'service'} */ name) =>
    mergedCurve(seconds.flatMap(({ latency_us: latency }) => latency?.[name]?.hdr ?? []))
  return { intended: curve('intended'), service: curve('service') }
}

/** @param {Second[]} seconds @returns {HeatColumn[]} */
const heatOf = (seconds) =>
  seconds.flatMap(({ at_ms: atMs, over_ms: overMs, latency_us: latency, duration_us: duration }) => {
    const found = latency?.intended ?? duration
    if (!found) return []
    return [{ fromS: (atMs - overMs) / 1000, toS: atMs / 1000, buckets: bucketsIn(found.hdr) }]
  })

/** @param {RunDocument} run @param {readonly Line[]} lines @returns {RunRecord} */
export const runRecord = (run, lines) => {
  // The first line of a window is one second, although it ends later than a second after the window's begin.
  const seconds = lines.map((line, at) => ({ over_ms: line.at_ms - (lines[at - 1]?.at_ms ?? 0), ...line }))
  return {
    kind: 'run',
    run,
    seconds,
    distribution: distributionOf(seconds),
    heat: heatOf(seconds),
    phases: [],
  }
}

/** run.json alone. @param {string} folder @returns {Promise<RunDocument | null>} null: the folder holds no run */
export const readRunDocument = (folder) => readRunFile(join(folder, 'run.json'))

/** @param {string} path @returns {Promise<RunDocument | null>} null: there is no such file */
export const readRunFile = async (path) => {
  const found = await jsonOf(path)
  if (found === undefined) return null
  return checked(path, found, 'a run', (document) => {
    const kind = String(document.kind)
    const known = entryOf(kinds, kind)
    if (!known) return "'kind' must be producer or consumer"
    const isWorkers = kind === 'consumer' && 'jobs' in document
    return faultIn(document, isWorkers ? WORKERS : known)
  })
}

/**
 * experiment.json alone.
 * @param {string} folder
 * @returns {Promise<ExperimentDocument | null>} null: the folder holds no experiment
 */
export const readExperiment = async (folder) => {
  const path = join(folder, 'experiment.json')
  const found = await jsonOf(path)
  return found === undefined
    ? null
    : checked(path, found, 'an experiment', (document) => faultIn(document, EXPERIMENT))
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
  if (!record) {
    const words = await unfinishedWords(folder)
    throw new OptionError(
      words ? `${folder}: ${words}` : `${folder} contains neither run.json nor experiment.json`,
    )
  }
  return record
}

/** @param {string} folder */
const runIn = async (folder) => {
  const document = await readRunDocument(folder)
  if (!document) return null
  const path = join(folder, 'intervals.ndjson')
  const seconds = await linesOf(path)
  try {
    return runRecord(document, seconds)
  } catch (cause) {
    const at = seconds.findIndex((second) => histogramFault(second) !== null)
    if (at < 0) throw cause
    throw new OptionError(`${path}, line ${at + 1}: ${histogramFault(seconds[at])}`, { cause })
  }
}
