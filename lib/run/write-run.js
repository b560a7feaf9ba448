// One run of the writer: set up, started, drained, and summed up.
import { InterruptedError } from '../base/errors.js'
import { unlessInterrupted, untilStopped } from '../base/interrupts.js'
import { sleep } from '../base/settlement.js'
import { sumsOf } from '../loads/write-records.js'
import { isScheduled } from '../plan/pacer.js'
import { shortestS } from '../traffic/lifetimes.js'
import { slotTableBytes } from '../wire/slot-tables.js'
import { played } from './frame.js'
import { outliveEarlier, storedDataIn } from './stored-data.js'
import { writeResultOf } from './write-result.js'
import { setUpWriting } from './write-setup.js'

/**
 * @import { Member } from '../fleet/member.js'
 * @import { StoredData } from '../measure/memory-cost.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Undo } from './frame.js'
 * @import { Beginning, Ending } from './write-result.js'
 * @import { WriteNeeds, WriteRun } from './write-setup.js'
 */

const sampleAheadMs = 300
// Of items with a shorter lifetime that are written once, many expire while the run takes its last second. The
// commands that count them are in that second's traffic, so they are sent only for these items.
const briefS = 10

/**
 * Whether keys that gather items may also have held others than those there at the end: of an earlier run, of items that
 * expired but are not collected yet, or of a box that ended before.
 * @param {WriteRun['plan']} plan
 * @param {StoredData} before
 */
const isOfOthersToo = ({ once, agents, totalAgents }, { keys, gathered }) =>
  once ||
  totalAgents > agents.length ||
  Number(keys) > agents.length + 1 ||
  Boolean(gathered?.some((n) => n > 0))

/** @type {StoredData} */
const noStoredData = { dataBytes: null, keys: null, gathered: null, holderBytes: null }

// A box of a fleet sets the timer of its first tick this long before it is due.
const aheadMs = 5

/**
 * The moment from which time is counted: now, or in a fleet the common start.
 * @param {WriteRun} run
 * @param {Member | null} fleet
 * @param {StoredData} before
 * @param {AbortSignal} stop
 */
const starting = async ({ idle, writing, sampler }, fleet, before, stop) => {
  if (!fleet) return Date.now()
  const known = async () => ({ idle: JSON.stringify(idle), before: JSON.stringify(before) })
  const { startMs, atMs, isLate } = await unlessInterrupted(stop, fleet.ready(known))
  const soonMs = atMs - sampleAheadMs - performance.now()
  if (soonMs > 0) await unlessInterrupted(stop, sleep(soonMs))
  writing.beginAt?.(atMs, isLate)
  // Counts while the boxes waited for each other are not part of the first second.
  if (fleet.leads()) await sampler.sample()
  return startMs
}

/**
 * The first tick begins.
 * @param {WriteRun} run
 * @param {WriteNeeds & { announce: () => Promise<unknown> }} needs
 * @param {Member | null} fleet
 * @returns {Promise<Beginning>}
 */
const begin = async (run, needs, fleet) => {
  const { target, announce, onBegin = async () => {}, earliest = async () => null, stop } = needs
  const { frame, sampler, window, writing, presence, clearOld } = run
  const isSampling = !fleet || fleet.leads()
  // From here on there is a result. The plan is stored in the target before its first key, and kept until the keys
  // are removed.
  await unlessInterrupted(stop, announce())
  await unlessInterrupted(stop, clearOld())
  const otherWriters = fleet ? async () => 0 : needs.otherWriters
  if (isSampling && needs.idleCost !== 'never')
    await unlessInterrupted(stop, outliveEarlier({ ...needs, otherWriters, run }))
  await unlessInterrupted(stop, Promise.all([isSampling && sampler.sample(), presence.sample(0)]))
  const found = isSampling ? await unlessInterrupted(stop, storedDataIn(target, run, true)) : noStoredData
  // What is there since another box of the run began is this run's own; that box knows what was there before.
  const asked = earliest().catch(() => null)
  const ofRun = await unlessInterrupted(stop, asked)
  const before = ofRun ?? found
  const load = await unlessInterrupted(stop, run.fill())
  const unpreparedBytes = await unlessInterrupted(stop, run.prepare())
  await unlessInterrupted(stop, onBegin(before))
  const startedEpochMs = await starting(run, fleet, before, stop)
  await window.prepare()
  if (fleet) await sleep(writing.elapsed() < -aheadMs ? -aheadMs - writing.elapsed() : 0)
  frame.begin(run.seconds, () => {
    window.start()
    writing.start(unpreparedBytes)
  })
  return { startedEpochMs, before, isOfRun: ofRun !== null, load }
}

