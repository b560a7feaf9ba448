// The parts of a writing run before its first tick: the target prepared, the commands encoded, and all that measures
// opened.

import { ledSource } from '../fleet/leader-sampling.js'
import { dropIndexes, fillKeys, prepareKeys } from '../loads/clients/fill.js'
import { inFlightWords } from '../loads/clients/in-flight.js'
import { writingOf } from '../loads/index.js'
import { namesOfKind } from '../loads/names.js'
import { recordsOf, sumsOf } from '../loads/write-records.js'
import { serversAheadMs } from '../measure/clocks.js'
import { presenceWatch } from '../measure/presence.js'
import { changesOf } from '../measure/seconds.js'
import { client } from '../measures/client.js'
import { ofWriters } from '../measures/index.js'
import { nodes } from '../measures/nodes.js'
import { courseOf } from '../plan/course.js'
import { removeExpiredIds } from '../servers/expired-ids.js'
import { strategyOf } from '../workloads/strategy-of-plan.js'
import { frameOf } from './frame.js'
import { idleOf } from './idle.js'
import { lengthMs } from './second.js'
import { measuringWindow } from './window.js'

/**
 * @import { Member } from '../fleet/member.js'
 * @import { StoredData } from '../measure/memory-cost.js'
 * @import { instrumentsOf } from '../measures/index.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Target } from '../servers/open.js'
 * @import { RunClock } from '../measure/run-clock.js'
 * @import { Conductor } from './conductor.js'
 * @import { Opened, Writing } from '../loads/index.js'
 * @import { Frame, FrameNeeds, Undo } from './frame.js'
 * @import { Records } from '../loads/write-records.js'
 *
 * @typedef {FrameNeeds & OfWriters} WriteNeeds
 * @typedef {object} OfWriters
 * @property {Plan} plan
 * @property {(share: number) => void} onEncoding
 * @property {(ready: { encodeMs: number, encodedBytes: number }) => void} onReady
 * @property {Pick<RunClock, 'now' | 'check' | 'figures'>} time by the servers' clocks
 * @property {() => Promise<number>} otherWriters number of writers at work in other processes
 * @property {(before: StoredData) => Promise<void>} [onBegin] called when the writers of this process begin
 * @property {() => Promise<StoredData | null>} [earliest] what was there before the first writer
 *   of the run began; null: none has
 * @property {'auto' | 'always' | 'never'} idleCost
 * @property {Member | null} [fleet] of which this box is a part
 * @property {Conductor} [conductor] plays a search: decides the rates of writes
 * @property {(warning: Warning) => void} [remark] at the end
 *
 * @typedef {Awaited<ReturnType<typeof setUpWriting>>} WriteRun
 */

/** @param {ReturnType<typeof strategyOf>} strategy @param {Target} target */
const makeReady = async ({ scripts }, target) => {
  if (scripts.length > 0)
    await Promise.all(target.topology.masters.map((address) => target.loadScripts(address, scripts)))
}

/**
 * Removes ids of expired items. Call while no other plan is being written there, as its ids may be younger than they seem.
 * @param {Plan} plan
 * @param {ReturnType<typeof strategyOf>} strategy
 * @param {Target} target
 * @param {number} nowMs by the servers' clocks
 * @param {(kind: string, text: string) => void} event
 */
const clearLeftovers = async (plan, { purgedKeys }, target, nowMs, event) => {
  const removed = await removeExpiredIds(target, purgedKeys, nowMs - plan.ttlS * 1000)
  if (removed > 0) event('leftovers', `${removed} ids that an earlier run left were taken out`)
}

/** How far the servers' clocks are ahead; --verify needs it to know which items of --once have expired. @param {Target} target */
const aheadOf = (target) =>
  serversAheadMs({ servers: target.topology.masters, time: target.time, epochMs: Date.now })

/**
 * What measures the run: instruments and the window.
 * @param {Frame} frame
 * @param {WriteNeeds} needs
 * @param {Records} records
 * @param {() => object | null} load once it is open
 */
const watchersOf = async (frame, { plan, target, fleet, conductor }, records, load) => {
  const { elapsed, journal } = frame
  const window = measuringWindow({
    ...{ plan, ledger: records.ledger, elapsed },
    onOpen: () => instruments.startWindow(),
    onBacklog: (text) => journal.event('warm-up', text),
  })
  const instruments = await frame.measure(ofWriters, {
    ...{ plan, load, records },
    masters: () => target.nodes().filter(({ role }) => role === 'master'),
    access: target.access,
    covers: window.covers,
    note: journal.note,
    shared: fleet && ((/** @type {any} */ source) => ledSource(source, fleet)),
    tap: conductor?.tap,
  })
  return { instruments, window }
}

/**
 * Where the seconds of a run go: into its files, and in a fleet also to the control server.
 * @param {WriteNeeds} needs
 * @param {Awaited<ReturnType<typeof instrumentsOf>>} instruments
 * @param {Records} records
 * @param {{ acked: () => number }} window
 * @param {Writing} writing
 */
const secondsTo = ({ plan, results, fleet }, instruments, records, window, writing) => {
  if (!fleet) return results.interval
  return (/** @type {any} */ line) => {
    results.interval(line)
    fleet.second({
      ...line,
      writers: plan.agents.length,
      epoch_ms: Math.round(fleet.clock.now()),
      sums: sumsOf(records, window, writing),
      sampler: instruments.source(nodes)?.state?.(),
    })
  }
}

