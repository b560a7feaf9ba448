// What a run of the writer is put together of before its first tick: the target made ready, the commands encoded,
// and everything that watches.
import { socketDriver } from '../drivers/socket.js'
import { bystander } from '../measure/bystander.js'
import { clientHealth } from '../measure/client-health.js'
import { serversAheadMs } from '../measure/clocks.js'
import { nodeSampler } from '../measure/node-sampler.js'
import { dial } from '../target/dial.js'
import { removeLeftovers } from '../target/leftovers.js'
import { strategyOf } from '../workloads/of-plan.js'
import { dataWatch } from './data-watch.js'
import { onGuard } from './guard.js'
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
 * @property {(rows: NodeRow[]) => string | null} [guard] why to end the run now
 * @property {(reason: string) => void} [onGuarded] told once
 * @property {(warning: import('../report/verdict.js').Warning) => void} [warn]
 *
 * @typedef {Awaited<ReturnType<typeof setUpWriting>>} WriteRun
 */

/**
 * @param {Plan} plan
 * @param {ReturnType<typeof strategyOf>} strategy
 * @param {Target} target
 * @param {(kind: string, text: string) => void} event
 */
const makeReady = async (plan, { scripts, purgedKeys }, target, event) => {
  if (scripts.length > 0)
    await Promise.all(target.topology.masters.map((address) => target.loadScripts(address)))
  const removed = await removeLeftovers(target, purgedKeys, Date.now() - plan.ttlS * 1000)
  if (removed > 0) event('leftovers', `${removed} ids that an earlier run left were taken out`)
}

/** @param {import('../drivers/socket.js').DriverOptions} options */
const openDriver = async (options) => {
  if (options.plan.driver !== 'ioredis') return socketDriver(options)
  const { ioredisDriver } = await import('../drivers/ioredis.js')
  return ioredisDriver(options)
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
 * @param {() => number} needs.clock
 * @param {() => number} needs.elapsed
 * @param {(rows: NodeRow[]) => void} needs.onRows
 */
const watchersOf = ({ plan, target, records: { ledger, felt }, clock, elapsed, onRows }) => {
  const health = clientHealth({ clock })
  const sampler = nodeSampler({
    nodes: target.nodes,
    info: target.info,
    clock: elapsed,
    db: target.access.db,
    onRows,
  })
  const window = windowOf({ plan, ledger, health, sampler, elapsed })
  const probe = bystander({
    masters: () => target.nodes().filter(({ role }) => role === 'master'),
    dial,
    access: target.access,
    clock,
    record: (_, us) => {
      if (window.covers(elapsed() - us / 1000)) felt.record(us)
    },
  })
  return { health, sampler, window, probe }
}

/** @param {WriteNeeds} needs */
export const setUpWriting = async (needs) => {
  const { plan, target, results, show, onEncoding, onReady, onEvent } = needs
  const { guard = () => null, onGuarded = () => {}, warn = () => {} } = needs
  const clock = () => performance.now()
  let writing = /** @type {ReturnType<typeof writer> | null} */ (null)
  const elapsed = () => writing?.elapsed() ?? 0
  const journal = journalOf({ elapsed, write: results.event, tell: onEvent })
  const strategy = strategyOf(plan)
  const steps = strategy.steps()
  const records = recordsOf(plan)

  await makeReady(plan, strategy, target, journal.event)
  const driver = await openDriver({
    plan,
    steps,
    target,
    ledger: records.ledger,
    latency: records.latency,
    clock,
    random: Math.random,
    onEvent: journal.event,
    onBegun: records.begun,
    onProgress: () => writing?.progress(),
    onEncoding,
  })
  onReady(driver)
  const aheadMs = plan.once ? await aheadOf(target) : null

  const data = dataWatch({ target, elapsed, note: journal.note, warn })
  const onRows = (/** @type {NodeRow[]} */ rows) => {
    data.look(rows)
    guarding.look(rows)
  }
  const watchers = watchersOf({ plan, target, records, clock, elapsed, onRows })
  writing = writer({ plan, driver, ledger: records.ledger, clock, epochMs: Date.now })
  const { phase } = watchers.window
  const guarding = onGuard({
    guard,
    isEnding: () => phase() === 'draining',
    end: (reason) => {
      journal.note('guard', reason)
      onGuarded(reason)
      writing?.stop()
    },
  })
  const write = results.interval
  const second = everySecond({ plan, ...records, ...watchers, driver, elapsed, phase, write, show })
  return {
    plan,
    strategy,
    steps,
    records,
    aheadMs,
    journal,
    driver,
    ...watchers,
    writing,
    guarding,
    data,
    second,
  }
}
