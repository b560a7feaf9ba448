// One run on servers that are open: settings in, the judged result out. It prints nothing and starts nothing; events are
// reported to its observer.
import { OptionError, TargetError } from '../base/errors.js'
import { unlessInterrupted, untilStopped } from '../base/interrupts.js'
import { withUndo } from '../base/undo.js'
import { bytes, count, percent, period, plainText, several } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { storeInMemory } from '../fleet/interval-store.js'
import { unfilledWarnings } from '../loads/clients/fill.js'
import { readingOf } from '../loads/index.js'
import { threadsOf } from '../loads/parts.js'
import { workAnnouncement } from '../loads/workers/plan.js'
import { announcementOf } from '../plan/announcement.js'
import { clockOf } from '../probes/run-clock.js'
import { documentWith } from '../result/facts.js'
import { announceEnded } from '../servers/announcements.js'
import { newcomerCheck, preflight } from '../servers/preflight.js'
import { keepsPlans } from '../servers/unsupported-commands.js'
import { readingInThreads } from '../threads/reading.js'
import { slotOf } from '../wire/slot.js'
import { slotTableBytes } from '../wire/slot-tables.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { strategyNamed } from '../workloads/index.js'
import { agentWords, claimAgents, claimReaders, leaseWarnings, readerWords, workersWords } from './agents.js'
import { plansOnTarget, serversHere } from './facts.js'
import { findPlan } from './find-announced.js'
import { claimOnFleet, fleetOf, joinToRead } from './fleet.js'
import { pagesOfSeconds, resultOfFleet } from './fleet-result.js'
import { frameOf, played } from './frame.js'
import { lengthMs } from './second.js'
import { snapshotOf } from './snapshot.js'
import { writeRun } from './write-run.js'

/**
 * @import { ReaderSettings, Settings, GuardLimits } from '../../settings.js'
 * @import { IntervalStore } from '../fleet/box.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 * @import { WorkPlan } from '../loads/workers/plan.js'
 * @import { RunDocument } from '../result/document.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Target } from '../servers/open.js'
 * @import { Conductor } from './conductor.js'
 * @import { FrameNeeds } from './frame.js'
 * @import { Shared } from './fleet-result.js'
 * @import { WriteNeeds } from './write-run.js'
 * @import { Line as OfFleet } from '../fleet/interval.js'
 * @import { Line } from '../measures/fold.js'
 * @import { Facts } from '../result/facts.js'
 * @import { Layout } from '../servers/topology.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 *
 * @typedef {(step: () => unknown) => void} Undo
 *
 * @typedef {object} Observer receives what happens in a run
 * @property {(line: string) => void} say
 * @property {(warning: Warning) => void} warn
 * @property {(warning: Warning) => void} [remark] at the end of a run: its result has it; without this it is warned of
 * @property {readonly Warning[]} warnings all so far
 * @property {() => Promise<void>} mayStop waits a moment, so that the user at a terminal can end a run that was not intended
 * @property {Pick<WriteNeeds, 'show' | 'onEncoding' | 'onReady' | 'onEvent'>} progress
 *
 * @typedef {object} Lines of the files of a run
 * @property {(line: Line) => void} interval
 * @property {(line: object) => void} event
 *
 * @typedef {Shared & { seconds: () => AsyncIterable<(OfFleet & { boxes: number })[]> }} Merged
 *
 * @typedef {object} Needs
 * @property {'producer' | 'consumer'} program
 * @property {Target} target
 * @property {string} run its name
 * @property {string} [commandLine] that repeats it
 * @property {Observer} observer
 * @property {(plan: Plan | ReadPlan | WorkPlan) => Lines}
 *   linesOf
 * @property {(facts: Facts) => void} [onFacts] the parts of the result besides the seconds: when the run begins, and when it has ended
 * @property {() => Promise<unknown>} untilStored resolves when all lines are stored
 * @property {IntervalStore} [store] where a box of a fleet keeps its intervals
 * @property {(own: RunDocument, all: Merged | null) => Promise<void>} [onMerged] of a box of a fleet: its own
 *   result, and that of all; null: it left before
 * @property {Conductor} [conductor] plays a search: decides the rates of writes or fetches
 * @property {AbortSignal} stop ends the load; what is under way settles
 * @property {AbortSignal} stopNow ends the run without waiting for anything
 */

