// The seven kinds of load, and which of them a run has. What opens connections is imported when a load is opened.
import { bundles } from './bundles/index.js'
import { clients } from './clients/index.js'
import { fetches } from './fetches/index.js'
import { jobs } from './jobs/index.js'
import { passes } from './passes/index.js'
import { ticks } from './ticks/index.js'
import { workers } from './workers/index.js'

/**
 * @import { Signals } from '../base/settlement.js'
 * @import { ledgerOf } from '../probes/ledger.js'
 * @import { operationsOf } from '../probes/operations.js'
 * @import { RunClock } from '../probes/run-clock.js'
 * @import { Seconds } from '../probes/seconds.js'
 * @import { Keep } from '../probes/shared-counts.js'
 * @import { instrumentsOf } from '../measures/index.js'
 * @import { Measure, Measuring } from '../measures/contract.js'
 * @import { Line } from '../measures/fold.js'
 * @import { Run, Section } from '../measures/section.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { AnnouncedPlan } from '../plan/announcement.js'
 * @import { AnyPlan } from '../measures/measure.js'
 * @import { RunDocument } from '../result/document.js'
 * @import { Target } from '../servers/open.js'
 * @import { FlowName, KindName, Names } from './names.js'
 * @import { Sharing } from './parts.js'
 * @import { Plan } from './plan.js'
 * @import { WriterRun } from './ticks/open.js'
 * @import { Percentiles } from '../base/samples.js'
 *
 * @typedef {{ label: string, text: string }} Row
 * @typedef {{ kind: RunDocument['kind'], plan: AnyPlan, consumers?: number }} Loaded what is known of a run before its result
 *
 * @typedef {object} Words of a report
 * @property {string} does 'writes'
 * @property {(run: Loaded) => string} load in a few words
 * @property {(plan: AnyPlan) => string} plan
 * @property {(run: Run) => string} good why a run counts
 * @property {(run: Run) => string | null} [doubt] what a run that counts does not know
 * @property {(run: Run) => Row[]} [brief] the first rows of the end of a run, before those of its sections
 * @property {(run: Run) => Row[]} [rows] all rows of the answer but those on servers and on what is beside
 * @property {(run: Run) => Row[]} [facts] in the place of those of writers
 * @property {(run: Run) => { name: string, figures: any, unit: 'us' | 'ms' }[]} [times] before those of the measures
 *
 * @typedef {object} Writing offers what is to be written
 * @property {() => number} elapsed
 * @property {Promise<unknown>} offered resolves when everything was offered, or it was stopped
 * @property {(limitMs: number, atOnce: AbortSignal) => Promise<boolean>} settle
 * @property {() => void} stop
 * @property {() => number} lastSettledMs
 * @property {() => number} measuredTicks
 * @property {(unpreparedBytes: number | null) => void} start unpreparedBytes: of data on the masters before anything was
 *   prepared; null: nothing was
 * @property {() => void} [progress] answers came
 * @property {(atMs: number, late: boolean) => void} [beginAt] of a fleet
 * @property {(fromMs: number) => void} [measureFrom] the warm-up ends then, after the start
 * @property {(last?: AbortSignal) => Promise<void>} [gather] what other threads have counted until now; last: of the last second, and who is
 *   not waited for any more
 * @property {() => number} [nextTick] the first that was not offered
 *
 * @typedef {Awaited<ReturnType<typeof ticks.open>>} OpenTicks
 * @typedef {Awaited<ReturnType<typeof clients.open>>} OpenClients
 * @typedef {Awaited<ReturnType<typeof bundles.open>>} OpenBundles
 * @typedef {{ driver: (OpenTicks | OpenClients | OpenBundles)['driver'], writing: Writing } & PartsOfOpened} Opened a load with writers
 * @typedef {Partial<Pick<OpenClients, 'counts' | 'passes' | 'unplayed' | 'reconnects' | 'answers' | 'queue'>>
 *   & { finish?: () => Promise<Awaited<ReturnType<OpenBundles['finish']>> | null> }} PartsOfOpened a kind leaves out what it does not have
 *
 * @typedef {object} WritingKind what opens a kind with writers
 * @property {(plan: Plan, isMeasured: () => boolean, keep?: Keep) => ReturnType<typeof ledgerOf> | ReturnType<typeof operationsOf>} ledger
 * @property {(run: WriterRun) => Promise<Opened>} open
 * @property {Sharing} sharing how threads share its plan
 *
 * @typedef {object} Playing a load that is open
 * @property {() => number} elapsed 0 until its start
 * @property {Promise<unknown>} over nothing new begins
 * @property {() => void} stop
 * @property {(limitMs: number, atOnce: AbortSignal) => Promise<boolean>} settle
 *
 * @typedef {object} Frame of a run, as what opens a load sees it
 * @property {() => number} clock
 * @property {() => number} elapsed 0 until the start of its load
 * @property {{ events: { at_ms: number, kind: string, text: string }[], note: (kind: string, text: string) => void,
 *   event: (kind: string, text: string) => void }} journal
 * @property {(load: Playing) => void} hang
 * @property {Measuring} measure
 * @property {(seconds: Omit<Seconds, 'instruments' | 'elapsed' | 'show'> & { time: Pick<RunClock, 'check'> },
 *   start: () => void) => number} begin its seconds and the load; when, epoch
 *
 * @typedef {Signals & NeedsOfLoad} LoadNeeds of a load with seconds of its own
 * @typedef {object} NeedsOfLoad
 * @property {Target} target
 * @property {AnnouncedPlan | null} announced
 * @property {{ interval: (line: Line) => void }} results
 * @property {(line: string) => void} say
 * @property {(warning: Warning) => void} warn
 * @property {Frame} frame
 * @property {(step: () => unknown) => void} undo
 *
 * @typedef {Phases<number, object, Awaited<ReturnType<typeof fetches.open>>['conducted']>} Reading consumers that are
 *   open; they begin at a moment, epoch
 *
 * @typedef {object} Load what reports and results know of a kind
 * @property {'producer' | 'consumer' | 'workers'} document the shape of run.json
 * @property {Names} names
 * @property {readonly Measure[]} measures
 * @property {readonly Section[]} sections of run.json, in the order of their rows and reasons
 * @property {Words} words
 * @property {readonly ((run: Run) => Warning[])[]} reasons why a run of it may not be quoted
 */

/**
 * @template Beginning, Result, Against
 * @typedef {object} Phases of a run whose load is open, in their order
 * @property {() => Promise<Beginning>} begin until the first is due
 * @property {Against | null} [conducted] what a search plays against
 * @property {() => void} [over] nothing new begins
 * @property {(whole: boolean) => unknown} [drained] what was under way has settled, or is not waited for any longer
 * @property {() => unknown} [lastSecond] what is asked within it
 * @property {(beginning: Beginning, ending: { whole: boolean, interrupted: boolean }) => Result | Promise<Result>} result
 *   whole: everything that had begun was settled
 */

export const LOADS = Object.freeze({ ticks, clients, bundles, passes, jobs, fetches, workers })

/** What a writer plays. @param {{ flow: FlowName }} plan */
export const writingOf = ({ flow }) => /** @type {WritingKind} */ (LOADS[flow])

/** What a consumer plays. @type {(plan: { flow: 'fetches' | 'workers' }) => { open: (needs: any) => Promise<Reading> }} */
export const readingOf = ({ flow }) => LOADS[flow]

/** @param {{ plan: { flow: KindName } }} run run.json, or its plan @returns {Load} */
export const loadOf = ({ plan }) => LOADS[plan.flow]
