// Makes the result of a writing run from counts, latencies and samples.

import { keysFilled } from '../loads/clients/fill.js'
import { namesOfKind, opensWhileItRuns } from '../loads/names.js'
import { nodeTotals } from '../measures/nodes.js'
import { storedAtCost } from '../probes/costs.js'
import { meanRate } from '../traffic/rates.js'
import { curveAside, evictionOf } from './cache-curve.js'
import { trafficOf } from './traffic.js'

/**
 * @import { StoredData } from '../probes/memory-cost.js'
 * @import { RunParts } from '../result/document.js'
 * @import { WriteRun } from './write-run.js'
 * @import { Opened } from '../loads/index.js'
 * @import { About } from './cache-curve.js'
 *
 * @typedef {object} Ending
 * @property {number} endMs of the run
 * @property {boolean} interrupted
 * @property {StoredData} after
 * @property {Awaited<ReturnType<NonNullable<Opened['finish']>>> | null} bundles
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

/** The target rate of the window. @param {WriteRun} run @param {number} fromMs @param {number} endMs */
const nominalOf = ({ plan, course }, fromMs, endMs) =>
  plan.rates
    ? (meanRate(plan.rates, fromMs, endMs) * plan.items) / plan.quantity
    : (course?.last()?.rateHz ?? plan.nominalHz)

/** @param {WriteRun} run @param {Pick<About, 'plan' | 'offered' | 'fromMs' | 'endMs'> & { measured?: About['measured'] }} about of the requests of all boxes */
export const curveIn = async ({ strategy, target, needs, loaded }, { measured, ...about }) => {
  const family = [strategy.declared.keys(strategy.planFields).key].flat()[0]
  // Items of a hash are evicted together.
  if (!measured || family.type !== 'string') return null
  const eviction = await evictionOf(target)
  const { masters, owners } = target.topology
  const filled = keysFilled(about.plan, loaded)
  const servers = { topology: { masters, owners }, eviction, filled }
  return curveAside({ ...about, ...servers, measured }, needs.stopNow)
}

/** @param {WriteRun} run @param {Ending} ending */
export const writeResultOf = async (run, { endMs, interrupted, after, slotTable, bundles }) => {
  const { plan, strategy, records, writing, window, instruments, load } = run
  const totals = nodeTotals(instruments.window(), instruments.sofar)
  const { ledger } = records
  const acked = window.acked()
  const writers = run.presence.summary()
  const measuredS = window.lengthS(endMs)
  const queue = load.queue?.() ?? null
  const { stored, server, costed, achieved } = storedAtCost({
    plan,
    strategy,
    ledger,
    acked,
    measuredS,
    totals,
    counted: totals.counted,
    writers,
    idle: run.idle,
    opensConnections: opensWhileItRuns(plan),
    storedData: {
      before: run.before,
      after,
      elapsedMs: endMs,
      slotTable,
      writersBefore: run.isOfRun ? 0 : writers.before,
    },
  })
  const made = instruments.result({ stored, costed })
  const { offered } = ledger.whole
  const requests = { plan, offered, fromMs: window.fromMs(), endMs, measured: made.sections.cache }
  const curve = run.fleet ? null : await curveIn(run, requests)
  return {
    startedEpochMs: run.startedEpochMs,
    durationS: endMs / 1000,
    measuredS,
    warmUpS: window.fromMs() / 1000,
    interrupted,
    plan,
    writers,
    clocks: run.time.figures(),
    ...accountOf(run),
    rate: { nominal: nominalOf(run, window.fromMs(), endMs), achieved },
    ticks: { count: writing.measuredTicks(), late: records.lateTicks() },
    server,
    counts: load.counts?.() ?? null,
    ...(run.loaded && strategy.loads && { load: run.loaded }),
    ...load.answers?.(),
    traffic: trafficIn(run, endMs),
    ...load.passes?.(),
    ...(bundles && { bundles }),
    ...(queue && { queue }),
    events: run.journal.events,
    ...(curve && { miss_curve: curve }),
    ...made,
  }
}
