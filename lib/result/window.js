// A part of a run, or of several that ran side by side, as a document of its own.

import { absentWriters } from '../loads/writer-reasons.js'
import { counts, length } from '../measures/fields.js'
import { at, folded, sumOfSources } from '../measures/fold.js'
import { applying, factsBeside, factsOf, ofWriters, recordOf, sectionsOf } from '../measures/index.js'
import { commandsOfRole, nodesIn } from '../measures/nodes.js'
import { absentCode, ruling, warningsIn } from '../measures/warnings.js'
import { storedOf } from '../probes/costs.js'
import { presenceOf } from '../probes/presence.js'
import { measuresOf } from './metrics.js'

/**
 * @import { Idle, Unknown } from '../probes/idle-cost.js'
 * @import { Folded, Line } from '../measures/fold.js'
 * @import { Run as Document } from '../measures/section.js'
 * @import { Warning } from '../measures/warnings.js'
 *
 * @typedef {{ document: Document, lines: readonly Line[] }} Run
 * @typedef {{ fromMs: number, toMs: number }} Window epoch
 */

/** @param {Document} document */
const startOf = ({ started }) => Date.parse(started)

/** Lines that lie wholly within, with their moments from its start. @param {Run} run @param {Window} window @returns {Line[]} */
const linesWithin = ({ document, lines }, { fromMs, toMs }) => {
  const startMs = startOf(document)
  return lines.flatMap((line, at) => {
    const endMs = startMs + line.at_ms
    const beginMs = endMs - (line.over_ms ?? line.at_ms - (lines[at - 1]?.at_ms ?? 0))
    const within = beginMs >= fromMs && endMs <= toMs && line.phase !== 'draining'
    return within ? [{ ...line, at_ms: Math.round(endMs - fromMs), over_ms: endMs - beginMs }] : []
  })
}

/** What a line of a window has, with how long it took. */
const fields = { ...recordOf(ofWriters), items: counts(), over_ms: length() }

/**
 * How long the schedule takes for the work in folded lines. Lines end once a second, and so do the bursts of a batch: by
 * the clock the same lines may hold a part of a burst more or less, with the CPU that it cost.
 * @param {Document} document
 * @param {Folded} sum
 */
const workMs = ({ plan }, { items: { acked = 0 }, over_ms: overMs }) => {
  if (plan.schedule === 'none') return overMs
  const { items, chunks, spacingMs } = plan
  const ownMs = (acked / (items / chunks)) * spacingMs
  return ownMs > 0 && Math.abs(ownMs - overMs) <= 1.2 * spacingMs ? ownMs : overMs
}

/** Items that came to something: of a window, whose edges cut bursts, others were offered. @param {Record<string, number>} items */
const outcomesOf = ({ offered, ...outcomes }) => Object.values(outcomes).reduce((sum, n) => sum + n, 0)

/**
 * Items a second, counted as those of a whole run. A burst that an edge of the window cuts is not late; only what was lost
 * is not stored, and what waits for more than a tick.
 * @param {Document} document
 * @param {Folded} sum of its lines
 */
const rateOver = ({ plan }, { items: { offered = 0, acked = 0, ...losses }, over_ms: overMs }) => {
  const tickItems = plan.items / plan.chunks
  const lost = outcomesOf(losses)
  const open = Math.abs(offered - acked - lost)
  const due = { offered, acked: offered - lost - (open > tickItems ? open : 0) }
  const ticks = plan.schedule === 'none' ? 0 : Math.round(offered / tickItems)
  return (storedOf(plan, due, acked) * 1000) / (ticks * plan.spacingMs || overMs)
}

/** What one of the runs saw before anything was written. @param {readonly Run[]} runs @returns {Idle | Unknown} */
const idleOf = (runs) => {
  const all = runs.flatMap(({ document }) => document.server.idle ?? [])
  return all.find((idle) => !('why' in idle)) ?? all[0] ?? { why: 'not measured' }
}

/** Others that disturbed a whole run are taken to have disturbed each part of it. @param {readonly Run[]} runs */
const othersOf = (runs) => {
  const [found] = runs.flatMap(({ document }) => document.server.foreign_calls ?? [])
  return found ? { ...found, cpu_s: Number.POSITIVE_INFINITY, masters_cpu_s: Number.POSITIVE_INFINITY } : null
}

/** What is said of writers that ran side by side as of one. @param {readonly Run[]} runs */
const together = (runs) => {
  const [{ document: first }] = runs
  const plans = runs.map(({ document: { plan } }) => plan)
  const nominals = plans.map(({ nominalHz }) => nominalHz)
  return {
    run: runs.map(({ document: { run } }) => run).join(' + '),
    plan: {
      ...first.plan,
      agents: plans.flatMap(({ agents }) => agents),
      items: plans.reduce((sum, { items }) => sum + items, 0),
      nominalHz: nominals.includes(null) ? null : nominals.reduce((sum, hz) => sum + hz, 0),
    },
  }
}

/** How many writers were at work within the window. @param {Document} plan @param {readonly Line[]} lines */
const presenceOver = ({ totalAgents, agents }, lines) => {
  const [first] = lines
  if (lines.every(({ writers }) => writers === undefined)) return null
  const record = presenceOf({ total: totalAgents, own: agents.length })
  record.add(first.at_ms - (first.over_ms ?? 0), null, () => true)
  for (const { at_ms: atMs, writers = null } of lines) record.add(atMs, writers, () => true)
  return record.summary()
}

