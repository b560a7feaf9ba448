// What a run of the writer is put together of before its first tick: the target made ready, the commands encoded,
// and everything that watches.

import { bystanderThread } from '../measure/bystander-thread.js'
import { clientHealth } from '../measure/client-health.js'
import { serversAheadMs } from '../measure/clocks.js'
import { nodeSampler } from '../measure/node-sampler.js'
import { presenceWatch } from '../measure/presence.js'
import { removeLeftovers } from '../target/leftovers.js'
import { socketDriver } from '../transport/socket.js'
import { strategyOf } from '../workloads/of-plan.js'
import { chunksWriting } from './chunks-writing.js'
import { clientsWriting } from './clients-writing.js'
import { dataWatch } from './data-watch.js'
import { endUnconfirmed } from './end-unconfirmed.js'
import { fillKeys, prepareKeys } from './fill.js'
import { onGuard } from './guard.js'
import { idleOf } from './idle.js'
import { journalOf } from './journal.js'
import { everySecond } from './second.js'
import { windowOf } from './window.js'
import { recordsOf } from './write-records.js'
import { writer } from './writer.js'

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 * @typedef {import('../target/open.js').Target} Target
 * @typedef {import('../measure/node-sampler.js').NodeRow} NodeRow
 *
 * @typedef {object} WriteNeeds
 * @property {Plan} plan
 * @property {Target} target
 * @property {{ interval: (line: object) => void, event: (line: object) => void }} results
 * @property {(snapshot: import('../report/live.js').Snapshot) => void} show
 * @property {(share: number) => void} onEncoding
 * @property {(ready: { encodeMs: number, tapeBytes: number }) => void} onReady
 * @property {(kind: string, text: string) => void} onEvent
 * @property {Pick<import('./clock.js').RunClock, 'now' | 'look' | 'figures'>} time by the servers' clocks
 * @property {() => Promise<number>} others how many writers of other processes are at work
 * @property {'auto' | 'always' | 'never'} idleCost
 * @property {(line: string) => void} say
 * @property {AbortSignal} stop
 * @property {(rows: NodeRow[]) => string | null} [guard] why to end the run now
 * @property {(reason: string) => void} [onGuarded] told once
 * @property {(warning: import('../result/ruling.js').Warning) => void} [warn]
 *
 * @typedef {Awaited<ReturnType<typeof setUpWriting>>} WriteRun
 */

/** @param {ReturnType<typeof strategyOf>} strategy @param {Target} target */
const makeReady = async ({ scripts }, target) => {
  if (scripts.length > 0)
    await Promise.all(target.topology.masters.map((address) => target.loadScripts(address, scripts)))
}

/**
 * Once no other plan is being written there, whose ids may be younger than they seem.
 * @param {Plan} plan
 * @param {ReturnType<typeof strategyOf>} strategy
 * @param {Target} target
 * @param {number} nowMs by the servers' clocks
 * @param {(kind: string, text: string) => void} event
 */
const clearLeftovers = async (plan, { purgedKeys }, target, nowMs, event) => {
  const removed = await removeLeftovers(target, purgedKeys, nowMs - plan.ttlS * 1000)
  if (removed > 0) event('leftovers', `${removed} ids that an earlier run left were taken out`)
}

/** @param {import('../transport/socket.js').DriverOptions} options */
const openDriver = async (options) => {
  if (options.plan.driver !== 'ioredis') return socketDriver(options)
  const { ioredisDriver } = await import('../transport/ioredis.js')
  return ioredisDriver(options)
}

/**
 * Ticks of a writer, as its driver plays them.
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {ReturnType<typeof strategyOf>} needs.strategy
 * @param {Target} needs.target
 * @param {import('./write-records.js').Records} needs.records
 * @param {() => number} needs.clock
 * @param {(kind: string, text: string) => void} needs.onEvent
 * @param {WriteNeeds['time']} needs.time
 * @param {(share: number) => void} needs.onEncoding
 * @param {() => void} needs.onProgress
 */
const ticksWriting = async ({ plan, strategy, target, records, clock, onEvent, time, ...on }) => {
  const { latency, begun: onBegun } = records
  const ledger = /** @type {ReturnType<typeof import('../measure/ledger.js').ledgerOf>} */ (records.ledger)
  const steps = strategy.steps()
  const random = Math.random
  const driver = await openDriver({
    plan,
    steps,
    target,
    ledger,
    latency,
    clock,
    random,
    onEvent,
    onBegun,
    ...on,
  })
  return {
    driver,
    writing: writer({ plan, driver, ledger, clock, epochMs: time.now }),
    counts: () => null,
    passes: () => null,
    finish: async () => null,
  }
}

