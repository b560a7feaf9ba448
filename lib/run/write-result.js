// Makes the result of a writing run from counts, latencies and samples.

import { chunkRange } from '../base/ranges.js'
import { keysFilled } from '../loads/clients/fill.js'
import { writingOf } from '../loads/index.js'
import { namesOfKind, opensWhileItRuns } from '../loads/names.js'
import { drawsOfPart, partsOf, seedOfPart } from '../loads/parts.js'
import { nodeTotals } from '../measures/nodes.js'
import { storedAtCost } from '../probes/costs.js'
import { arrivalsWords, duesOf } from '../traffic/arrivals.js'
import { batchDraws, isDrawn, itemsWords } from '../traffic/items.js'
import { lifetimeOf, lifetimeWords } from '../traffic/lifetimes.js'
import { picksOf } from '../traffic/operations.js'
import { meanRate } from '../traffic/rates.js'
import { shownSizes, sizeOf } from '../traffic/sizes.js'
import { storesValues } from '../workloads/command-features.js'
import { strategyNamed } from '../workloads/index.js'
import { curveAside, evictionOf } from './cache-curve.js'

/**
 * @import { StoredData } from '../probes/memory-cost.js'
 * @import { RunParts } from '../result/document.js'
 * @import { WriteRun } from './write-run.js'
 * @import { Opened } from '../loads/index.js'
 * @import { About } from './cache-curve.js'
 * @import { Plan } from '../loads/plan.js'
 *
 * @typedef {object} Ending
 * @property {number} endMs of the run
 * @property {boolean} interrupted
 * @property {StoredData} after
 * @property {Awaited<ReturnType<NonNullable<Opened['finish']>>> | null} bundles
 * @property {number} slotTable bytes that a server takes for each slot that holds a key
 */

// The distribution that the plan's draws really had. The same functions of the seed are drawn again after the run, so that
// counting costs the run nothing. Exact for the first items offered, up to a limit; in a closed loop only the times of its
// operations differ.

const mostDraws = 200_000

/** The plans of its threads. @param {Plan} plan */
const partsIn = (plan) => partsOf(plan, writingOf(plan).sharing)

/**
 * The numbers of the items that were offered first, tick by tick of each writer, or operation by operation.
 * @param {Plan} plan
 * @param {number} draws
 * @param {number} endMs
 */
const itemsDrawn = (plan, draws, endMs) => {
  const items = new Float64Array(draws)
  if (!namesOfKind(plan).inBatches) {
    const parts = partsIn(plan).map((part) => ({
      draw: drawsOfPart(part, { count: plan.items, quantity: plan.quantity }),
      connections: part.connections,
    }))
    const due =
      plan.nominalHz === null
        ? (/** @type {number} */ i) => (i * endMs) / draws
        : duesOf({ ...plan, spacingMs: 1000 / plan.nominalHz })
    for (let i = 0; i < draws; i++) {
      const { draw, connections } = parts[i % parts.length]
      items[i] = draw(due(i), Math.floor(i / parts.length) % connections)
    }
    return items
  }
  const drawn = plan.agents.map((range) => (isDrawn(plan) ? batchDraws(plan, range) : null))
  for (let tick = 0, at = 0; at < draws; tick++) {
    for (const [a, range] of plan.agents.entries()) {
      const chunk = chunkRange(range, plan.chunks, tick % plan.chunks)
      const first = chunk.first + (plan.once ? Math.floor(tick / plan.chunks) * plan.quantity : 0)
      const batch = drawn[a]?.(chunk, tick * plan.spacingMs)
      for (let i = 0; i < chunk.count && at < draws; i++) items[at++] = batch ? batch[i] : first + i
    }
  }
  return items
}

/** @param {Float64Array} values */
const spread = (values) => {
  const sorted = values.toSorted()
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length
  return { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted[sorted.length - 1] }
}

/** Shares of the draws that went to the most drawn items. @param {Float64Array} items @param {number} quantity */
const popularity = (items, quantity) => {
  /** @type {Map<number, number>} */
  const counts = new Map()
  for (const n of items) counts.set(n, (counts.get(n) ?? 0) + 1)
  const sorted = Float64Array.from(counts.values()).sort().reverse()
  const shareOfTop = (/** @type {number} */ share) => {
    const top = sorted.subarray(0, Math.max(1, Math.round(share * quantity)))
    return (top.reduce((sum, n) => sum + n, 0) / items.length) * 100
  }
  return { distinct: counts.size, top_1_pct: shareOfTop(0.01), top_10_pct: shareOfTop(0.1) }
}

/** @param {Plan} plan @param {number} draws */
const operationsIn = (plan, draws) => {
  const { clients } = plan
  const ratio = clients?.ratio ?? []
  const names = ['writes', 'reads', 'deletes'].filter((_, i) => (ratio[i] ?? 0) > 0)
  const counts = names.map(() => 0)
  const weights = ratio.filter((weight) => weight > 0)
  const picks = partsIn(plan).map((part) => picksOf(weights, seedOfPart(part)))
  for (let i = 0; i < draws; i++) counts[picks[i % picks.length]()]++
  return { stated: ratio.join(':'), ...Object.fromEntries(names.map((name, i) => [name, counts[i]])) }
}

/** Gaps between what is due. @param {Plan} plan @param {number} draws */
const gapsIn = (plan, draws) => {
  const { inBatches } = namesOfKind(plan)
  const due = duesOf({ ...plan, spacingMs: inBatches ? plan.spacingMs : 1000 / Number(plan.nominalHz) })
  const events = Math.max(2, inBatches ? Math.ceil((draws * plan.chunks) / plan.items) : draws)
  const gaps = new Float64Array(events - 1)
  for (let i = 1, before = due(0); i < events; i++) {
    const at = due(i)
    gaps[i - 1] = at - before
    before = at
  }
  return { stated: arrivalsWords(plan.arrivals), gap_ms: spread(gaps) }
}

/** @param {Plan} plan @param {{ offered: number, endMs: number }} run */
const trafficOf = (plan, { offered, endMs }) => {
  const draws = Math.min(mostDraws, offered)
  if (draws === 0) return null
  const items = itemsDrawn(plan, draws, endMs)
  const isMix = !namesOfKind(plan).inBatches && strategyHasMix(plan)
  return {
    draws,
    items: { stated: itemsWords(plan), ...popularity(items, plan.items) },
    ...(storesValues(plan.strategy) && {
      value_bytes: {
        stated: plan.valueSizes === null ? 'fixed' : shownSizes(plan.valueSizes),
        ...spread(Float64Array.from(items, sizeOf(plan))),
      },
    }),
    ...(namesOfKind(plan).expires && {
      ttl_s: { stated: lifetimeWords(plan), ...spread(Float64Array.from(items, lifetimeOf(plan))) },
    }),
    ...(plan.nominalHz !== null && plan.pacing !== 'closed' && { arrivals: gapsIn(plan, draws) }),
    ...(isMix && { operations: operationsIn(plan, draws) }),
  }
}

/** @param {Plan} plan */
const strategyHasMix = ({ strategy }) => strategyNamed(strategy).options.includes('ratio')

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