/**
 * Refuses a server that was not started for the run, as it is emptied and may have other data.
 * @param {{ snapshot: boolean, allow: readonly string[] }} settings
 * @param {Target} target
 */
const checkSnapshot = async ({ snapshot, allow }, target) => {
  if (!snapshot) return
  if (target.origin !== 'embedded' && !allow.includes('flush'))
    throw new OptionError(
      `--with snapshot empties ${target.address} and loads its data again: leave out the address for a local server, or add --allow flush`,
    )
  for (const address of target.topology.masters)
    await target
      .control(address)
      .call('DEBUG', 'SLEEP', '0')
      .catch((cause) => {
        throw new TargetError(
          `--with snapshot: ${address} refuses DEBUG, which loads the data again (${cause.message}); start it with enable-debug-command local`,
          { cause },
        )
      })
}

/**
 * The parts of the result that are the same on every box.
 * @param {object} known
 * @param {Settings} known.settings
 * @param {Plan} known.plan of all writers
 * @param {Target} known.target
 * @param {object} known.found
 * @param {string} [known.commandLine]
 */
const aboutFleet = ({ settings, plan, target, found, commandLine }) => ({
  plan,
  thresholds: settings.thresholds,
  slotTable: Math.max(...target.versions.map(slotTableBytes)),
  commandLine,
  versions: versionsOf(target),
  target: { kind: target.kind, origin: target.origin, ...found },
})

/**
 * Refuses to read where the target has no plan of the fleet's run.
 * @param {{ plan: { flow: string }, announced: unknown }} found
 * @param {Settings} settings
 * @param {Target} target
 */
const checkJoined = ({ plan, announced }, { run }, target) => {
  if (announced === null)
    throw new TargetError(
      `${target.address} has no plan of --run ${run}: read from the servers that its writers write to`,
      { code: 'NO_PLAN' },
    )
  if (plan.flow === 'workers')
    throw new OptionError('--control: workers of a queue cannot be a fleet; start them without it')
}

/**
 * Why a process without -a will end as PARTIAL; null: all writers are there, or -a was given.
 * @param {Pick<Settings, 'given'>} settings
 * @param {Pick<Plan, 'agents' | 'totalAgents'>} plan
 * @param {number} others writers at work elsewhere
 */
const missingWriters = ({ given }, { agents, totalAgents }, others) => {
  const here = agents.length + others
  if (given.agent !== 'default' || here >= totalAgents) return null
  return `only ${here} of ${several(totalAgents, 'writer')} ${here === 1 ? 'is' : 'are'} here, so the result will be PARTIAL: make this process all of them with -a all, or start the same command on other boxes`
}

// Ends a run before it harms the target: judged once a second by what the nodes say.

/**
 * @param {GuardLimits} limits
 * @returns {(rows: NodeRow[]) => string | null} takes the rows of a second and returns the first limit exceeded, in words
 */
