// Clients that put jobs into a queue, each job once.
import { agentRange } from '../../base/ranges.js'
import { count, facts, period, several } from '../../base/units.js'
import { makerName } from '../../workloads/queue/job.js'
import { behind } from '../clients/in-flight.js'
import { clients } from '../clients/index.js'
import { plan as clientsPlan } from '../clients/plan.js'
import { connectionsWords, words as ofClients } from '../clients/words.js'
import { names } from '../names.js'
import { goodOfWriters, repliesRow } from '../words.js'
import { seconds, writerReasons } from '../writer-reasons.js'

/**
 * @import { Evidence } from '../writer-reasons.js'
 * @import { Facts } from '../plan.js'
 * @import { Loaded } from '../index.js'
 * @import { Settings } from '../../../settings.js'
 * @import { Warning } from '../../measures/warnings.js'
 * @import { WriteRun } from '../../result/document.js'
 */

/**
 * For clients that put jobs into a queue, items an interval are a rate, which writers share; each job is new.
 * @param {Settings} settings
 * @param {Facts} facts
 */
const plan = (settings, facts) => {
  const {
    quantity,
    periodMs,
    rate,
    totalAgents,
    durationMs,
    delayMs = 0,
    maxQueue = null,
    whenFull,
  } = settings
  const { agents, startedMs = 0 } = facts
  const ranges = agents.map((agent) => ({ agent, ...agentRange(quantity, totalAgents, agent) }))
  const items = ranges.reduce((sum, { count }) => sum + count, 0)
  const nominalHz = rate === 'max' ? null : (items * 1000) / periodMs
  return {
    ...clientsPlan(settings, facts),
    flow: /** @type {const} */ ('jobs'),
    rate: rate === 'max' ? rate : null,
    nominalHz,
    items,
    periodMs,
    spacingMs: periodMs,
    totalAgents,
    agents: ranges,
    order: names.jobs.defaultOrder,
    queue: {
      /** The id of this run, which is part of the names of its jobs. */
      maker: makerName(startedMs, agents[0] ?? 1),
      /** Jobs in the queue at the end of a run without workers. */
      most: Math.ceil(((nominalHz ?? 0) * (durationMs ?? 0)) / 1000),
      /** Delay from a job's making to the earliest moment it may begin. */
      delayMs,
      /** Jobs; null: as the memory allows. */
      limit: maxQueue,
      waits: whenFull === 'wait',
    },
  }
}

/** Why jobs were refused, and when the queue was full. @param {Evidence} run @returns {Warning[]} */
const fullQueue = ({ queue, items }) => {
  if (!queue || queue.full_ms === null) return []
  const { limit, refused, full_ms: fullMs, predicted_ms: predictedMs, predicted_at_ms: atMs } = queue
  const what = items.failed_by.OOM ? "the server's memory" : `the queue of ${count(limit)} jobs`
  const predicted =
    predictedMs === null ? '' : `, as predicted for ${seconds(predictedMs)} when ${seconds(atMs)} had passed`
  const then =
    refused > 0
      ? `${count(refused)} of ${several(items.offered, 'job')} were refused`
      : 'from then on jobs waited for room'
  return [
    {
      code: 'full',
      message: `${what} was full after ${seconds(fullMs)}${predicted}: ${then}`,
      invalidates: false,
    },
  ]
}

const reasons = writerReasons({ behind, refused: [fullQueue] })

/** Jobs that the queue had no room for. @param {WriteRun} run */
const queueRow = ({ queue }) =>
  queue?.full_ms == null
    ? []
    : [
        {
          label: 'queue',
          text: facts([
            `full after ${period(queue.full_ms)}`,
            queue.predicted_ms != null &&
              `predicted for ${period(queue.predicted_ms)} when ${period(queue.predicted_at_ms ?? 0)} had passed`,
            `${count(queue.refused)} jobs refused`,
          ]),
        },
      ]

const words = {
  ...ofClients,
  load: (/** @type {Loaded} */ { plan }) => connectionsWords(plan),
  brief: queueRow,
  early: (/** @type {WriteRun} */ run) => [...queueRow(run), ...repliesRow(run)],
  late: undefined,
  good: (/** @type {WriteRun} */ run) =>
    run.queue?.refused ? 'every job stored, or refused by a full queue' : goodOfWriters(run),
}

export const jobs = Object.freeze({ ...clients, names: names.jobs, plan, words, reasons })
