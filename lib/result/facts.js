// run.json as a function of what lies beside it: facts.json has what is known once, intervals.ndjson the seconds. A run that
// was killed, or whose disk was full, has the facts of its beginning only, and its result is that of the seconds it wrote.

import { count, several } from '../base/units.js'
import { loadOf } from '../loads/index.js'
import { namesOfKind } from '../loads/names.js'
import { counts } from '../measures/fields.js'
import { folded } from '../measures/fold.js'
import { applying, recordOf, sectionsOf } from '../measures/index.js'
import { duesOf } from '../traffic/arrivals.js'
import { resultDocument } from './document.js'
import { withThresholds } from './thresholds.js'
import { windowOf } from './window.js'

/**
 * @import { Known } from '../measures/index.js'
 * @import { Run } from '../measures/section.js'
 * @import { Folded, Line } from '../measures/fold.js'
 * @import { Plan } from '../loads/plan.js'
 *
 * @typedef {object} Facts facts.json
 * @property {1} schema
 * @property {Run} parts of run.json but for those that measures make of the seconds
 * @property {readonly string[]} thresholds
 * @property {Known & { linesBefore?: number, fromMs?: number } | null} sums what is known besides the seconds, and how many lines are before
 *   the window (of earlier versions, when it began); null: the run has not ended
 *
 * @typedef {readonly Line[]} Lines of intervals.ndjson
 */

// What is known of a run that was killed: how many items it may have stored besides those of its seconds.

// A line comes a second after the one before, and waits up to 0.9 s for the servers.
const unwrittenMs = 2000
// To draw more would take seconds.
const mostDraws = 5_000_000

/**
 * How many events are due by then; null: too many to draw.
 * @param {Pick<Plan, 'schedule' | 'arrivals' | 'spacingMs' | 'seed'>} dues
 * @param {number} toMs
 */
const eventsDue = (dues, toMs) => {
  if (dues.schedule === 'even') return Math.floor(toMs / dues.spacingMs) + 1
  const due = duesOf(dues)
  let n = 0
  while (n < mostDraws && due(n) <= toMs) n++
  return n < mostDraws ? n : null
}

/**
 * The most that a plan offers by then.
 * @param {Plan} plan
 * @param {number} toMs
 * @returns {number | null} null: as many as the servers take
 */
