// The result of a fleet: the parts of a run, of the same shape as those of one process, from what all boxes sent. Pure.

import { sums as total } from '../base/sums.js'
import { opensWhileItRuns } from '../loads/names.js'
import { ofWriters } from '../measures/index.js'
import { nodeTotals } from '../measures/nodes.js'
import { joinedWritten } from '../probes/acked-ranges.js'
import { storedAtCost } from '../probes/costs.js'
import { noCounts } from '../probes/ledger.js'
import { absentOf } from './absent.js'
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
  const counted = boxes.flatMap(({ sums, isLost }) => (sums ? [{ sums, isLost }] : []))
  const interrupted = boxes.some(({ end }) => end?.interrupted)
  const mostTicks = Math.max(0, ...counted.map(({ sums }) => sums.ticks.next))
  const ticks = plan.ticks === null || interrupted ? mostTicks : plan.ticks
  const runMs = Math.max(0, ...boxes.map(({ end, folded }) => end?.end_ms ?? folded?.at_ms ?? 0))
  const absent = absentOf({ plan, ticks, boxes: counted })
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
      counts: { hit: own.whole['cache.hits'] ?? 0, miss: own.whole['cache.misses'] ?? 0 },
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
