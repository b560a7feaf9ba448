// What a run of the writer is put together of before its first tick: the target made ready, the commands encoded,
// and everything that watches.

import { ledSource } from '../fleet/leader-sampling.js'
import { serversAheadMs } from '../measure/clocks.js'
import { presenceWatch } from '../measure/presence.js'
import { client } from '../measures/client.js'
import { instrumentsOf, ofWriters } from '../measures/index.js'
import { courseOf } from '../plan/course.js'
import { inFlightWords } from '../result/in-flight.js'
import { removeLeftovers } from '../servers/expired-ids.js'
import { strategyOf } from '../workloads/strategy-of-plan.js'
import { dataWatch } from './data-loss.js'
import { endUnconfirmed } from './end-unconfirmed.js'
import { dropIndexes, fillKeys, prepareKeys } from './fill.js'
import { runOfFlow } from './flows.js'
import { onGuard } from './guard.js'
import { idleOf } from './idle.js'
import { journalOf } from './journal.js'
import { everySecond, samplerOf } from './second.js'
import { windowOf } from './window.js'
import { recordsOf, sumsOf } from './write-records.js'

/**
 * @import { Member } from '../fleet/member.js'
 * @import { Held } from '../measure/memory-cost.js'
 * @import { NodeRow } from '../measure/node-sampler.js'
 * @import { Plan } from '../plan/plan.js'
 * @import { Snapshot } from '../report/live.js'
 * @import { Warning } from '../result/warnings.js'
 * @import { Target } from '../servers/open.js'
 * @import { RunClock } from './clock.js'
 * @import { Conductor } from './conductor.js'
 * @import { Records } from './write-records.js'
 * @import { writer } from './writer.js'
 *
 * @typedef {object} WriteNeeds
 * @property {Plan} plan
 * @property {Target} target
 * @property {{ interval: (line: object) => void, event: (line: object) => void }} results
 * @property {(snapshot: Snapshot) => void} show
 * @property {(share: number) => void} onEncoding
 * @property {(ready: { encodeMs: number, tapeBytes: number }) => void} onReady
 * @property {(kind: string, text: string) => void} onEvent
 * @property {Pick<RunClock, 'now' | 'look' | 'figures'>} time by the servers' clocks
 * @property {() => Promise<number>} others how many writers of other processes write
 * @property {(before: Held) => Promise<void>} [onBegin] our own do from now on
 * @property {() => Promise<Held | null>} [earliest] what was there before the first of
 *   the run that writes already; null: none does
 * @property {'auto' | 'always' | 'never'} idleCost
 * @property {(line: string) => void} say
 * @property {AbortSignal} stop
 * @property {Member | null} [fleet] that this box is of
 * @property {(rows: NodeRow[]) => string | null} [guard] why to end the run now
 * @property {(warning: Warning) => void} [warn]
 * @property {Conductor} [conductor] decides at which rates is written
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

/** Items of --once may be verified later, when some have expired. @param {Target} target */
const aheadOf = (target) =>
  serversAheadMs({
    servers: target.topology.masters,
    time: target.time,
    epochMs: Date.now,
  })

/**
 * What watches the run: every node, and the instruments of its measures.
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Target} needs.target
 * @param {Records} needs.records
 * @param {ReturnType<typeof journalOf>} needs.journal
 * @param {() => number} needs.clock
 * @param {() => number} needs.elapsed
 * @param {() => void} needs.onAsking
 * @param {(rows: NodeRow[]) => void} needs.onRows
 * @param {Member | null} needs.fleet
 * @param {() => object | null} needs.load once it is open
 * @param {Conductor['tap']} [needs.tap]
 */
const watchersOf = async ({
  plan,
  target,
  records,
  journal,
  clock,
  elapsed,
  onAsking,
  onRows,
  fleet,
  load,
  tap,
}) => {
  const sampler = samplerOf(target, {
    ...{ elapsed, onRows },
    nodes: () => {
      onAsking()
      return target.reporting()
    },
    carried: () => records.ledger.commands.itemsCarried,
  })
  const window = windowOf({
    plan,
    ledger: records.ledger,
    onOpen: () => instruments.startWindow(),
    onBacklog: (text) => journal.event('warm-up', text),
    elapsed,
  })
  const instruments = await instrumentsOf(ofWriters, {
    ...{ plan, clock, elapsed, load, records, sampler },
    masters: () => target.nodes().filter(({ role }) => role === 'master'),
    access: target.access,
    covers: window.covers,
    note: journal.note,
    shared: fleet && ((/** @type {any} */ source) => ledSource(source, fleet)),
    tap,
  })
  return { instruments, sampler, window }
}

/**
 * Where the seconds of a run go: into its files, and from a box of a fleet to all.
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {WriteNeeds['results']} needs.results
 * @param {Member | null} needs.fleet
 * @param {Records} needs.records
 * @param {Pick<Awaited<ReturnType<typeof watchersOf>>, 'window' | 'sampler'>} needs.watchers
 * @param {() => Pick<ReturnType<typeof writer>, 'measuredTicks' | 'nextTick'>} needs.writing
 */
