// Clients that put jobs into a queue, each job once.
import { makerName } from '../../workloads/queue/job.js'
import { behind } from '../clients/in-flight.js'
import { connectionsWords, words as ofClients } from '../clients/index.js'
import { plan as clientsPlan } from '../clients/plan.js'
import { names } from '../names.js'
import { operationsLoad } from '../operations.js'
import { undivided } from '../parts.js'
import { sharedAmong } from '../shares.js'
import { goodOfWriters } from '../words.js'
import { writerReasons } from '../writer-reasons.js'

/**
 * @import { Facts } from '../plan.js'
 * @import { WriterRun } from '../ticks/open.js'
 * @import { Loaded } from '../index.js'
 * @import { Settings } from '../../../settings.js'
 * @import { WriteRun } from '../../result/document.js'
 */

/**
 * For clients that put jobs into a queue, items an interval are a rate, which writers share; each job is new.
 * @param {Settings} settings
 * @param {Facts} facts
 */
const plan = (settings, facts) => {
  const { periodMs, rate, totalAgents, durationMs, delayMs = 0, maxQueue = null, whenFull } = settings
  const { startedMs = 0 } = facts
  const common = clientsPlan(settings)
  /** @param {readonly number[]} numbers of the writers of this process */
  return (numbers) => {
    const shares = sharedAmong(settings, numbers)
    return {
      ...common(numbers),
      /** @type {'jobs'} */
      flow: 'jobs',
      rate: rate === 'max' ? rate : null,
      ...shares,
      periodMs,
      spacingMs: periodMs,
      totalAgents,
      order: names.jobs.defaultOrder,
      queue: {
        /** The id of this run, which is part of the names of its jobs. */
        maker: makerName(startedMs, numbers[0] ?? 1),
        /** Jobs in the queue at the end of a run without workers. */
        most: Math.ceil(((shares.nominalHz ?? 0) * (durationMs ?? 0)) / 1000),
        /** Delay from a job's making to the earliest moment it may begin. */
        delayMs,
        /** Jobs; null: as the memory allows. */
        limit: maxQueue,
        waits: whenFull === 'wait',
      },
    }
  }
}

const words = {
  ...ofClients,
  load: (/** @type {Loaded} */ { plan }) => connectionsWords(plan),
  good: (/** @type {WriteRun} */ run) =>
    run.queue?.refused ? 'every job stored, or refused by a full queue' : goodOfWriters(run),
}

export const jobs = operationsLoad({
  names: names.jobs,
  plan,
  sharing: undivided('its account of jobs is kept in one thread'),
  open: async (/** @type {WriterRun} */ run) => (await import('../clients/open.js')).clientsWriting(run),
  words,
  reasons: writerReasons(behind),
})
