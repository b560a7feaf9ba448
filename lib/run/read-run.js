// One run of consumers: put together, started, ended and summed up.

import { resultOf } from './read-result.js'
import { setUpReading } from './read-setup.js'
import { patienceMs, settled, sleep } from './settlement.js'
import { unlessInterrupted, untilStopped } from './start-up.js'

/**
 * @typedef {import('./read-setup.js').ReadRun} ReadRun
 * @typedef {import('./settlement.js').Signals} Signals
 */

const judgeLimitMs = 30_000

/** The first fetch begins. @param {ReadRun} run @returns when, epoch */
const begin = async ({ sampler, health, watch, probe, reading, second }) => {
  await sampler.mark()
  health.startWindow()
  health.startRun()
  const startedEpochMs = Date.now()
  watch.start()
  probe.start()
  second.start()
  reading.start()
  return startedEpochMs
}

/** @param {import('./read-setup.js').ReadNeeds & Signals} needs */
export const readRun = async ({ stop, stopNow, ...needs }) => {
  const run = await unlessInterrupted(stop, setUpReading(needs))
  const { reading, health, judge, watch, probe, second, clocks, driver, fetches, delays, data } = run
  const startedEpochMs = await begin(run)
  const whole = await settled(reading, { stop, stopNow })
  const durationMs = reading.elapsed()
  // What has not come back by now has failed, and must not leave the run valid.
  if (!whole && !stop.aborted) for (let left = reading.busy(); left > 0; left--) fetches.failed('UNSETTLED')
  const client = health.summary()
  if (judge && whole && !stopNow.aborted) {
    const atOnce = new Promise((resolve) => stopNow.addEventListener('abort', resolve, { once: true }))
    await Promise.race([judge.settle(), sleep(patienceMs(stop, judgeLimitMs)), atOnce])
  }
  watch.stop()
  probe.stop()
  await untilStopped(stopNow, second.stop(), undefined)
  data.end()
  clocks.stop()
  const ending = { startedEpochMs, durationMs, interrupted: stop.aborted, client }
  const result = resultOf(run, ending)
  driver.close()
  health.stop()
  fetches.close()
  delays.close()
  return result
}