export const guardOf = ({ evicted: mostEvicted, memoryPct, lagBytes }) => {
  /** @type {Map<string, number>} */
  const evicted = new Map()

  /** @param {NodeRow} row */
  const fault = (row) => {
    const { address, evicted: more = 0, memory_bytes: used, memory_limit_bytes: limit, lag_bytes: lag } = row
    const sum = (evicted.get(address) ?? 0) + Number(more ?? 0)
    evicted.set(address, sum)
    const usedPct = used && limit ? (Number(used) / Number(limit)) * 100 : 0
    if (mostEvicted !== null && sum > mostEvicted)
      return `evicted ${count(sum)} keys (evicted>${mostEvicted}); raise maxmemory, shorten lifetimes or write less`
    if (memoryPct !== null && usedPct > memoryPct)
      return `uses ${percent(usedPct)} of its memory, ${bytes(Number(limit))} (memory>${memoryPct}%); shorten lifetimes or write less`
    if (lagBytes !== null && Number(lag ?? 0) > lagBytes)
      return `is ${bytes(Number(lag))} behind its master (lag>${bytes(lagBytes)}); lower the rate or look at its network`
  }

  return (rows) => {
    // Reads every row, so that the sums miss none.
    const faults = rows.map((row) => ({ address: row.address, words: fault(row) }))
    const first = faults.find(({ words }) => words)
    return first ? `${plainText(first.address)} ${first.words}` : null
  }
}

// Whether several sorted sets are evenly distributed over the masters, by the current map of slots.

// Keys of a minute are many over a run, so one of them does not matter.
const mostShared = 64

/** @param {Plan} plan @param {Layout | { masters: string[], owners: Uint16Array | null }} topology @returns {Warning[]} */
export const placementWarnings = ({ sets, placement }, { masters, owners }) => {
  if (!owners || masters.length < 2 || placement === 'same-slot') return []
  if (sets.length < (placement === 'spread' ? 1 : 2)) return []
  const perMaster = masters.map((_, index) => sets.filter((set) => owners[slotOf(set)] === index).length)
  const few = placement === 'spread' && sets.length < masters.length
  if (!few && Math.max(...perMaster) - Math.min(...perMaster) <= 1) return []
  const list = perMaster.map((n, i) => `shard ${i + 1} ${n}`).join(', ')
  const advice = few
    ? `--ns ${masters.length} or a multiple of it reaches every shard`
    : placement === 'spread'
      ? 'the slots themselves lie unevenly'
      : 'use --spread'
  return [
    {
      code: 'placement',
      message: `${several(sets.length, 'sorted set')} are spread unevenly over the shards (${list}); ${advice}`,
      invalidates: false,
    },
  ]
}

/**
 * The keys that gather ids or values of many items, each with its shard: one of them can make a shard busier than the
 * others.
 * @param {Plan} plan
 * @param {{ masters: string[], owners: Uint16Array | null }} topology
 * @returns {{ key: string, shard: number }[]}
 */
const sharedKeysOf = (plan, { owners }) => {
  if (!owners) return []
  const now = Math.floor(Date.now() / 60_000)
  const counts = strategyOf(plan).holders().counts(now)
  const keys = [...new Set(counts.flatMap(({ keys: [...each] }) => each))]
  return keys.length > mostShared ? [] : keys.map((key) => ({ key, shard: owners[slotOf(key)] + 1 }))
}

/**
 * The facts of a run that are known before it begins.
 * @param {Settings} settings
 * @param {Needs} needs
 * @param {object} found of the target
 */
const factsOfRun = (settings, { program, target, run, commandLine, observer }, found) => ({
  /** @type {1} */
  schema: 1,
  parts: {
    kind: program,
    run,
    commandLine,
    versions: versionsOf(target),
    target: { kind: target.kind, origin: target.origin, ...found },
    warnings: [...observer.warnings],
  },
  thresholds: settings.thresholds,
  sums: null,
})

/**
 * Stores the facts of a run before its first line, and returns where the lines go.
 * @param {Settings} settings
 * @param {Needs} needs
 * @param {Parameters<Needs['linesOf']>[0]} plan
 * @param {object} [found] of the target
 * @param {object} [more] of its parts
 */
const begun = (settings, needs, plan, found = {}, more = {}) => {
  const facts = factsOfRun(settings, needs, found)
  needs.onFacts?.({ ...facts, parts: { ...facts.parts, ...more, plan, startedEpochMs: Date.now() } })
  return needs.linesOf(plan)
}

