// The result of a fleet: the parts of a run, of the same shape as those of one process, from what all boxes sent. Pure.

import { chunkRange } from '../base/ranges.js'
import { sums as total } from '../base/sums.js'
import { certain } from '../base/typed.js'
import { namesOfKind, opensWhileItRuns } from '../loads/names.js'
import { ofWriters } from '../measures/index.js'
import { nodeTotals } from '../measures/nodes.js'
import { joinedWritten } from '../probes/acked-ranges.js'
import { storedAtCost } from '../probes/costs.js'
import { noCounts } from '../probes/ledger.js'
import { sumOfBoxes } from './fold.js'
import { boxRow, measuredOfBoxes, sumOfSeconds, withMeasured } from './measured.js'

/**
 * @import { StoredData } from '../probes/memory-cost.js'
 * @import { Presence } from '../probes/presence.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { RunParts } from '../result/document.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { strategyOf } from '../workloads/bound-strategy.js'
 * @import { Checkpoint } from './fold.js'
 * @import { BoxDescription } from './gather.js'
 * @import { Sums } from './interval.js'
 * @import { Measured } from './measured.js'
 * @import { Percentiles } from '../base/samples.js'
 * @import { Written } from '../probes/acked-ranges.js'
 * @import { Idle, Unknown } from '../probes/idle-cost.js'
 * @import { Counts } from '../probes/ledger.js'
 *
 * @typedef {object} BoxEnd the last word of a box
 * @property {number} seq its last interval
 * @property {Sums} sums
 * @property {number} end_ms of its part
 * @property {boolean} interrupted
 * @property {Measured} measured what its measures come to
 * @property {{ intended: Percentiles | null, service: Percentiles | null }} latency_us
 * @property {number | null} behind_ms how late its first byte was sent
 * @property {readonly object[]} clocks
 * @property {readonly { at_ms: number, kind: string, text: string }[]} events
 * @property {readonly Warning[]} warnings
 * @property {Written | null} written
 *
 * @typedef {object} Known
 * @property {Plan} plan of all writers
 * @property {ReturnType<typeof strategyOf>} strategy
 * @property {string} control its address
 * @property {number} startMs
 * @property {readonly BoxDescription[]} descriptions of boxes that have numbers
 * @property {Readonly<Record<string, BoxEnd>>} ends
 * @property {Checkpoint} checkpoint
 * @property {(from: number, to: number) => Presence} presence
 * @property {StoredData | null} before
 * @property {StoredData | null} after
 * @property {number} slotTable
 * @property {Idle | Unknown} idle
 */

// Items without an outcome on any box: those of writers that never came, came late, or died. Other writers do not take them
// over.

/**
 * Items that a writer's schedule has in a range of ticks.
 * @param {Plan} plan
 * @param {{ first: number, count: number }} range
 * @param {number} from
 * @param {number} to
 */
const plannedItems = ({ chunks }, range, from, to) => {
  if (to <= from) return 0
  const upTo = (/** @type {number} */ ticks) => {
    let items = Math.floor(ticks / chunks) * range.count
    for (let k = 0; k < ticks % chunks; k++) items += chunkRange(range, chunks, k).count
    return items
  }
  return upTo(to) - upTo(from)
}

// A box that began later has not played all of its part.
const lateMs = 500

/**
 * Requests of a writer that a rate has for it, of clients whose boxes share them; null: it was there all the time, or no rate says it.
 * @param {Plan} plan
 * @param {readonly { isLost: boolean, fromMs: number }[]} boxes of the writer
 * @param {number} runMs until the last was settled
 */
const dueOf = ({ nominalHz, totalAgents, durationMs, warmUpMs }, boxes, runMs) => {
  const isWhole = boxes.length > 0 && boxes.every(({ isLost, fromMs }) => !isLost && fromMs < lateMs)
  if (nominalHz === null || isWhole) return null
  const endMs = Math.min(runMs, durationMs ?? runMs)
  const within = (/** @type {number} */ ms) => Math.round((Math.max(0, ms) * nominalHz) / totalAgents / 1000)
  return { whole: within(endMs), window: within(endMs - warmUpMs) }
}

