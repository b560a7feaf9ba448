// One run of the writer: everything is put together, started, watched, drained and summed up.

import { STRATEGIES } from '../../settings.js'
import { socketDriver } from '../drivers/socket.js'
import { bystander as bystanderOf } from '../measure/bystander.js'
import { clientHealth } from '../measure/client-health.js'
import { latencyOf, series } from '../measure/latency.js'
import { ledgerOf } from '../measure/ledger.js'
import { nodeSampler } from '../measure/node-sampler.js'
import { isScheduled } from '../plan/pacer.js'
import { contextOf } from '../strategies/context.js'
import { strategies } from '../strategies/index.js'
import { dial } from '../target/dial.js'
import { removeLeftovers } from '../target/leftovers.js'
import { serverCosts } from './costs.js'
import { everySecond } from './second.js'
import { writer } from './writer.js'

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 * @typedef {import('../target/open.js').Target} Target
 * @typedef {import('../report/result.js').RunParts} RunParts
 */

const settleLimitMs = 10_000
const interruptedLimitMs = 3000
// The counters are read a little before the first measured tick, so that they hold all of it.
const markEarlyMs = 25
// A server's words may be long.
const longestEvent = 300
// A first byte later than this is told as a late tick.
const lateMs = 10

/** @param {Plan} plan */
const openDriver = async (plan) =>
  plan.driver === 'ioredis' ? (await import('../drivers/ioredis.js')).ioredisDriver : socketDriver

/**
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Target} needs.target
 * @param {() => Promise<number[]>} needs.liveAgents
 * @param {{ interval: (line: object) => void, event: (line: object) => void }} needs.results
 * @param {(snapshot: import('../report/live.js').Snapshot) => void} needs.show
 * @param {(share: number) => void} needs.onEncoding
 * @param {(ready: { encodeMs: number, tapeBytes: number }) => void} needs.onReady
 * @param {(kind: string, text: string) => void} needs.onEvent
 * @param {(rows: import('../measure/node-sampler.js').NodeRow[]) => string | null} [needs.guard] why to end the run now
 * @param {(reason: string) => void} [needs.onGuarded] told once
 * @param {AbortSignal} needs.stop stop offering, settle, and sum up
 * @param {AbortSignal} needs.stopNow do not even settle
 * @returns {Promise<Omit<RunParts, 'kind' | 'run' | 'versions' | 'target'>>}
 */