/** @param {number} total */
const allOf = (total) => Array.from({ length: total }, (_, i) => i + 1)

/** A cache may be full, and evict, unless it was asked not to. @param {Settings} settings */
const guardIn = ({ guard, given, strategy }) =>
  strategyNamed(strategy).play.caches && given.guard === 'default'
    ? { ...guard, evicted: null, memoryPct: null }
    : guard

/** @param {Settings} settings @param {Needs} needs @param {Undo} undo */
const written = async (settings, needs, undo) => {
  const { target, run, commandLine, observer, stopNow } = needs
  const { say, warn } = observer
  let { stop } = needs
  const { allow } = settings
  const time = await unlessInterrupted(stop, clockOf({ target, allow, warn }))
  const plans = await unlessInterrupted(stop, plansOnTarget(settings, target))
  await checkSnapshot(settings, target)
  const whole = plans([])
  const announced = announcementOf(whole, millraceVersion())
  const clock = () => performance.now()
  const checking = { target, allow, times: { clock, epochMs: time.now } }
  target.confirmed.checkWith(newcomerCheck(checking))
  const found = await unlessInterrupted(stop, preflight({ ...checking, plan: whole, say, warn }))
  const store = needs.store ?? storeInMemory()
  const gathering = { target, run, whole, announced, store, say, warn, stop, stopNow }
  const fleet = await unlessInterrupted(stop, fleetOf(settings, gathering))
  if (fleet) {
    undo(() => untilStopped(stopNow, fleet.close(), undefined))
    stop = fleet.signal
  }
  const claim = {
    settings,
    announced,
    target,
    run,
    say,
    ...leaseWarnings(warn),
    epochMs: time.now,
    signal: stop,
  }
  const agents = await (fleet ? claimOnFleet(fleet, claim) : claimAgents(claim))
  undo(() => untilStopped(stopNow, agents.release(), undefined))
  const plan = plans(agents.agents)
  say(agentWords(plan, fleet !== null))
  const missing = fleet ? null : missingWriters(settings, plan, await agents.otherWriters().catch(() => 0))
  if (missing !== null) {
    observer.progress.onEvent('writers', missing)
    await unlessInterrupted(stop, observer.mayStop())
  }
  const wholeMs = lengthMs(plan)
  if (wholeMs !== null && plan.durationMs !== null && wholeMs > plan.durationMs)
    say(`lasts ${period(wholeMs)}: ticks are not cut short`)
  placementWarnings(plan, target.topology).forEach(warn)
  unfilledWarnings(plan, found.keys).forEach(warn)
  if (fleet) {
    const everybody = plans(allOf(settings.totalAgents))
    const about = { found, shared_keys: sharedKeysOf(everybody, target.topology) }
    // The name of a run that has ended cannot be used again.
    const again = commandLine === undefined ? undefined : `${commandLine} --run ${run}-again`
    fleet.describe({
      about: aboutFleet({ settings, plan: everybody, target, found: about, commandLine: again }),
    })
  }
  const ofTarget = { found, shared_keys: sharedKeysOf(plan, target.topology) }
  const parts = await writeRun({
    plan,
    target,
    time,
    office: { ...agents, announce: () => agents.announce(announced) },
    idleCost: settings.idleCost,
    say,
    results: begun(settings, needs, plan, ofTarget),
    fleet,
    guard: guardOf(guardIn(settings)),
    warn,
    conductor: needs.conductor,
    remark: observer.remark,
    stop,
    stopNow,
    ...observer.progress,
  })
  if (settings.snapshot && !stop.aborted) await agents.release()
  const snapshot = settings.snapshot && !stop.aborted ? await snapshotOf({ target, clock, say }) : null
  return {
    ...parts,
    ...(snapshot && { snapshot }),
    ...(fleet && { fleet }),
    target: ofTarget,
  }
}