/** @param {Record<string, number>} counts */
const sum = (counts) => Object.values(counts).reduce((total, n) => total + n, 0)

/**
 * How each second is written and shown.
 * @param {WriteNeeds} needs
 * @param {Frame} frame
 * @param {Records} records
 * @param {Awaited<ReturnType<typeof watchersOf>>} watchers
 * @param {{ writing: Writing, driver: { watch: () => void } }} flow
 * @param {ReturnType<typeof presenceWatch>} presence
 */
const secondsOf = (needs, frame, records, { instruments, window }, { writing, driver }, presence) => {
  const { plan, time, say } = needs
  const { ledger } = records
  const { elapsed, journal } = frame
  const write = secondsTo(needs, instruments, records, window, writing)
  let isInFlightTold = false
  const noteAndWrite = (/** @type {any} */ line) => {
    const words =
      isInFlightTold || !namesOfKind(plan).keepsInFlight
        ? ''
        : inFlightWords({ plan, achieved: line.achieved, meanUs: line.latency_us.service?.mean })
    if (words) journal.event('in-flight', words)
    isInFlightTold ||= words !== ''
    const notice = window.endWarmUp(line)
    if (notice !== null) {
      journal.note('warm-up', notice)
      say(notice)
    }
    write(line)
  }
  return {
    ...{ time, watch: driver.watch, phase: window.phase, totalMs: lengthMs(plan) },
    moment: changesOf(() => ledger.whole, 'acked', elapsed),
    ask: presence.sample,
    line: (
      /** @type {any} */ { phase, counts, perS },
      /** @type {any} */ line,
      /** @type {any} */ writers,
    ) => ({
      ...{ phase, items: counts, achieved: perS, ...line, writers },
    }),
    shown: (/** @type {any} */ { perS, now: { failed, uncertain, dropped } }) => ({
      nominalRate: plan.nominalHz,
      achievedRate: perS,
      lost: { failed, uncertain, dropped, errors: sum(ledger.errorsBy) },
    }),
    write: noteAndWrite,
  }
}

// For parts that a kind of load does not have.
const none = {
  counts: () => null,
  answers: () => null,
  passes: () => null,
  unplayed: () => [],
  reconnects: () => null,
  queue: () => null,
  finish: async () => null,
}

/** @param {WriteNeeds} needs @param {Undo} undo */
export const setUpWriting = async (needs, undo) => {
  const { plan, target, time, otherWriters, onEncoding, onReady, say, fleet = null, conductor } = needs
  const strategy = strategyOf(plan)
  const frame = frameOf(needs, undo, {
    removesKeys: strategy.removesItemKeys,
    created: () => (plan.once ? records.ledger.whole.acked * strategy.holders().keysAnItem : 0),
    carried: () => records.ledger.whole.acked,
  })
  const { clock, elapsed, journal } = frame
  const course = conductor?.course ?? (plan.rates ? courseOf(plan.rates, true) : null)
  const records = recordsOf(plan, () => elapsed() >= watchers.window.fromMs(), conductor?.tap)
  undo(records.close)

  await makeReady(strategy, target)
  /** @type {Opened | null} */
  let load = null
  const watchers = await watchersOf(frame, needs, records, () => load)
  const { instruments, window } = watchers
  // PINGs of the other client run beside the idle servers as well.
  await instruments.start()
  let isOpen = false
  const onSample = () => instruments.source(client)?.sampleIdle(isOpen)
  const idling =
    !fleet || fleet.leads()
      ? idleOf({ plan, strategy, target, asked: needs.idleCost, otherWriters, say, onSample })
      : Promise.resolve({ why: 'another box of the fleet measured it' })
  const opened = async () => {
    const own = await writingOf(plan).open({
      ...{ plan, strategy, target, records, clock, onEvent: journal.event, time, onEncoding },
      onProgress: () => load?.writing.progress?.(),
      instruments,
      course,
      measuredFromMs: window.fromMs,
      ...(fleet && { stopsAtMs: fleet.stopsAtMs }),
    })
    undo(own.driver.close)
    isOpen = true
    return { ...none, ...own }
  }
  const [flow, idle] = await Promise.all([opened(), idling])
  load = flow
  onReady(flow.driver)
  const aheadMs = plan.once ? await aheadOf(target) : null
  const settle = async (/** @type {number} */ limitMs, /** @type {AbortSignal} */ atOnce) => {
    const whole = await flow.writing.settle(limitMs, atOnce)
    if (!whole) flow.driver.abandon()
    return whole
  }
  frame.hang({ ...flow.writing, over: flow.writing.offered, settle })
  const writers = { total: plan.totalAgents, own: plan.agents.length }
  const presence = presenceWatch({ writers, otherWriters, isMeasured: window.covers })
  const clearOld = () => clearLeftovers(plan, strategy, target, time.now(), journal.event)
  const filling = { plan, strategy, target, clock, say, onEvent: journal.event, stop: needs.stop }
  return {
    ...flow,
    ...{ plan, strategy, frame, records, journal, aheadMs, idle, ...watchers, presence, time, clearOld },
    sampler: frame.sampler,
    fill: () => fillKeys(filling),
    prepare: () => prepareKeys(filling),
    dropIndexes: () => dropIndexes(filling),
    seconds: secondsOf(needs, frame, records, watchers, flow, presence),
  }
}