const secondsTo = ({ plan, results, fleet, records, watchers: { window, sampler }, writing }) => {
  if (!fleet) return results.interval
  return (/** @type {any} */ line) => {
    results.interval(line)
    fleet.second({
      ...line,
      writers: plan.agents.length,
      epoch_ms: Math.round(fleet.clock.now()),
      ...sumsOf(records, window, writing()),
      ...(fleet.leads() && { sampler: sampler.state() }),
    })
  }
}

/** @param {WriteNeeds} needs */
export const setUpWriting = async (needs) => {
  const { plan, target, time, others, results, show, onEncoding, onReady, onEvent, say, fleet = null } = needs
  const { guard = () => null, warn = () => {} } = needs
  const clock = () => performance.now()
  let writing =
    /** @type {Omit<ReturnType<typeof writer>, 'start' | 'stop' | 'progress' | 'beginAt' | 'nextTick'> & Partial<Pick<ReturnType<typeof writer>, 'beginAt' | 'nextTick'>> & { start: (unpreparedBytes: number | null) => void, stop: () => void, progress: () => void } | null} */ (
      null
    )
  const elapsed = () => writing?.elapsed() ?? 0
  const journal = journalOf({ elapsed, write: results.event, tell: onEvent })
  const strategy = strategyOf(plan)
  const { tap } = needs.conductor ?? {}
  const course = needs.conductor?.course ?? (plan.rates ? courseOf(plan.rates, true) : null)
  const records = recordsOf(plan, () => elapsed() >= watchers.window.fromMs(), tap)

  await makeReady(strategy, target)
  const data = dataWatch({
    target,
    removesKeys: strategy.removesItemKeys,
    created: () => (plan.once ? records.ledger.whole.acked * strategy.holders().keysAnItem : 0),
    elapsed,
    note: journal.note,
    warn,
  })
  const onRows = (/** @type {NodeRow[]} */ rows) => {
    data.look(rows)
    guarding.look(rows)
  }
  /** @type {any} */
  let load = null
  const watchers = await watchersOf({
    ...{ plan, target, records, journal, clock, elapsed, onRows, fleet, tap },
    onAsking: data.asking,
    load: () => load,
  })
  const { instruments } = watchers
  // The PINGs are a part of what goes on beside the items.
  await instruments.start()
  let isOpen = false
  const onSample = () => instruments.of(client)?.lookIdle(isOpen)
  const idling =
    !fleet || fleet.leads()
      ? idleOf({ plan, strategy, target, asked: needs.idleCost, others, say, onSample })
      : Promise.resolve({ why: 'another box of the fleet measured it' })
  const opening = runOfFlow[plan.flow].open({
    ...{ plan, strategy, target, records, clock, onEvent: journal.event, time, onEncoding },
    onProgress: () => writing?.progress(),
    instruments,
    course,
    measuredFromMs: watchers.window.fromMs,
    ...(fleet && { stopsAtMs: fleet.stopsAtMs }),
  })
  opening.then(
    () => {
      isOpen = true
    },
    () => {},
  )
  const [flow, idle] = await Promise.all([opening, idling]).catch(async (error) => {
    await instruments.stop()
    throw error
  })
  const { driver } = flow
  load = flow
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
      warn({ code: 'guard', message: `ended by --guard: ${reason}`, invalidates: true })
      writing?.stop()
    },
  })
  const writers = { total: plan.totalAgents, own: plan.agents.length }
  const presence = presenceWatch({ writers, others, isMeasured: watchers.window.covers })
  const write = secondsTo({
    plan,
    results,
    fleet,
    records,
    watchers,
    writing: () => /** @type {any} */ (writing),
  })
  const watchClocks = async (/** @type {number} */ atMs) => {
    for (const text of await time.look(atMs)) journal.note('clock', text)
  }
  const watched = { ...records, ...watchers, presence, watchClocks, driver }
  let isInFlightTold = false
  const look = (/** @type {any} */ line) => {
    const words = isInFlightTold
      ? ''
      : inFlightWords({ plan, achieved: line.achieved, meanUs: line.latency_us.service?.mean })
    if (words) journal.event('in-flight', words)
    isInFlightTold ||= words !== ''
    const settled = watchers.window.settled(line)
    if (settled !== null) {
      journal.note('warm-up', settled)
      say(settled)
    }
    write(line)
  }
  const second = everySecond({ plan, ...watched, elapsed, phase, write: look, show })
  const clearOld = () => clearLeftovers(plan, strategy, target, time.now(), journal.event)
  const filling = { plan, strategy, target, clock, say, onEvent: journal.event, stop: needs.stop }
  return {
    plan,
    strategy,
    counts: flow.counts,
    answers: flow.answers,
    passes: flow.passes,
    finish: flow.finish,
    queue: flow.queue,
    fill: () => fillKeys(filling),
    prepare: () => prepareKeys(filling),
    dropIndexes: () => dropIndexes(filling),
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