/**
 * The last interval of a schedule counts with its whole length, however late the timer at its end fires.
 * @param {WriteRun} run
 * @param {number} offeredMs
 * @param {boolean} interrupted
 */
const endOf = ({ plan, writing, frame }, offeredMs, interrupted) => {
  const isWhole = isScheduled(plan) && Boolean(plan.ticks ?? plan.rates) && !interrupted && !frame.hasEnded()
  const overMs = isWhole ? Number(plan.endMs) : offeredMs
  return Math.max(overMs, writing.lastSettledMs())
}

/** @typedef {WriteNeeds & { announce: () => Promise<unknown> }} Needs */

/** @param {Needs} needs @param {Undo} undo */
const opened = async (needs, undo) => {
  const { stop, stopNow, fleet = null, warn = () => {} } = needs
  const onEncoding = (/** @type {number} */ share) => {
    if (stop.aborted) throw new InterruptedError()
    needs.onEncoding(share)
  }
  const run = await setUpWriting({ ...needs, onEncoding }, undo)
  const { frame, instruments, window, writing, records, plan } = run
  let [offeredMs, endMs] = [0, 0]
  /** @type {Beginning['before'] | null} */
  let before = null
  /** @type {StoredData | null} */
  let early = null
  const asked = async () =>
    fleet?.leads() === false
      ? noStoredData
      : storedDataIn(needs.target, run, isOfOthersToo(plan, /** @type {StoredData} */ (before)))
  const storedAfter = () => untilStopped(stopNow, asked(), noStoredData)
  return {
    frame,
    conducted: run,
    async begin() {
      const beginning = await begin(run, needs, fleet)
      before = beginning.before
      return beginning
    },
    over() {
      window.close()
      offeredMs = writing.elapsed()
    },
    drained() {
      endMs = endOf(run, offeredMs, stop.aborted)
    },
    async lastSecond() {
      if (plan.once && shortestS(plan) < briefS) early = await storedAfter()
    },
    /** @param {Beginning} beginning @param {{ interrupted: boolean }} ending */
    async result(beginning, { interrupted }) {
      instruments.warnings().forEach(needs.remark ?? warn)
      const after = early ?? (await storedAfter())
      const chunks = await untilStopped(stopNow, run.finish(), null)
      await untilStopped(stopNow, run.dropIndexes(), undefined)
      const slotTable = Math.max(...needs.target.versions.map(slotTableBytes))
      const ending = { endMs, interrupted, after, slotTable, chunks }
      const result = writeResultOf(run, beginning, ending, needs.conductor?.course)
      warnOfReplies(run, chunks, warn)
      const own = fleet && {
        sums: sumsOf(records, window, writing),
        behindMs: records.firstBehindMs(),
        measured: instruments.own(),
      }
      return { ...result, ...(own && { own: { ...own, after } }) }
    },
  }
}

/** @param {WriteRun} run @param {Ending['chunks']} chunks @param {(warning: Warning) => void} warn */
const warnOfReplies = (run, chunks, warn) => {
  const passes = run.passes()?.passes ?? []
  for (const name of run.unplayed())
    warn({ code: 'passes', message: `the pass of ${name} was not played`, invalidates: true })
  const { declared } = run.strategy
  for (const message of declared.reasons(run.counts() ?? {}, run.plan, passes, chunks?.sum ?? null))
    warn({ code: 'replies', message, invalidates: true })
}

/** @param {Needs} needs */
export const writeRun = (needs) => played(needs, (undo) => opened(needs, undo))
