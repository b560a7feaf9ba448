// Makes the result of a writing run from counts, latencies and samples.

import { namesOfKind } from '../loads/names.js'
import { storedAtCost } from '../measure/costs.js'
import { nodeTotals } from '../measures/nodes.js'
import { meanRate } from '../traffic/rates.js'
import { trafficOf } from './traffic.js'

/**
 * @import { StoredData } from '../measure/memory-cost.js'
 * @import { Course } from '../plan/course.js'
 * @import { RunParts } from '../result/document.js'
 * @import { WriteRun } from './write-setup.js'
 *
 * @typedef {object} Beginning what the target held before the first write
 * @property {number} startedEpochMs
 * @property {StoredData} before
 * @property {boolean} isOfRun whether `before` is what was there before another box of the run began to write
 * @property {Awaited<ReturnType<WriteRun['fill']>>} load what was loaded before the run; null: nothing
 *
 * @typedef {object} Ending
 * @property {number} endMs of the run
 * @property {boolean} interrupted
 * @property {StoredData} after
 * @property {Awaited<ReturnType<WriteRun['finish']>>} chunks
 * @property {number} slotTable bytes that a server takes for each slot that holds a key
 */

/** @param {RunParts['written']} written @param {number | null} aheadMs */
const withClock = (written, aheadMs) => written && { ...written, servers_ahead_ms: aheadMs }

/** @param {WriteRun} run @returns {Pick<RunParts, 'items' | 'written' | 'agents' | 'commands'>} */
const accountOf = ({ records: { ledger }, aheadMs }) => ({
  items: { ...ledger.whole, failed_by: ledger.failedBy },
  written: withClock(ledger.written(), aheadMs),
  agents: [...ledger.byAgent].map(([agent, counts]) => ({ agent, ...counts })),
  commands: {
    sent: ledger.commands.sent,
    repeated: ledger.commands.repeated,
    errors_by: ledger.errorsBy,
    repeated_by: ledger.repeatedBy,
  },
})

/** @param {WriteRun} run @param {number} endMs */
const trafficIn = ({ plan, strategy, records }, endMs) => {
  const { offered } = records.ledger.whole
  if (!namesOfKind(plan).isAsked || strategy.declared.answers) return null
  return trafficOf(plan, { offered, endMs })
}

/** The target rate of the window. @param {WriteRun['plan']} plan @param {Course | null} course @param {number} fromMs @param {number} endMs */
const nominalOf = (plan, course, fromMs, endMs) =>
  plan.rates
    ? (meanRate(plan.rates, fromMs, endMs) * plan.items) / plan.quantity
    : (course?.last()?.rateHz ?? plan.nominalHz)

/** @param {WriteRun} run @param {Beginning} beginning @param {Ending} ending @param {Course | null} [course] of a run whose rate changed */
export const writeResultOf = (run, { startedEpochMs, before, isOfRun, load }, ending, course = null) => {
  const { plan, strategy, records, writing, window, journal, presence, time, idle, queue } = run
  const { endMs, interrupted, after, slotTable, chunks } = ending
  const totals = nodeTotals(run.instruments.window(), run.instruments.sofar)
  const { ledger } = records
  const acked = window.acked()
  const writers = presence.summary()
  const measuredS = window.lengthS(endMs)
  const { stored, server, costed, achieved } = storedAtCost({
    ...{ plan, strategy, ledger, acked, measuredS, totals, counted: totals.counted, writers, idle },
    storedData: { before, after, elapsedMs: endMs, slotTable, writersBefore: isOfRun ? 0 : writers.before },
  })
  return {
    startedEpochMs,
    durationS: endMs / 1000,
    measuredS,
    warmUpS: window.fromMs() / 1000,
    interrupted,
    plan,
    writers,
    clocks: time.figures(),
    ...accountOf(run),
    rate: { nominal: nominalOf(plan, course, window.fromMs(), endMs), achieved },
    ticks: { count: writing.measuredTicks(), late: records.lateTicks() },
    server,
    counts: run.counts(),
    ...(load && run.strategy.loads && { load }),
    ...run.answers(),
    traffic: trafficIn(run, endMs),
    ...run.passes(),
    ...(chunks && { chunks }),
    ...(queue() && { queue: queue() }),
    events: journal.events,
    ...run.instruments.result({ stored, costed }),
  }
}
