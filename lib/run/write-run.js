// One run of the writer: put together, started, drained and summed up.
import { InterruptedError } from '../errors.js'
import { isScheduled } from '../plan/pacer.js'
import { settled } from './settlement.js'
import { unlessInterrupted } from './start-up.js'
import { resultOf } from './write-result.js'
import { setUpWriting } from './write-setup.js'

/**
 * @typedef {import('./write-setup.js').WriteRun} WriteRun
 * @typedef {import('./settlement.js').Signals} Signals
 */

/**
 * The first tick begins.
 * @param {WriteRun} run
 * @param {() => Promise<unknown>} announce
 * @param {AbortSignal} stop
 * @returns {Promise<import('./write-result.js').Beginning>}
 */
const begin = async ({ sampler, window, probe, writing, second }, announce, stop) => {
  const rows = await unlessInterrupted(stop, sampler.sample())
  // From here on there is a result: a plan stands in the target before its first key, and not without one.
  await unlessInterrupted(stop, announce())
  const masters = rows.filter(({ role }) => role === 'master')
  const dataBefore = sampler.summary().totals.data_bytes
  const keysBefore = masters.reduce((sum, { keys }) => sum + (keys ?? 0), 0)
  const startedEpochMs = Date.now()
  await window.prepare()
  probe.start()
  // Armed before the first tick, which may take a while to be offered.
  second.start()
  window.start()
  writing.start()
  return { startedEpochMs, dataBefore, keysBefore }
}

/**
 * Until every tick was offered, or somebody stopped it, and what is under way has an outcome.
 * @param {WriteRun} run
 * @param {Signals} signals
 * @returns when offering ended
 */
const runOut = async ({ driver, writing, window }, signals) => {
  let offeredMs = 0
  const whole = await settled({ ...writing, over: writing.offered }, signals, () => {
    window.close()
    offeredMs = writing.elapsed()
  })
  if (!whole) driver.abandon()
  return offeredMs
}

/**
 * A schedule's last interval lasts its whole time, however late the timer that ends it wakes.
 * @param {WriteRun} run
 * @param {number} offeredMs
 * @param {boolean} interrupted
 */
const endOf = ({ plan, writing, guarding }, offeredMs, interrupted) => {
  const isWhole = isScheduled(plan) && plan.ticks !== null && !interrupted && !guarding.hasEnded()
  const overMs = isWhole ? Number(plan.ticks) * plan.spacingMs : offeredMs
  return Math.max(overMs, writing.lastSettledMs())
}

/**
 * @param {import('./write-setup.js').WriteNeeds & Signals & { announce: () => Promise<unknown>, liveAgents: () => Promise<number[]> }} needs
 */
export const writeRun = async ({ announce, liveAgents, stop, stopNow, ...needs }) => {
  const onEncoding = (/** @type {number} */ share) => {
    if (stop.aborted) throw new InterruptedError()
    needs.onEncoding(share)
  }
  const run = await unlessInterrupted(stop, setUpWriting({ ...needs, onEncoding }))
  const beginning = await begin(run, announce, stop)
  const offeredMs = await runOut(run, { stop, stopNow })

  const { health, sampler, probe, second, driver, records, data } = run
  const client = health.summary()
  const endMs = endOf(run, offeredMs, stop.aborted)
  probe.stop()
  await second.stop()
  data.end()
  const sampled = sampler.summary()
  const live = await liveAgents()
  driver.close()
  health.stop()
  const ending = { endMs, interrupted: stop.aborted, client, sampled, liveAgents: live }
  const result = resultOf(run, beginning, ending)
  records.close()
  return result
}
