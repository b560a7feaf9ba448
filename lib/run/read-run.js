// One run of consumers: put together, started, ended and summed up.

import { unlessInterrupted } from '../base/interrupts.js'
import { patienceMs, sleep } from '../base/settlement.js'
import { atMost, longestTimerMs } from '../base/timers.js'
import { withUndo } from '../base/undo.js'
import { commandsOfRole } from '../measures/nodes.js'
import { setUpReading } from './read-setup.js'

/**
 * @import { Conducted } from './conductor.js'
 * @import { Joined } from './fleet.js'
 * @import { Undo } from './frame.js'
 * @import { ReadNeeds, ReadRun } from './read-setup.js'
 */

const verifyLimitMs = 30_000

/**
 * In a fleet the first fetch is due when a second of the run begins, so that the seconds of all boxes are the same.
 * @param {Joined} joined
 * @param {AbortSignal} stop
 * @returns how long after the run's start
 */
const joinedAt = async ({ fleet, startMs }, stop) => {
  const agoMs = performance.now() - fleet.clock.clockAt(startMs)
  const fromMs = Math.max(0, Math.ceil(agoMs / 1000)) * 1000
  await unlessInterrupted(stop, sleep(Math.max(0, fromMs - agoMs)))
  return fromMs
}

/** Readers of a fleet end with its writers: when they are to, or when the last of them has. @param {Joined} joined @param {() => void} stop */
const endWith = ({ fleet, startMs, lengthMs }, stop) => {
  if (fleet.ending.aborted) stop()
  fleet.ending.addEventListener('abort', stop)
  const leftMs =
    lengthMs === null ? longestTimerMs : fleet.clock.clockAt(startMs + lengthMs) - performance.now()
  if (leftMs < longestTimerMs) setTimeout(stop, leftMs).unref()
}

/** The first fetch begins. @param {ReadRun} run @returns when, epoch */
const begin = async ({ frame, instruments, watch, reading, seconds }) => {
  await instruments.start()
  await instruments.startWindow()
  watch.start()
  return frame.begin(seconds, reading.start)
}

/** A search has the time of its confirmation from its lines. @param {NonNullable<ReadRun['course']>} reading @returns {Conducted} */
const conductedOf = (reading) => ({
  writing: { elapsed: reading.elapsed, stop: reading.stop, offered: reading.over },
  records: { ledger: /** @type {any} */ (reading.ledger), restart: () => {} },
  window: { reopen: async () => {} },
})

/**
 * What was counted, timed and sampled, under the names of run.json.
 * @param {ReadRun} run
 * @param {{ startedEpochMs: number, durationS: number, interrupted: boolean }} ending
 */
const resultOf = (run, { startedEpochMs, durationS, interrupted }) => {
  const { plan, announced, clocks, uniqueness, driver, instruments, journal, liveShare } = run
  const { nodes } = instruments.sofar
  return {
    kind: /** @type {const} */ ('consumer'),
    ...{ startedEpochMs, durationS, interrupted },
    plan,
    writing: announced,
    consumers: plan.agents.length * plan.consumers,
    clocks: clocks.figures(),
    live: liveShare.summary(),
    uniqueness: uniqueness?.rows() ?? null,
    reads: driver.figures(),
    commands: { master: commandsOfRole(nodes, 'master'), replica: commandsOfRole(nodes, 'replica') },
    events: journal.events,
    ...instruments.result({ stored: 0, overS: durationS }),
  }
}

/** @param {ReadNeeds} needs @param {Undo} undo */
const played = async (needs, undo) => {
  const { stop, stopNow, joined = null } = needs
  const run = await unlessInterrupted(stop, setUpReading(needs, undo))
  const { frame, reading, course, instruments, verifier, watch, driver } = run
  const fromMs = joined ? await joinedAt(joined, stop) : 0
  run.beginAt(fromMs)
  const startedEpochMs = await begin(run)
  if (joined) endWith(joined, reading.stop)
  const conducted = course ? needs.conductor?.conduct(conductedOf(course), null) : undefined
  // The caller that waits for the end of the run gets the error first.
  conducted?.catch(() => {})
  const whole = await frame.settled()
  await conducted
  const durationS = reading.elapsed() / 1000
  // What has not come back by now has failed, and must not leave the run valid.
  if (!whole && !stop.aborted)
    for (let left = reading.busy(); left > 0; left--)
      instruments.count('failed', driver.hasOverdue?.() ? 'UNANSWERED' : 'UNSETTLED')
  if (verifier && whole && !stopNow.aborted) {
    const atOnce = new Promise((resolve) => stopNow.addEventListener('abort', resolve, { once: true }))
    await atMost(patienceMs(stop, verifyLimitMs), Promise.race([verifier.settle(), atOnce]))
  }
  watch.stop()
  instruments.end()
  await frame.endSeconds()
  const result = resultOf(run, { startedEpochMs, durationS, interrupted: stop.aborted })
  return { ...result, ...(joined && { own: { fromMs, measured: instruments.own() } }) }
}

/** @param {ReadNeeds} needs */
export const readRun = (needs) => withUndo((undo) => played(needs, undo))