export const mostOffered = (plan, toMs) => {
  const { items, quantity, chunks, ticks, rates, nominalHz, schedule, arrivals, seed, clients } = plan
  const { inBatches } = namesOfKind(plan)
  const batch = inBatches ? plan.agents.reduce((sum, agent) => sum + Math.ceil(agent.count / chunks), 0) : 1
  const whole = inBatches
    ? (ticks ?? Number.POSITIVE_INFINITY) * batch
    : (clients?.requests ?? Number.POSITIVE_INFINITY)
  /** @type {number | null} */
  let due = null
  if (rates) {
    const share = inBatches ? items / quantity : 1
    const each = rates.map(({ fromMs, toMs: endMs, rateHz }) =>
      Math.ceil((Math.max(0, Math.min(endMs, toMs) - fromMs) / 1000) * rateHz * share + batch),
    )
    due = each.reduce((sum, n) => sum + n, 0)
  } else if (schedule !== 'none' && nominalHz !== null) {
    const spacingMs = inBatches ? plan.spacingMs : 1000 / nominalHz
    const events = eventsDue({ schedule, arrivals, seed, spacingMs }, toMs)
    due = events === null ? null : events * batch
  }
  const most = Math.min(whole, due ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(most) ? most : null
}

/**
 * @param {Plan} plan
 * @param {number | null} lastMs of its last line; null: there is none
 * @param {number} stored by its lines
 */
const storedWords = (plan, lastMs, stored) => {
  const { unit, isAsked } = namesOfKind(plan)
  const did = unit === 'operation' && isAsked ? 'done' : 'stored'
  const most = mostOffered(plan, (lastMs ?? 0) + unwrittenMs)
  return most === null
    ? `${several(stored, unit)} or more were ${did}`
    : `between ${count(stored)} and ${several(Math.max(most, stored), unit)} were ${did}`
}

/**
 * @param {Run} parts
 * @param {number | null} lastMs of its last line; null: there is none
 * @param {number} done by its lines: items stored, jobs done
 */
const killedWords = (parts, lastMs, done) => {
  const { document } = loadOf(parts)
  const more = {
    producer: () => storedWords(parts.plan, lastMs, done),
    workers: () =>
      lastMs === null ? 'how many jobs were done is not known' : `${several(done, 'job')} or more were done`,
    consumer: () => 'it stores nothing',
  }
  return lastMs === null
    ? `the run was killed before its first second: ${more[document]()}; nothing was measured`
    : `the run was ended by a kill, or its disk was full: this is the result of its first ${(lastMs / 1000).toFixed(1)} s; ${more[document]()}`
}

/** A section may have parts by measures and parts by the run. @param {Run} own @param {any} made @returns {any} */
const joined = (own, made) => {
  if (own === undefined || typeof made !== 'object' || made === null || Array.isArray(made)) return made
  if (typeof own !== 'object' || own === null) return own
  const more = Object.entries(made).map(([name, part]) => [name, joined(own[name], part)])
  return { ...own, ...Object.fromEntries(more) }
}

/** @param {Facts} facts @param {Folded} sections that measures made */
export const documentWith = ({ parts, thresholds }, sections) =>
  withThresholds(resultDocument(joined(parts, sections)), thresholds)

/** @param {Facts} facts @param {Lines} lines @param {readonly { at_ms: number, kind: string, text: string }[]} events */
export const documentOf = (facts, lines, events) => {
  const { parts, sums } = facts
  const measures = applying(loadOf(parts).measures, parts.plan)
  const fields = { ...recordOf(measures), items: counts() }
  const { linesBefore = 0, fromMs = Number.NEGATIVE_INFINITY } = sums ?? {}
  const measured = lines.filter(
    ({ phase, at_ms: atMs }, i) => phase !== 'warm-up' && i >= linesBefore && atMs > fromMs,
  )
  const [window, whole] = [folded(fields, measured), folded(fields, lines)]
  /** @type {NonNullable<Facts['sums']>} */
  const known = sums ?? {
    overS: (lines.at(-1)?.at_ms ?? 0) / 1000,
    ...storedIn(parts, window),
    facts: {},
  }
  const sections = sectionsOf(known, { window, whole }, parts.plan, measures)
  if (sums) return documentWith(facts, sections)
  return documentWith(
    { ...facts, parts: { ...parts, ...partsOfLines(parts, lines, whole), events } },
    sections,
  )
}

/** Items answered to writers, or jobs done by workers. @param {Run} parts @param {Folded} sum of seconds */
const storedIn = (parts, { items, 'jobs.done': jobs }) => {
  const { acked = 0 } = items ?? {}
  const done = jobs ?? 0
  const costed = { items: acked, idle: { why: 'not measured' } }
  const loads = { producer: { stored: acked, costed }, workers: { stored: done }, consumer: { stored: 0 } }
  return loads[loadOf(parts).document]
}

/** For a run that was killed. @param {Run} parts @param {Lines} lines @param {Folded} sum of them */
const partsOfLines = (parts, lines, sum) => {
  const lastMs = lines.at(-1)?.at_ms ?? 0
  const [first] = lines
  const own = { producer: writtenIn, workers: workedIn, consumer: readIn }[loadOf(parts).document]
  const { stored } = storedIn(parts, sum)
  const message = killedWords(parts, first ? lastMs : null, stored)
  return {
    startedEpochMs: first?.epoch_ms !== undefined ? first.epoch_ms - first.at_ms : parts.startedEpochMs,
    durationS: lastMs / 1000,
    interrupted: true,
    ...own(parts, lines, sum),
    warnings: [...parts.warnings, { code: 'killed', message, invalidates: true }],
  }
}

const noItems = { offered: 0, acked: 0, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 }

/** @param {Run} parts @param {Lines} lines @param {Folded} sum of them */
const writtenIn = ({ plan }, lines, { items }) => {
  const done = items ?? {}
  const { offered = 0, ...outcomes } = done
  const withOutcome = Object.values(outcomes).reduce((sum, n) => sum + Number(n), 0)
  const measuring = lines.find(({ phase }) => phase === 'measuring')
  const warmUpMs = plan.settles
    ? Math.max(0, (measuring?.at_ms ?? plan.warmUpMs + 1000) - 1000)
    : plan.warmUpMs
  const warmUpS = warmUpMs / 1000
  const measuredS = Math.max(0, (lines.at(-1)?.at_ms ?? 0) / 1000 - warmUpS)
  const start = { started: new Date(0).toISOString(), rate: { nominal: plan.nominalHz, achieved: null } }
  const document = {
    ...start,
    plan,
    items: { failed_by: {} },
    server: {},
    nodes: [],
    events: [],
    warnings: [],
  }
  const window = windowOf([{ document, lines }], {
    fromMs: warmUpMs,
    toMs: Number.POSITIVE_INFINITY,
  })
  const { rate = document.rate, writers = null } = window?.document ?? {}
  return {
    commands: { errors_by: {}, repeated_by: {} },
    measuredS,
    warmUpS,
    rate,
    writers,
    server: { share: 1 },
    items: {
      ...noItems,
      ...done,
      unsettled: (done.unsettled ?? 0) + offered - withOutcome,
      failed_by: {},
    },
  }
}

/** @param {Run} parts */
const readIn = ({ plan }) => ({ commands: {}, reads: {}, consumers: plan.agents.length * plan.consumers })

// Only a run that ends knows what each worker did.
const workersShape = (/** @type {number} */ count) => ({
  count,
  busy_share: null,
  work_us_mean: null,
  processes_lost: null,
})

const noJobs = { taken: 0, done: 0, duplicates: 0, foreign: 0, reclaimed: 0 }

/** @param {Run} parts @param {Lines} lines @param {Folded} sum of them */
const workedIn = ({ plan: { work }, jobs: known }, lines, { 'jobs.done': done = 0 }) => {
  const lastMs = lines.at(-1)?.at_ms ?? 0
  const rate = lastMs > 0 ? (Number(done) * 1000) / lastMs : null
  return {
    jobs: {
      ...known,
      ...(lines.length === 0 && noJobs),
      settled: false,
      account: null,
    },
    rate: { nominal: null, achieved: rate },
    commands: { refused_by: {}, lost_replies: {} },
    workers: workersShape(work.workers),
    stages: work.outputs && {
      filter: { ...workersShape(work.workers), rate: null, done: null },
      output: { ...workersShape(work.outputs.workers), rate, done: lines.length > 0 ? done : undefined },
    },
  }
}
