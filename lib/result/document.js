// run.json: the parts of a finished run of any kind, put together, checked, judged, and with its measures. What each
// field is called and may hold is in record.js.
import { exactly } from '../base/typed.js'
import { plainData, plainText } from '../base/units.js'
import { loadOf } from '../loads/index.js'
import { emptySections, ofReaders, ofWorkers, ofWriters, SECTIONS } from '../measures/index.js'
import { ruling } from '../measures/warnings.js'
import { measuresOf } from './metrics.js'

/**
 * @import { CloudWatchSection } from '../cloudwatch/fetch.js'
 * @import { NodeResult, ReadResult, RunResult, WorkResult, WriteResult } from '../index.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 * @import { WorkPlan } from '../loads/workers/plan.js'
 * @import { Found } from '../servers/preflight.js'
 * @import { Measure } from './metrics.js'
 * @import { Judged } from './thresholds.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Run } from '../measures/section.js'
 * @import { AnyPlan } from '../measures/measure.js'
 * @import { Folded } from '../measures/fold.js'
 */
/** @typedef {number | null} Figure null: not measured */
/** @typedef {{ p50: Figure, p90: Figure, p99: Figure, p999: Figure, max: Figure, count?: number }} Percentiles count: samples */
/** @typedef {NodeResult} NodeFigures */
/** The plan is what was asked for, and each kind of load has its own. @template {RunResult} T @template P @typedef {Omit<T, 'plan'> & { plan: P }} Planned */
/** @typedef {{ offered: number, acked: number, failed: number, uncertain: number, dropped: number, unsettled: number, failed_by: Record<string, number> }} Items */
/** @typedef {Omit<Items, 'failed_by'> & { agent: number }} AgentItems */
/**
 * What a run recorded. The sections of a kind have the names that they have in run.json: writers and clients have
 * items, commands, ticks and server, consumers have what they read and commands by role.
 * @typedef {object} Head
 * @property {'producer' | 'consumer'} kind
 * @property {string} run
 * @property {string} [commandLine] that repeats the run
 * @property {number} startedEpochMs
 * @property {number} durationS
 * @property {number} [measuredS] without the warm-up
 * @property {number} [warmUpS]
 * @property {boolean} [interrupted]
 * @property {AnyPlan} plan
 * @property {{ millrace: string, node: string, servers: string[] }} versions
 * @property {{ kind: 'single' | 'cluster', origin: 'address' | 'embedded' | 'attached', found?: Found, shared_keys?: { key: string, shard: number }[] }} [target]
 * @property {Folded} [client]
 * @property {NodeFigures[]} nodes
 * @property {{ at_ms: number, kind: string, text: string }[]} events
 * @property {Warning[]} [warnings] what was noticed on the way
 *
 * @typedef {any} Part a section, or what one of the loads adds
 * @typedef {Head & { items: Items, agents?: AgentItems[], [section: string]: Part }} RunParts
 * @typedef {Head & { kind: 'consumer', [section: string]: Part }} ReadParts
 *
 * @typedef {Planned<WriteResult, Plan>} WriteRun
 * @typedef {Planned<ReadResult, ReadPlan>} ReadRun
 * @typedef {Planned<WorkResult, WorkPlan>} WorkRun
 * @typedef {WriteRun | ReadRun | WorkRun} RunDocument
 */

/**
 * The sections of each kind in their order; null where one may be missing as a whole. Consumers of a queue are workers, and
 * have jobs.
 */
const shapes = exactly({
  producer: emptySections(SECTIONS.producer, ofWriters),
  workers: emptySections(SECTIONS.workers, ofWorkers),
  consumer: emptySections(SECTIONS.consumer, ofReaders),
})

/** Numbers have at most nine significant digits. @param {unknown} data @returns {any} */
const readable = (data) => {
  if (typeof data === 'number') return Number.isInteger(data) ? data : Number(data.toPrecision(6))
  if (Array.isArray(data)) return data.map(readable)
  if (data === null || typeof data !== 'object') return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, readable(value)]))
}

/**
 * The keys of the shape in its order, with what was measured; then what was measured besides.
 * @param {any} shape
 * @param {any} given
 * @returns {any}
 */
const filled = (shape, given) => {
  if (shape === null || typeof shape !== 'object' || Array.isArray(shape)) return given ?? shape
  const own = Object.entries(shape).map(([key, part]) => [key, filled(part, given?.[key])])
  return { ...Object.fromEntries(own), ...besides(shape, given) }
}

/** @param {object} shape @param {object | null | undefined} given */
const besides = (shape, given) =>
  Object.fromEntries(Object.entries(given ?? {}).filter(([key]) => !(key in shape)))

/**
 * Whether a run may be quoted, and if not, why: one judgement for every kind of run.
 * @param {Run} run run.json without its judgement
 * @param {readonly Warning[]} [given] what was noticed on the way: an uneven placement, a lost lease
 */
export const validityOf = (run, given = []) => {
  const killed = given.some(({ code }) => code === 'killed')
  // Of a run without a second nothing else is known.
  const reasons = killed && run.duration_s === 0 ? [] : loadOf(run).reasons.flatMap((reason) => reason(run))
  return ruling(given, killed ? reasons.filter(({ code }) => code !== 'interrupted') : reasons)
}

/**
 * The document of run.json, judged; only plain text and finite numbers are in it.
 * @type {{ (parts: RunParts): WriteRun, (parts: RunParts | ReadParts): RunDocument }}
 */
export const resultDocument = (/** @type {RunParts | ReadParts} */ parts) => {
  const { kind, run, commandLine, startedEpochMs, durationS, measuredS, warmUpS, interrupted, ...rest } =
    parts
  const { plan, versions, target, nodes, events, warnings, ...sections } = rest
  const measured = readable(
    plainData({
      schema: 1,
      run: plainText(run),
      kind,
      ...(commandLine !== undefined && { command_line: commandLine }),
      started: new Date(startedEpochMs).toISOString(),
      duration_s: durationS,
      measured_s: measuredS ?? null,
      warm_up_s: warmUpS ?? null,
      interrupted: interrupted ?? false,
      plan: null,
      versions,
      target: target ?? null,
      ...filled(shapes[loadOf(parts).document], plainData(sections)),
      nodes,
      events,
    }),
  )
  // The plan is stored with all its digits.
  const document = { ...measured, plan: plainData(plan) }
  const judged = { ...document, ...validityOf(document, plainData(warnings ?? [])) }
  return { ...judged, measures: measuresOf(judged) }
}