/** @param {FrameNeeds & { plan: Parameters<typeof readingOf>[0] & { threads?: number }, conductor?: Conductor } & Record<string, any>} needs and those of its load */
const playedReading = (needs) =>
  played(needs, async (undo) => {
    const frame = frameOf(needs, undo)
    const onLost = (/** @type {string} */ text) => frame.end('thread', `the run was ended: ${text}`, text)
    /** @type {ReturnType<typeof readingOf>['open']} */
    const open = needs.plan.threads ? readingInThreads : readingOf(needs.plan).open
    return { frame, ...(await open({ ...needs, undo, frame, onLost })) }
  })

/** @param {Settings} settings @param {Needs} needs @param {Undo} undo */
const read = async (settings, needs, undo) => {
  const { target, run, observer, conductor, stopNow } = needs
  const { say, warn, progress } = observer
  const own = /** @type {ReaderSettings} */ (settings)
  const joined = await joinToRead(own, needs, undo)
  const stop = joined?.fleet.signal ?? needs.stop
  const found = await unlessInterrupted(stop, findPlan({ settings: own, target, say }))
  const common = { target, stop, stopNow, say, warn, ...progress }
  if (joined) checkJoined(found, settings, target)
  if (found.plan.flow === 'workers') {
    const { plan, announced } = found
    // Never a rival of the producer that comes: it has ended.
    if (!announced && keepsPlans(target.refused))
      await unlessInterrupted(stop, announceEnded(target, workAnnouncement(plan, millraceVersion())))
    say(workersWords(plan))
    const jobs = { promise: strategyOf(plan).workers()?.promise }
    const results = begun(settings, needs, plan, {}, { jobs })
    const parts = await playedReading({ plan, announced, results, ...common })
    return { ...parts, target: {} }
  }
  const { strategy } = found.plan
  const claim = { settings, strategy, target, run, say, ...leaseWarnings(warn), signal: stop }
  const readers = joined?.readers ?? (await claimReaders(claim))
  if (!joined) undo(() => untilStopped(stopNow, readers.release(), undefined))
  const consumers = readers.agents.length * found.plan.consumers
  const room = { most: consumers, limit: () => several(consumers, 'consumer'), needed: consumers }
  const threads = threadsOf(own.threads, room, serversHere(target))
  const plan = { ...found.plan, agents: readers.agents, ...(threads > 1 && { threads }) }
  say(readerWords(plan, Boolean(joined)))
  joined?.fleet.describe({ reading: { ...plan, agents: [] } })
  await joined?.fleet.tell()
  const results = begun(settings, needs, plan)
  const parts = await playedReading({ ...found, plan, results, joined, conductor, ...common })
  return { ...parts, ...(joined && { fleet: joined.fleet }), target: {} }
}

/** @param {Settings} settings @param {Needs} needs @returns {Promise<RunDocument>} */
export const runOn = (settings, needs) =>
  withUndo(async (undo) => {
    const { program, observer, untilStored } = needs
    /** @type {any} */
    const made = await (program === 'consumer' ? read : written)(settings, needs, undo)
    const { fleet, own, sections, sums, target: found, ...parts } = made
    await untilStored()
    const known = { ...factsOfRun(settings, needs, found), sums }
    const facts = { ...known, parts: { ...known.parts, ...parts }, ...(fleet && { thresholds: [] }) }
    needs.onFacts?.(facts)
    const document = documentWith(facts, sections)
    if (!fleet) return document
    const { warnings } = observer
    const all = await resultOfFleet(fleet, { parts: made, warnings, say: observer.say, signals: needs })
    const seconds = () => pagesOfSeconds(fleet.control)
    await needs.onMerged?.(document, all && { ...all, seconds })
    return all?.document ?? document
  })

// Versions of all programs involved; every result has them.
/** @param {{ versions: string[] }} target */
export const versionsOf = ({ versions }) => ({
  millrace: millraceVersion(),
  node: process.versions.node,
  servers: versions,
})