/** Who was absent within the window decides, not who was in the rest of the run. @param {Document} document */
const judgedAgain = (document) => {
  const others = document.warnings.filter((/** @type {Warning} */ { code }) => code !== absentCode)
  return ruling(others, warningsIn(absentWriters(document)))
}

/** @param {readonly Line[]} lines of one run */
const foldedOver = (lines) => folded(fields, lines)

/**
 * What measures make of them. What is known once is that of the whole runs.
 * @param {readonly Run[]} runs
 * @param {Folded} window
 * @param {number} acked
 * @param {number} items that the servers' work is divided by
 */
const measuredOver = (runs, window, acked, items) => {
  const facts = factsBeside(
    runs.map(({ document }) =>
      // A document has percentiles where the facts have histograms.
      Object.fromEntries(
        Object.entries(factsOf()).flatMap(([path, { kind }]) =>
          kind === 'encoded' ? [] : [[path, at(document, path)]],
        ),
      ),
    ),
  )
  const [{ document }] = runs
  const costed = { items, idle: idleOf(runs), others: othersOf(runs) }
  return sectionsOf(
    { facts, stored: acked, costed },
    { window, whole: window },
    document.plan,
    applying(ofWriters, document.plan),
  )
}

/** The commands of an item, as the first run names them. @param {Document} document @param {Folded} window */
const commandsOver = ({ server: { commands: wanted = {} } }, window) =>
  Object.fromEntries(
    Object.entries(commandsOfRole(window.nodes, 'master')).filter(([name]) => name in (wanted ?? {})),
  )

/**
 * The window as run.json would have it. The nodes are one run's view; items, latencies and the client's use are of
 * all runs together.
 * @param {readonly Run[]} runs at least one
 * @param {Window} window
 * @returns {{ document: Document, lines: Line[], byRun: Line[][] } | null} lines of the first run, and of each; null: no whole
 *   second lies in it
 */
export const windowOf = (runs, window) => {
  const [first] = runs
  const perRun = runs.map((run) => linesWithin(run, window))
  const [lines] = perRun
  if (lines.length === 0) return null
  const own = perRun.map(foldedOver)
  const linesMs = own[0].over_ms
  // Writers side by side are not in step: their bursts are spread over the lines.
  const overMs = runs.length === 1 ? workMs(first.document, own[0]) : linesMs
  const overS = overMs / 1000
  const rates = own.map((sum, i) => (sum.items ? rateOver(runs[i].document, sum) : 0))
  const seen = rates.reduce((all, rate) => all + rate)
  // Without a schedule whole lines end with a burst and leave out the sleep behind it; a writer's own figures hold it.
  const ownWindows = runs.length > 1 && first.document.plan.schedule === 'none'
  const achieved = ownWindows
    ? runs.reduce((sum, { document }) => sum + (document.rate.achieved ?? 0), 0)
    : seen
  const nominals = runs.map(({ document }) => document.rate.nominal)
  /** Each run has its own view of the nodes. @type {Folded} */
  const sum = { ...sumOfSources(fields, own), nodes: own[0].nodes }
  const { items } = sum
  const stored = runs.length === 1 ? items.acked : seen * overS
  const warnings = runs.flatMap(({ document }) =>
    document.warnings.filter((/** @type {Warning} */ { code }) => code !== 'interrupted'),
  )
  const measured = measuredOver(runs, sum, items.acked, stored)
  const { plan, ...whole } = { ...first.document, ...(runs.length > 1 && together(runs)) }
  const document = {
    ...whole,
    plan,
    agents: [], // items by writer are reported of whole runs only
    writers: presenceOver(plan, lines),
    started: new Date(window.fromMs).toISOString(),
    duration_s: overS,
    measured_s: overS,
    warm_up_s: 0,
    interrupted: false,
    items: {
      ...items,
      ...(runs.length > 1 && { offered: outcomesOf(items) }),
      failed_by: first.document.items.failed_by,
    },
    rate: {
      nominal: nominals.includes(null) ? null : nominals.reduce((sum, rate) => sum + rate, 0),
      achieved,
    },
    ...measured,
    ticks: { ...first.document.ticks, ...measured.ticks }, // they are counted over whole runs only
    server: {
      ...first.document.server,
      ...measured.server,
      share: 1,
      commands: commandsOver(first.document, sum),
    },
    nodes: ownWindows ? first.document.nodes : nodesIn(sum.nodes, linesMs / overMs),
    events: first.document.events.flatMap((/** @type {{ at_ms: number }} */ event) => {
      const atMs = startOf(first.document) + event.at_ms - window.fromMs
      return atMs >= 0 && atMs <= window.toMs - window.fromMs ? [{ ...event, at_ms: Math.round(atMs) }] : []
    }),
    warnings: [...new Map(warnings.map((warning) => [warning.message, warning])).values()],
  }
  const judged = { ...document, ...judgedAgain(document) }
  return { document: { ...judged, measures: measuresOf(judged) }, lines, byRun: perRun }
}