/** Of what is written once somebody may ask later whether its time is over. @param {Target} target */
const aheadOf = (target) =>
  serversAheadMs({
    servers: target.topology.masters,
    time: async (address) => /** @type {any} */ (await target.control(address).time()),
    epochMs: Date.now,
  })

/**
 * What watches the run: the client itself, every node, and a bystander.
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Target} needs.target
 * @param {import('./write-records.js').Records} needs.records
 * @param {ReturnType<typeof journalOf>} needs.journal
 * @param {() => number} needs.clock
 * @param {() => number} needs.elapsed
 * @param {(rows: NodeRow[]) => void} needs.onRows
 */
const watchersOf = ({ plan, target, records: { ledger, felt }, journal, clock, elapsed, onRows }) => {
  const health = clientHealth({ clock })
  const sampler = nodeSampler({
    nodes: target.reporting,
    info: target.info,
    clock: elapsed,
    db: target.access.db,
    onRows,
  })
  const window = windowOf({ plan, ledger, health, sampler, elapsed })
  const probe = bystanderThread({
    masters: () => target.nodes().filter(({ role }) => role === 'master'),
    access: target.access,
    record: (agoMs, us) => {
      if (window.covers(elapsed() - agoMs)) felt.record(us)
    },
    onFailed: ({ message }) => journal.note('bystander', `ended by itself: ${message}`),
  })
  return { health, sampler, window, probe }
}

/** @param {WriteNeeds} needs */
export const setUpWriting = async (needs) => {
  const { plan, target, time, others, results, show, onEncoding, onReady, onEvent, say } = needs
  const { guard = () => null, onGuarded = () => {}, warn = () => {} } = needs
  const clock = () => performance.now()
  let writing =
    /** @type {Omit<ReturnType<typeof writer>, 'start' | 'stop' | 'progress'> & { start: (unpreparedBytes: number | null) => void, stop: () => void, progress: () => void } | null} */ (
      null
    )
  const elapsed = () => writing?.elapsed() ?? 0
  const journal = journalOf({ elapsed, write: results.event, tell: onEvent })
  const strategy = strategyOf(plan)
  const records = recordsOf(plan, () => elapsed() >= plan.warmUpMs)

  await makeReady(strategy, target)
  const data = dataWatch({ target, elapsed, note: journal.note, warn })
  const onRows = (/** @type {NodeRow[]} */ rows) => {
    data.look(rows)
    guarding.look(rows)
  }
  const watchers = watchersOf({ plan, target, records, journal, clock, elapsed, onRows })
  // The PINGs are a part of what goes on beside the items.
  await watchers.probe.start()
  const idling = idleOf({ plan, strategy, target, asked: needs.idleCost, others, say })
  const flowNeeds = { plan, strategy, target, records, clock, onEvent: journal.event }
  const opening = plan.clients
    ? (plan.clients.delivery ? chunksWriting : clientsWriting)(flowNeeds)
    : ticksWriting({ ...flowNeeds, time, onEncoding, onProgress: () => writing?.progress() })
  const [flow, idle] = await Promise.all([opening, idling]).catch(async (error) => {
    await watchers.probe.stop()
    throw error
  })
  const { driver } = flow
  onReady(driver)
  const aheadMs = plan.once ? await aheadOf(target) : null
  writing = flow.writing
  const { phase } = watchers.window
  endUnconfirmed(target, journal.note, warn, () => writing?.stop())
  const guarding = onGuard({
    guard,
    isEnding: () => phase() === 'draining',
    end: (reason) => {
      journal.note('guard', reason)
      onGuarded(reason)
      writing?.stop()
    },
  })
  const writers = { total: plan.totalAgents, own: plan.agents.length }
  const presence = presenceWatch({ writers, others, isMeasured: watchers.window.covers })
  const write = results.interval
  const watchClocks = async (/** @type {number} */ atMs) => {
    for (const text of await time.look(atMs)) journal.note('clock', text)
  }
  const watched = { ...records, ...watchers, presence, watchClocks, driver }
  const second = everySecond({ plan, ...watched, elapsed, phase, write, show })
  const clearOld = () => clearLeftovers(plan, strategy, target, time.now(), journal.event)
  const filling = { plan, strategy, target, clock, say, onEvent: journal.event, stop: needs.stop }
  return {
    plan,
    strategy,
    counts: flow.counts,
    passes: flow.passes,
    finish: flow.finish,
    fill: () => fillKeys(filling),
    prepare: () => prepareKeys(filling),
    records,
    aheadMs,
    journal,
    driver,
    idle,
    ...watchers,
    presence,
    time,
    clearOld,
    writing,
    guarding,
    data,
    second,
  }
}