/** @param {Counts} counts */
const outcomesIn = ({ acked, failed, uncertain, dropped }) => acked + failed + uncertain + dropped

/**
 * What each writer's boxes have counted, and what is missing of its part. What a box that died had under way is missing
 * too: its outcome is unknown.
 * @param {object} known
 * @param {Plan} known.plan of all writers
 * @param {number} known.ticks that the run had
 * @param {number} known.runMs
 * @param {readonly { sums: Sums, isLost: boolean, fromMs: number }[]} known.boxes
 */
export const absentOf = ({ plan, ticks, runMs, boxes }) => {
  const warmTicks = Math.min(ticks, Math.ceil(plan.warmUpMs / plan.spacingMs - 1e-9))
  const { inBatches } = namesOfKind(plan)
  const measuredShare = (/** @type {typeof boxes[number]} */ { sums }) =>
    sums.whole.offered > 0 ? sums.measured.offered / sums.whole.offered : 0
  /** @type {Map<number, { accounted: number, offered: number, measured: number, unsettled: number }>} */
  const by = new Map(
    plan.agents.map(({ agent }) => [agent, { accounted: 0, offered: 0, measured: 0, unsettled: 0 }]),
  )
  for (const box of boxes) {
    for (const counts of box.sums.agents) {
      const one = by.get(counts.agent)
      if (!one) continue
      const unsettled = box.isLost ? 0 : counts.unsettled
      const accounted = outcomesIn(counts) + unsettled
      one.accounted += accounted
      one.offered += counts.offered
      one.unsettled += unsettled
      // A box's writers end together, so their parts of the window are those of the box.
      one.measured += accounted * measuredShare(box)
    }
  }
  const agents = plan.agents.map((range) => {
    const { accounted, offered, measured } = certain(by.get(range.agent))
    const itsBoxes = boxes.filter(({ sums }) => sums.agents.some(({ agent }) => agent === range.agent))
    const ofTicks = inBatches &&
      plan.schedule !== 'none' && {
        whole: plannedItems(plan, range, 0, ticks),
        window: plannedItems(plan, range, warmTicks, ticks),
      }
    const due = inBatches ? ofTicks : dueOf(plan, itsBoxes, runMs)
    const { whole, window } = due || { whole: offered, window: measured }
    const planned = Math.max(whole, accounted)
    return {
      agent: range.agent,
      planned,
      absent: Math.max(0, planned - accounted),
      window,
      absentInWindow: Math.max(0, window - measured),
    }
  })
  const sum = (/** @type {(one: typeof agents[number]) => number} */ pick) =>
    agents.reduce((total, one) => total + pick(one), 0)
  const absent = sum((one) => one.absent)
  const window = sum((one) => one.window)
  return {
    agents,
    absent,
    share: absent === 0 || window === 0 ? 0 : Math.min(1, sum((one) => one.absentInWindow) / window),
  }
}

const mostEvents = 500
const noHeld = { dataBytes: null, keys: null, gathered: null, holderBytes: null }

/** @typedef {ReturnType<typeof boxesOf>[number]} Box */

/** Boxes in the order of their numbers. @param {Known} known */
const boxesOf = ({ descriptions, ends, checkpoint }) =>
  descriptions
    .filter(({ kind, agents }) => kind === 'producer' && agents.length > 0)
    .map((description) => {
      const folded = checkpoint.boxes[description.id] ?? null
      const end = ends[description.id] ?? null
      const sums = end?.sums ?? folded?.sums ?? null
      return { description, folded, end, sums, isLost: end === null }
    })
    .sort(
      (a, b) =>
        a.description.agents[0] - b.description.agents[0] ||
        (a.folded?.from_ms ?? 0) - (b.folded?.from_ms ?? 0),
    )

