// One run of the writer: put together, started, drained and summed up.
import { InterruptedError } from '../errors.js'
import { isScheduled } from '../plan/pacer.js'
import { slotTableBytes } from '../plan/slot-tables.js'
import { gatheredIn } from '../target/stored.js'
import { dataBytesIn } from './baseline.js'
import { settled, sleep } from './settlement.js'
import { unlessInterrupted, untilStopped } from './start-up.js'
import { resultOf } from './write-result.js'
import { setUpWriting } from './write-setup.js'

const answerLimitMs = 2000

/**
 * @typedef {import('./write-setup.js').WriteRun} WriteRun
 * @typedef {import('./settlement.js').Signals} Signals
 */

/** A server that is silent delays nothing for long. @template T @param {Promise<T>} asked */
const orNull = (asked) => Promise.race([asked.catch(() => null), sleep(answerLimitMs).then(() => null)])

/** How many items keys have gathered. @param {import('../target/open.js').Target} target @param {WriteRun['strategy']} strategy */
const gathered = (target, strategy) => orNull(gatheredIn(target, strategy, Date.now()))

/**
 * @param {WriteRun['sampler']} sampler that has just asked
 * @param {number[] | null} members
 * @returns {import('./memory-cost.js').Held}
 */
const held = (sampler, members) => {
  const { data_bytes: dataBytes, keys } = sampler.summary().totals
  return { dataBytes, keys, gathered: members }
}

/**
 * The first tick begins.
 * @param {WriteRun} run
 * @param {import('../target/open.js').Target} target
 * @param {() => Promise<unknown>} announce
 * @param {AbortSignal} stop
 * @returns {Promise<import('./write-result.js').Beginning>}
 */
const begin = async (run, target, announce, stop) => {
  const { strategy, sampler, health, window, writing, second, presence, clearOld } = run
  // From here on there is a result: a plan is in the target before its first key, and nothing is removed without one.
  await unlessInterrupted(stop, announce())
  await unlessInterrupted(stop, clearOld())
  await unlessInterrupted(stop, Promise.all([sampler.sample(), presence.look(0)]))
  const members = gathered(target, strategy)
  const [ids, dataBytes] = await unlessInterrupted(stop, Promise.all([members, orNull(dataBytesIn(target))]))
  const before = { ...held(sampler, ids), dataBytes }
  if (run.plan.clients && run.plan.clients.fill !== 'none') await unlessInterrupted(stop, run.fill())
  const unpreparedBytes = await unlessInterrupted(stop, run.prepare())
  const startedEpochMs = Date.now()
  await window.prepare()
  health.startRun()
  // Armed before the first tick, which may take a while to be offered.
  second.start()
  window.start()
  writing.start(unpreparedBytes)
  return { startedEpochMs, before }
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
 * @param {import('./write-setup.js').WriteNeeds & Signals & { announce: () => Promise<unknown> }} needs
 */
export const writeRun = async ({ announce, stop, stopNow, ...needs }) => {
  const onEncoding = (/** @type {number} */ share) => {
    if (stop.aborted) throw new InterruptedError()
    needs.onEncoding(share)
  }
  const run = await unlessInterrupted(stop, setUpWriting({ ...needs, stop, onEncoding }))
  const beginning = await begin(run, needs.target, announce, stop)
  const offeredMs = await runOut(run, { stop, stopNow })

  const { health, sampler, probe, second, driver, records, data } = run
  const client = health.summary()
  const endMs = endOf(run, offeredMs, stop.aborted)
  await untilStopped(stopNow, probe.stop(), undefined)
  await untilStopped(stopNow, second.stop(), undefined)
  data.end()
  const after = held(sampler, await untilStopped(stopNow, gathered(needs.target, run.strategy), null))
  const sampled = sampler.summary()
  const chunks = await untilStopped(stopNow, run.finish(), null)
  driver.close()
  health.stop()
  const slotTable = Math.max(...needs.target.versions.map(slotTableBytes))
  const ending = { endMs, interrupted: stop.aborted, client, sampled, after, slotTable, chunks }
  const result = resultOf(run, beginning, ending)
  for (const { name } of run.strategy.declared.passes?.slice(run.passes()?.passes.length) ?? [])
    needs.warn?.({ code: 'passes', message: `the pass of ${name} was not played`, invalidates: true })
  for (const message of run.strategy.declared.reasons(
    run.counts() ?? {},
    run.plan,
    run.passes()?.passes ?? [],
    chunks?.sum ?? null,
  ))
    needs.warn?.({ code: 'replies', message, invalidates: true })
  records.close()
  return result
}