export const writeRun = async ({
  plan,
  target,
  liveAgents,
  results,
  show,
  onEncoding,
  onReady,
  onEvent,
  guard = () => null,
  onGuarded = () => {},
  stop,
  stopNow,
}) => {
  const clock = () => performance.now()
  const steps = strategies[plan.strategy](contextOf(plan))
  const ledger = ledgerOf(plan)
  const latency = latencyOf()
  const lateness = series()
  const felt = series()
  /** @type {RunParts['events']} */
  const events = []
  let late = 0
  let writing = /** @type {ReturnType<typeof writer> | null} */ (null)
  const elapsed = () => writing?.elapsed() ?? 0

  const note = (/** @type {string} */ kind, /** @type {string} */ text) => {
    const entry = { at_ms: Math.round(elapsed()), kind, text: text.slice(0, longestEvent) }
    events.push(entry)
    results.event(entry)
  }
  const event = (/** @type {string} */ kind, /** @type {string} */ text) => {
    note(kind, text)
    onEvent(kind, text.slice(0, longestEvent))
  }

  if (plan.strategy.startsWith('script-')) {
    await Promise.all(target.topology.masters.map((address) => target.loadScripts(address)))
  }
  if (STRATEGIES[plan.strategy].sortedSets) {
    const sets = [...plan.sets, ...plan.extraSets]
    const removed = await removeLeftovers(target, sets, Date.now() - plan.ttlS * 1000)
    if (removed > 0) event('leftovers', `${removed} ids that an earlier run left were taken out`)
  }
  const driver = await (await openDriver(plan))({
    plan,
    steps,
    target,
    ledger,
    latency,
    clock,
    random: Math.random,
    onEvent: event,
    onBegun: (tick) => {
      if (!tick.account.measured || tick.firstMs === null) return
      const behindMs = tick.firstMs - tick.dueMs
      lateness.record(behindMs * 1000)
      if (behindMs > lateMs) late++
    },
    onProgress: () => writing?.progress(),
    onEncoding,
  })
  onReady(driver)

  const health = clientHealth({ clock })
  const sampler = nodeSampler({ nodes: target.nodes, info: target.info, clock: elapsed })
  const probe = bystanderOf({
    masters: () => target.nodes().filter(({ role }) => role === 'master'),
    dial,
    access: target.access,
    clock,
    record: (_, us) => {
      if (phase() === 'measuring') felt.record(us)
    },
  })
  writing = writer({ plan, driver, ledger, clock, epochMs: Date.now })
  let draining = false
  let measuring = false
  let guarded = false
  /** @param {import('../measure/node-sampler.js').NodeRow[]} rows */
  const look = (rows) => {
    const reason = draining || guarded ? null : guard(rows)
    if (reason === null) return
    guarded = true
    note('guard', reason)
    onGuarded(reason)
    writing?.stop()
  }
  const phase = () => (draining ? 'draining' : measuring ? 'measuring' : 'warm-up')
  const second = everySecond({
    plan,
    ledger,
    latency,
    bystander: felt,
    health,
    sampler,
    driver,
    elapsed,
    phase,
    look,
    write: results.interval,
    show,
  })

  const rowsBefore = await sampler.sample()
  const masterRows = rowsBefore.filter(({ role }) => role === 'master')
  const dataBefore = sampler.summary().totals.data_bytes
  const keysBefore = masterRows.reduce((sum, { keys }) => sum + (keys ?? 0), 0)
  let carriedBefore = 0
  const startWindow = () => {
    measuring = true
    carriedBefore = ledger.commands.itemsCarried
    health.startWindow()
    return sampler.mark()
  }

  const startedEpochMs = Date.now()
  if (plan.warmUpMs === 0) await startWindow()
  probe.start()
  writing.start()
  second.start()
  const warmUp = plan.warmUpMs > 0 ? setTimeout(startWindow, plan.warmUpMs - markEarlyMs) : undefined
  const interrupt = () => writing?.stop()
  stop.addEventListener('abort', interrupt)
  if (stop.aborted) interrupt()
  await writing.offered
  clearTimeout(warmUp)
  draining = true
  const offeredMs = elapsed()
  const settled = await writing.settle(stop.aborted ? interruptedLimitMs : settleLimitMs, stopNow)
  stop.removeEventListener('abort', interrupt)
  if (!settled) driver.abandon()
  const client = health.summary()
  await sampler.sample()
  // A schedule's last interval lasts its whole time, however late the timer that ends it wakes.
  const overMs =
    isScheduled(plan) && plan.ticks !== null && !stop.aborted && !guarded
      ? plan.ticks * plan.spacingMs
      : offeredMs
  const endMs = Math.max(overMs, writing.lastSettledMs())
  probe.stop()
  await second.stop()
  const { nodes, totals } = sampler.summary()
  // With no schedule, ticks lie across the window's edges: there the answers within it are counted.
  const carriers = steps.filter(({ kind }) => kind !== 'once').length
  const stored = isScheduled(plan)
    ? ledger.measured.acked
    : Math.round((ledger.commands.itemsCarried - carriedBefore) / carriers)
  const measuredS = measuring ? (endMs - plan.warmUpMs) / 1000 : 0
  const server = serverCosts({
    plan,
    steps,
    stored,
    totals,
    dataBefore,
    keysBefore,
    elapsedMs: endMs,
    liveAgents: await liveAgents(),
  })
  driver.close()
  health.stop()
  const parts = {
    startedEpochMs,
    durationS: endMs / 1000,
    measuredS,
    warmUpS: plan.warmUpMs / 1000,
    interrupted: stop.aborted,
    plan,
    items: { ...ledger.whole, failed_by: ledger.failedBy },
    written: ledger.written(),
    agents: [...ledger.byAgent].map(([agent, counts]) => ({ agent, ...counts })),
    commands: {
      sent: ledger.commands.sent,
      repeated: ledger.commands.repeated,
      errors_by: ledger.errorsBy,
      repeated_by: ledger.repeatedBy,
    },
    rate: { nominal: plan.nominalHz, achieved: measuredS > 0 ? stored / measuredS : null },
    latency: { intended: latency.intended.whole(), service: latency.service.whole() },
    bystander: felt.whole(),
    ticks: { count: writing.measuredTicks(), late, lateness_us: lateness.whole() ?? null },
    client: {
      ...client,
      cpu_us_per_item: stored > 0 ? (client.cpu_s * 1e6) / stored : null,
      encode_ms: driver.encodeMs,
      tape_bytes: driver.tapeBytes,
      waiting_bytes_max: second.waitingBytesMax(),
    },
    server,
    nodes,
    events,
  }
  latency.close()
  lateness.close()
  felt.close()
  return parts
}