/** `box 3 (host-b)` @param {BoxDescription} description @param {number} at */
const nameOf = ({ host }, at) => `box ${at + 1} (${host})`

/** @param {Box} box @param {number} at @param {number} runMs */
const rowOf = (box, at, runMs) => {
  const { description, folded, end, sums, isLost } = box
  const { offered = 0, acked = 0 } = sums?.whole ?? {}
  const [fromMs, toMs] = [folded?.from_ms ?? 0, isLost ? (folded?.at_ms ?? 0) : (end?.end_ms ?? runMs)]
  const { intended } = end?.latency_us ?? {}
  return boxRow(box, withMeasured(box, ofWriters).client, {
    box: at + 1,
    writers: description.agents,
    fromMs,
    toMs,
    counted: {
      offered,
      acked,
      achieved: toMs > fromMs ? (acked * 1000) / (toMs - fromMs) : null,
      latency_us: { p50: intended?.p50 ?? null, p99: intended?.p99 ?? null },
    },
    uses: ['busy_pct', 'cpu_pct', 'rss_mb_max', 'loop_delay_ms_p99'],
    more: { behind_ms: end?.behind_ms ?? null },
  })
}

/** What boxes noticed, once each, with the boxes that did. @param {readonly Box[]} boxes */
const warningsOf = (boxes) => {
  /** @type {Map<string, { warning: Warning, by: number[] }>} */
  const all = new Map()
  boxes.forEach(({ end }, at) => {
    for (const warning of end?.warnings ?? []) {
      const key = `${warning.code} ${warning.message}`
      const known = all.get(key) ?? { warning, by: [] }
      known.by.push(at + 1)
      all.set(key, known)
    }
  })
  return [...all.values()].map(({ warning, by }) => ({
    ...warning,
    message:
      by.length === boxes.length
        ? warning.message
        : `box${by.length > 1 ? 'es' : ''} ${by.join(', ')}: ${warning.message}`,
  }))
}

/** @param {readonly Box[]} boxes */
const eventsOf = (boxes) =>
  boxes
    .flatMap(({ description, end, folded, isLost }, at) => [
      ...(end?.events ?? []).map((event) => ({ ...event, text: `box ${at + 1}: ${event.text}` })),
      ...(isLost
        ? [{ at_ms: folded?.at_ms ?? 0, kind: 'fleet', text: `the last sign of ${nameOf(description, at)}` }]
        : []),
    ])
    .sort((a, b) => a.at_ms - b.at_ms)
    .slice(0, mostEvents)

/** Which items were acknowledged, where each is written only once. @param {readonly Box[]} boxes */
const writtenOf = (boxes) => {
  const parts = boxes.flatMap(({ end }) => (end?.written ? [end.written] : []))
  return joinedWritten(parts, parts.length === boxes.length)
}

/** @param {readonly Box[]} boxes */
const startOf = (boxes) => {
  const behind = boxes.flatMap(({ end, folded }) =>
    // Who joined later did not begin with the others.
    end?.behind_ms != null && (folded?.from_ms ?? 0) < 1000 ? [end.behind_ms] : [],
  )
  const uncertainties = boxes.map(({ description }) => description.uncertainty_ms)
  return {
    // What is left of the clocks' differences, and what the boxes' own event loops added.
    clock_skew_ms:
      boxes.length > 1
        ? uncertainties
            .toSorted((a, b) => b - a)
            .slice(0, 2)
            .reduce((a, b) => a + b)
        : 0,
    loop_skew_ms: behind.length > 1 ? Math.max(...behind) - Math.min(...behind) : 0,
  }
}

