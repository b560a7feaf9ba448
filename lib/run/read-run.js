// One run of consumers: put together, started, ended and summed up.

import { atMost, longestTimerMs } from '../base/timers.js'
import { fetches } from '../measures/fetches.js'
import { resultOf } from './read-result.js'
import { setUpReading } from './read-setup.js'
import { patienceMs, settled, sleep } from './settlement.js'
import { openedUnless, unlessInterrupted, untilStopped } from './start-up.js'

/**
 * @import { Conducted } from './conductor.js'
 * @import { Joined } from './fleet.js'
 * @import { ReadNeeds, ReadRun } from './read-setup.js'
 * @import { Signals } from './settlement.js'
 */

const judgeLimitMs = 30_000

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
const begin = async ({ instruments, watch, reading, second }) => {
  await instruments.start()
  await instruments.startWindow()
  instruments.startRun()
  const startedEpochMs = Date.now()
  watch.start()
  second.start()
  reading.start()
  return startedEpochMs
}

/** A search has the time of its confirmation from its lines. @param {NonNullable<ReadRun['course']>} reading @returns {Conducted} */
const conductedOf = (reading) => ({
  writing: { elapsed: reading.elapsed, stop: reading.stop, offered: reading.over },
  records: { ledger: /** @type {any} */ (reading.ledger), restart: () => {} },
  window: { reopen: async () => {} },
})

/** @param {ReadNeeds & Signals} needs */
export const readRun = async ({ stop, stopNow, ...needs }) => {
  const { joined = null } = needs
  const run = await openedUnless(stop, setUpReading(needs), ({ driver, data, clocks }) => {
    driver.close()
    data.end()
    clocks.stop()
  })
  const { reading, instruments, judge, watch, second, clocks, driver, data } = run
  const fromMs = joined ? await joinedAt(joined, stop) : 0
  run.beginAt(fromMs)
  const startedEpochMs = await begin(run)
  if (joined) endWith(joined, reading.stop)
  const { course } = run
  const conducted = course ? needs.conductor?.conduct(conductedOf(course), null) : undefined
  // The caller that waits for the end of the run gets the error first.
  conducted?.catch(() => {})
  const whole = await settled(reading, { stop, stopNow })
  await conducted
  const durationS = reading.elapsed() / 1000
  // What has not come back by now has failed, and must not leave the run valid.
  if (!whole && !stop.aborted)
    for (let left = reading.busy(); left > 0; left--)
      instruments.of(fetches).failed(driver.hasOverdue?.() ? 'UNANSWERED' : 'UNSETTLED')
  if (judge && whole && !stopNow.aborted) {
    const atOnce = new Promise((resolve) => stopNow.addEventListener('abort', resolve, { once: true }))
    await atMost(patienceMs(stop, judgeLimitMs), Promise.race([judge.settle(), atOnce]))
  }
  watch.stop()
  await instruments.stop()
  instruments.end()
  await untilStopped(stopNow, second.stop(), undefined)
  data.end()
  clocks.stop()
  const ending = { startedEpochMs, durationS, interrupted: stop.aborted }
  const result = resultOf(run, ending)
  driver.close()
  const measured = instruments.own()
  instruments.close()
  const own = joined && { fromMs, measured }
  return { ...result, ...(own && { own }) }
}