/** @param {Known} known @returns {Omit<RunParts, 'kind' | 'run' | 'versions' | 'target'> & ReturnType<typeof measuredOfBoxes>} */
export const partsOfFleet = (known) => {
  const { plan, strategy, checkpoint, startMs, idle } = known
  const boxes = boxesOf(known)
  const counted = boxes.flatMap(({ sums, isLost, folded }) =>
    sums ? [{ sums, isLost, fromMs: folded?.from_ms ?? 0 }] : [],
  )
  const interrupted = boxes.some(({ end }) => end?.interrupted)
  const mostTicks = Math.max(0, ...counted.map(({ sums }) => sums.ticks.next))
  const ticks = plan.ticks === null || interrupted ? mostTicks : plan.ticks
  const runMs = Math.max(0, ...boxes.map(({ end, folded }) => end?.end_ms ?? folded?.at_ms ?? 0))
  const absent = absentOf({ plan, ticks, runMs, boxes: counted })
  const all = sumOfBoxes(counted.map(({ sums }) => sums))
  const unsettled = counted.reduce((sum, { sums, isLost }) => sum + (isLost ? 0 : sums.whole.unsettled), 0)
  /** @type {any} */
  const items = {
    ...all.whole,
    unsettled,
    offered: absent.agents.reduce((sum, { planned }) => sum + planned, 0),
    absent: absent.absent,
    failed_by: all.failed_by,
  }
  const measuredS = Math.max(0, runMs - plan.warmUpMs) / 1000
  const seconds = [Math.round(plan.warmUpMs / 1000) + 1, Math.floor(runMs / 1000) + 1]
  const writers = known.presence(seconds[0], seconds[1])
  const measured = { ...noCounts(), ...all.measured }
  const { acked = 0 } = all.commands
  const steady = writers.steady && absent.absent === 0
  const own = sumOfSeconds(boxes)
  const { stored, server, costed, achieved } = storedAtCost({
    plan,
    strategy,
    acked,
    measuredS,
    idle,
    processes: known.descriptions.length,
    opensConnections: opensWhileItRuns(plan),
    ledger: { measured, commands: { repeated: 0, ...all.commands } },
    storedData: {
      before: known.before ?? noHeld,
      after: known.after ?? noHeld,
      elapsedMs: runMs,
      slotTable: known.slotTable,
      writersBefore: 0,
    },
    totals: nodeTotals(own.window, own.whole),
    writers: { ...writers, steady },
  })
  return {
    startedEpochMs: startMs,
    durationS: runMs / 1000,
    measuredS,
    warmUpS: plan.warmUpMs / 1000,
    interrupted,
    plan,
    writers,
    clocks: boxes.find(({ end }) => end)?.end?.clocks ?? [],
    items,
    written: writtenOf(boxes),
    agents: absent.agents.map(({ agent, planned, absent: missing }) => {
      const own = counted.flatMap(({ sums, isLost }) =>
        sums.agents
          .filter((one) => one.agent === agent)
          .map(({ agent: _, ...one }) => (isLost ? { ...one, unsettled: 0 } : one)),
      )
      return { agent, ...total([noCounts(), ...own]), offered: planned, absent: missing }
    }),
    commands: {
      sent: all.commands.sent,
      repeated: all.commands.repeated,
      errors_by: all.errors_by,
      repeated_by: all.repeated_by,
    },
    rate: {
      nominal: plan.nominalHz,
      achieved,
    },
    ticks: {
      count: Math.max(0, ...counted.map(({ sums }) => sums.ticks.count)),
      late: Math.max(0, ...counted.map(({ sums }) => sums.ticks.late)),
    },
    server,
    ...(plan.cache && {
      counts: {
        hit: (own.whole['cache.hits'] ?? 0) + (own.whole['cache.late']?.hits ?? 0),
        miss: (own.whole['cache.misses'] ?? 0) + (own.whole['cache.late']?.misses ?? 0),
      },
    }),
    events: eventsOf(boxes),
    warnings: warningsOf(boxes),
    ...measuredOfBoxes({ boxes, checkpoint, own, stored, costed, plan }, ofWriters),
    fleet: {
      control: known.control,
      boxes: boxes.map((box, at) => rowOf(box, at, runMs)),
      start: startOf(boxes),
      absent: { items: absent.absent, share: absent.share },
    },
  }
}
