// One run of the writer: what all of it sees, made once, and its phases in their order.
import { InterruptedError } from '../base/errors.js'
import { unlessInterrupted, untilStopped } from '../base/interrupts.js'
import { sleep } from '../base/settlement.js'
import { certain } from '../base/typed.js'
import { ledSource } from '../fleet/leader-sampling.js'
import { dropIndexes, fillKeys, prepareKeys } from '../loads/clients/fill.js'
import { inFlightWords } from '../loads/clients/in-flight.js'
import { writingOf } from '../loads/index.js'
import { namesOfKind } from '../loads/names.js'
import { recordsOf, sumsOf } from '../loads/write-records.js'
import { cache } from '../measures/cache.js'
import { client } from '../measures/client.js'
import { nodes } from '../measures/nodes.js'
import { courseOf } from '../plan/course.js'
import { serversAheadMs } from '../probes/clocks.js'
import { presenceWatch } from '../probes/presence.js'
import { changesOf } from '../probes/seconds.js'
import { recordsInThreads } from '../threads/records.js'
import { writingInThreads } from '../threads/writing.js'
import { shortestS } from '../traffic/lifetimes.js'
import { slotTableBytes } from '../wire/slot-tables.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { frameOf, played } from './frame.js'
import { idleOf } from './idle.js'
import { lengthMs } from './second.js'
import { outliveEarlier, removeExpiredIds, storedDataIn } from './stored-data.js'
import { measuringWindow } from './window.js'
import { curveIn, writeResultOf } from './write-result.js'

/**
 * @import { Source } from '../measures/measure.js'
 * @import { instrumentsOf } from '../measures/index.js'
 * @import { Member } from '../fleet/member.js'
 * @import { Opened } from '../loads/index.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { WriterRun } from '../loads/ticks/open.js'
 * @import { Idle, Unknown } from '../probes/idle-cost.js'
 * @import { StoredData } from '../probes/memory-cost.js'
 * @import { RunClock } from '../probes/run-clock.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Conductor } from './conductor.js'
 * @import { FrameNeeds, Undo } from './frame.js'
 * @import { Ending } from './write-result.js'
 * @import { Changes, Seconds } from '../probes/seconds.js'
 * @import { Amounts, Line } from '../measures/fold.js'
 *
 * @typedef {FrameNeeds & OfWriters} WriteNeeds
 * @typedef {object} OfWriters
 * @property {Plan} plan
 * @property {Pick<RunClock, 'now' | 'check' | 'figures'>} time by the servers' clocks
 * @property {WritersOffice} office
 * @property {'auto' | 'always' | 'never'} idleCost
 * @property {Member | null} [fleet] of which this box is a part
 * @property {Conductor} [conductor] plays a search: decides the rates of writes
 * @property {(share: number) => void} onEncoding
 * @property {(ready: { encodeMs: number, encodedBytes: number }) => void} onReady
 * @property {(warning: Warning) => void} [remark] at the end
 *
 * @typedef {object} WritersOffice what the writers of a run know of each other
 * @property {() => Promise<number>} otherWriters number of writers at work in other processes
 * @property {() => Promise<unknown>} announce stores the plan in the target
 * @property {(before: StoredData) => Promise<void>} begin the writers of this process begin
 * @property {() => Promise<StoredData | null>} earliest what was there before the first writer of the run began; null: none has
 */

/** @type {StoredData} */
const noStoredData = { dataBytes: null, keys: null, gathered: null, strange: null, holderBytes: null }

// How each second of a writing run is written and shown.

/** Where the seconds go: into the run's files, and in a fleet also to the control server. @param {WriteRun} run @returns {(line: Line) => void} */
const secondsTo = ({ plan, needs: { results }, fleet, instruments, records, window, writing }) => {
  if (!fleet) return results.interval
  return (line) => {
    results.interval(line)
    fleet.second({
      ...line,
      writers: plan.agents.length,
      epoch_ms: Math.round(fleet.clock.now()),
      sums: sumsOf(records, window, writing),
      sampler: instruments.source(nodes)?.state?.(),
    })
  }
}

/** @param {Record<string, number>} counts */
const sum = (counts) => Object.values(counts).reduce((total, n) => total + n, 0)

/** @param {WriteRun} run */
const secondsOf = (run) => {
  const { plan, time, window, journal, presence, load, needs, records, frame } = run
  const { ledger } = records
  const write = secondsTo(run)
  let isInFlightTold = false
  let wereFull = false
  return {
    time,
    watch: load.driver.watch,
    gather: load.writing.gather,
    phase: window.phase,
    totalMs: lengthMs(plan),
    moment: changesOf(() => ledger.whole, 'acked', frame.elapsed),
    ask: presence.sample,
    line: (
      /** @type {Changes} */ { phase, counts, perS },
      /** @type {Amounts} */ line,
      /** @type {number} */ writers,
    ) => ({ phase, items: counts, achieved: perS, ...line, writers }),
    shown: (/** @type {Changes} */ { perS, now: { failed, uncertain, dropped } }) => ({
      nominalRate: plan.nominalHz,
      achievedRate: perS,
      lost: { failed, uncertain, dropped, errors: sum(ledger.errorsBy) },
    }),
    write(/** @type {Line} */ line) {
      const words =
        isInFlightTold || !namesOfKind(plan).keepsInFlight
          ? ''
          : inFlightWords({ plan, achieved: line.achieved ?? null, meanUs: line.latency_us?.service?.mean })
      // What is asked for in the first second is answered in the next.
      if (words && wereFull) journal.event('connections-full', words)
      isInFlightTold ||= words !== '' && wereFull
      wereFull = words !== ''
      const notice = window.endWarmUp(line)
      if (notice !== null) {
        load.writing.measureFrom?.(window.fromMs())
        journal.note('warm-up', notice)
        needs.say(notice)
      }
      write(line)
    },
  }
}

const sampleAheadMs = 300
// Of items with a shorter lifetime that are written once, many expire while the run takes its last second. The
// commands that count them are in that second's traffic, so they are sent only for these items.
const briefS = 10
// A box of a fleet sets the timer of its first tick this long before it is due.
const aheadMs = 5

export class WriteRun {
  /** @type {Awaited<ReturnType<typeof instrumentsOf>> | null} */
  #instruments = null
  /** @type {Opened | null} */
  #load = null
  /** @type {StoredData | null} */
  #before = null
  /** @type {StoredData | null} of items that do not live until the end of the last second */
  #early = null
  #offeredMs = 0
  #endMs = 0

  /** @type {Idle | Unknown} what the servers use without this run */
  idle = { why: 'it was not measured' }
  /** How far the servers' clocks are ahead; --verify needs it to know which items of --once have expired. @type {number | null} */
  aheadMs = null
  /** Epoch milliseconds. */
  startedEpochMs = 0
  /** Whether what was there before is what was there before another box of the run began to write. */
  isOfRun = false
  /** What was loaded before the run. @type {Awaited<ReturnType<typeof fillKeys>>} */
  loaded = null

  /** @param {WriteNeeds} needs @param {Undo} undo */
  constructor(needs, undo) {
    const { plan, target, time, office, fleet = null, conductor } = needs
    this.needs = needs
    this.undo = undo
    this.plan = plan
    this.target = target
    this.time = time
    this.fleet = fleet
    this.course = conductor?.course ?? (plan.rates ? courseOf(plan.rates, true) : null)
    this.strategy = strategyOf(plan)
    this.frame = frameOf(needs, undo, {
      removesKeys: this.strategy.removesItemKeys,
      created: () => (plan.once ? this.records.ledger.whole.acked * this.strategy.holders().keysAnItem : 0),
      carried: () => this.records.ledger.whole.acked,
      ...(plan.cache && { seen: () => this.#instruments?.source(cache)?.replies() }),
    })
    this.journal = this.frame.journal
    this.sampler = this.frame.sampler
    const { elapsed } = this.frame
    const isMeasured = () => elapsed() >= this.window.fromMs()
    this.threads = plan.threads ? recordsInThreads(plan, isMeasured) : null
    this.records = this.threads ?? recordsOf(plan, isMeasured, conductor?.tap)
    undo(this.records.close)
    this.window = measuringWindow({
      plan,
      ledger: this.records.ledger,
      elapsed,
      onOpen: () => this.instruments.startWindow(),
      onBacklog: (text) => this.journal.event('warm-up', text),
    })
    this.presence = presenceWatch({
      writers: { total: plan.totalAgents, own: plan.agents.length },
      otherWriters: office.otherWriters,
      isMeasured: this.window.covers,
    })
  }

  get instruments() {
    return certain(this.#instruments)
  }

  /** What offers the items, with what it counts. */
  get load() {
    return certain(this.#load)
  }

  get writing() {
    return this.load.writing
  }

  /** What the target held before the first write. */
  get before() {
    return certain(this.#before)
  }

  /** Whether this box measures the servers for all. */
  leads() {
    return this.fleet === null || this.fleet.leads()
  }

  /** Whatever measures, and then the load, beside the servers' idle cost. */
  async open() {
    const { plan, strategy, target, needs } = this
    const { scripts } = strategy
    if (scripts.length > 0)
      await Promise.all(target.topology.masters.map((address) => target.loadScripts(address, scripts)))
    await this.#openInstruments()
    const [, idle] = await Promise.all([this.#openLoad(), this.#measureIdle()])
    this.idle = idle
    needs.onReady(this.load.driver)
    if (plan.once)
      this.aheadMs = await serversAheadMs({
        servers: target.topology.masters,
        time: target.time,
        epochMs: Date.now,
      })
  }

  async #openInstruments() {
    const { plan, target, fleet, frame, records, window } = this
    this.#instruments = await frame.measure('writers', {
      plan,
      load: () => this.#load,
      records,
      masters: () => target.nodes().filter(({ role }) => role === 'master'),
      access: target.access,
      covers: window.covers,
      note: this.journal.note,
      shared: fleet && ((source) => ledSource(source, fleet)),
      tap: this.needs.conductor?.tap,
      beside: this.threads?.beside,
    })
    // PINGs of the other client run beside the idle servers as well.
    await this.#instruments.start()
  }

  /** @returns {Promise<Idle | Unknown>} */
  async #measureIdle() {
    if (!this.leads()) return { why: 'another box of the fleet measured it' }
    const { needs } = this
    return idleOf(this, {
      asked: needs.idleCost,
      otherWriters: needs.office.otherWriters,
      say: needs.say,
      onSample: () => this.instruments.source(client)?.sampleIdle(this.#load !== null),
    })
  }

  async #openLoad() {
    const { plan, strategy, target, records, frame, time, fleet, needs } = this
    const load = await this.#opening({
      plan,
      strategy,
      target,
      records,
      instruments: this.instruments,
      clock: frame.clock,
      time,
      course: this.course,
      measuredFromMs: this.window.fromMs,
      ...(fleet && { stopsAtMs: fleet.stopsAtMs }),
      onEvent: this.journal.event,
      onEncoding(share) {
        if (needs.stop.aborted) throw new InterruptedError()
        needs.onEncoding(share)
      },
      onProgress: () => this.#load?.writing.progress?.(),
    })
    this.undo(load.driver.close)
    this.#load = load
    frame.hang({
      ...load.writing,
      over: load.writing.offered,
      async settle(limitMs, atOnce) {
        const whole = await load.writing.settle(limitMs, atOnce)
        if (!whole) load.driver.abandon()
        return whole
      },
    })
  }

  /** @param {WriterRun} run */
  #opening(run) {
    const { threads, frame, target } = this
    if (!threads) return writingOf(this.plan).open(run)
    target.countBytes(threads.bytesOf)
    const onLost = (/** @type {string} */ text) => frame.end('thread', `the run was ended: ${text}`, text)
    return writingInThreads({ ...run, records: threads }, { onLost, warn: this.needs.warn })
  }

  /** Until the first tick is due: from here on there is a result. */
  async begin() {
    const { needs, frame, window, writing } = this
    const { stop, office } = needs
    // The plan is stored in the target before its first key, and kept until the keys are removed.
    await unlessInterrupted(stop, office.announce())
    await unlessInterrupted(stop, this.clearLeftovers())
    await this.#findStored()
    const filling = this.#filling()
    // Of several boxes one fills, and all wait for it.
    this.loaded = this.leads() ? await unlessInterrupted(stop, fillKeys(filling)) : null
    const unpreparedBytes = await unlessInterrupted(stop, prepareKeys(filling))
    await unlessInterrupted(stop, office.begin(this.before))
    this.startedEpochMs = await this.#startsAt()
    await window.prepare()
    if (this.fleet) await sleep(writing.elapsed() < -aheadMs ? -aheadMs - writing.elapsed() : 0)
    frame.begin(secondsOf(this), () => {
      window.start()
      writing.start(unpreparedBytes)
    })
  }

  /** Removes ids of expired items, while no other plan is being written there: its ids may be younger than they seem. */
  async clearLeftovers() {
    const oldestMs = this.time.now() - this.plan.ttlS * 1000
    const removed = await removeExpiredIds(this.target, this.strategy.purgedKeys, oldestMs)
    if (removed > 0) this.journal.event('leftovers', `${removed} ids that an earlier run left were taken out`)
  }

  async #findStored() {
    const { needs, sampler, presence, target, fleet } = this
    const { stop, office } = needs
    const leads = this.leads()
    if (leads && needs.idleCost !== 'never') {
      const otherWriters = fleet ? async () => 0 : office.otherWriters
      await unlessInterrupted(stop, outliveEarlier(this, otherWriters))
    }
    await unlessInterrupted(stop, Promise.all([leads && sampler.sample(), presence.sample(0)]))
    const found = leads ? await unlessInterrupted(stop, storedDataIn(target, this, true)) : noStoredData
    // What is there since another box of the run began is this run's own; that box knows what was there before.
    const asked = office.earliest().catch(() => null)
    const ofRun = await unlessInterrupted(stop, asked)
    this.isOfRun = ofRun !== null
    this.#before = ofRun ?? found
  }

  #filling() {
    const { plan, strategy, target, frame, journal, needs } = this
    const { say, stop } = needs
    return { plan, strategy, target, clock: frame.clock, say, onEvent: journal.event, stop }
  }

  /** The moment from which time is counted: now, or in a fleet the common start. */
  async #startsAt() {
    const { fleet, idle, before, needs } = this
    if (!fleet) return Date.now()
    const facts = async () => ({ idle: JSON.stringify(idle), before: JSON.stringify(before) })
    const { startMs, atMs, isLate } = await unlessInterrupted(needs.stop, fleet.ready(facts))
    const soonMs = atMs - sampleAheadMs - performance.now()
    if (soonMs > 0) await unlessInterrupted(needs.stop, sleep(soonMs))
    this.writing.beginAt?.(atMs, isLate)
    // Counts while the boxes waited for each other are not part of the first second.
    if (fleet.leads()) await this.sampler.sample()
    return startMs
  }

  /** Nothing new is offered. */
  over() {
    this.window.close()
    this.#offeredMs = this.writing.elapsed()
  }

  /**
   * What was under way has settled. The last interval of a schedule counts with its whole length, however late the timer at its end
   * fires, and so does the last tick of a run that was stopped: what it brought was due until the next one.
   */
  drained() {
    const { plan, frame, needs } = this
    const isWhole =
      plan.schedule !== 'none' &&
      Boolean(plan.ticks ?? plan.rates) &&
      !needs.stop.aborted &&
      !frame.hasEnded()
    // The ticks of a course are not evenly spaced.
    const ticks = plan.schedule === 'even' && !this.course ? this.writing.measuredTicks() : 0
    const ticksMs = ticks > 0 ? this.window.fromMs() + ticks * plan.spacingMs : 0
    const overMs = isWhole ? Number(plan.endMs) : Math.max(this.#offeredMs, ticksMs)
    this.#endMs = Math.max(overMs, this.writing.lastSettledMs())
  }

  async lastSecond() {
    if (this.plan.once && shortestS(this.plan) < briefS) this.#early = await this.#storedAfter()
  }

  #storedAfter() {
    const asked = async () =>
      this.leads() ? storedDataIn(this.target, this, this.#isOfOthersToo()) : noStoredData
    return untilStopped(this.needs.stopNow, asked(), noStoredData)
  }

  /**
   * Whether keys that gather items may also have held others than those there at the end: of an earlier run, of items that
   * expired but are not collected yet, or of a box that ended before.
   */
  #isOfOthersToo() {
    const { once, agents, totalAgents } = this.plan
    const { keys, gathered } = this.before
    return (
      once ||
      totalAgents > agents.length ||
      Number(keys) > agents.length + 1 ||
      Boolean(gathered?.some((n) => n > 0))
    )
  }

  /** @param {boolean} interrupted */
  async result(interrupted) {
    const { needs, target, instruments, load, records } = this
    const { stopNow, warn = () => {} } = needs
    instruments.warnings().forEach(needs.remark ?? warn)
    const after = this.#early ?? (await this.#storedAfter())
    const bundles = (await untilStopped(stopNow, load.finish?.() ?? Promise.resolve(null), null)) ?? null
    await untilStopped(stopNow, dropIndexes(this.#filling()), undefined)
    const slotTable = Math.max(...target.versions.map(slotTableBytes))
    const result = await writeResultOf(this, { endMs: this.#endMs, interrupted, after, slotTable, bundles })
    this.#warnOfReplies(bundles)
    if (!this.fleet) return result
    const sums = sumsOf(records, this.window, this.writing)
    const curve = (/** @type {Parameters<typeof curveIn>[1]} */ about) => curveIn(this, about)
    const behindMs = records.firstBehindMs()
    return { ...result, own: { sums, behindMs, measured: instruments.own(), after, curve } }
  }

  /** @param {Ending['bundles']} bundles */
  #warnOfReplies(bundles) {
    const { load, plan, strategy } = this
    const { warn = () => {} } = this.needs
    for (const name of load.unplayed?.() ?? [])
      warn({ code: 'passes', message: `the pass of ${name} was not played`, invalidates: true })
    const passes = load.passes?.()?.passes ?? []
    for (const message of strategy.declared.reasons(
      load.counts?.() ?? {},
      plan,
      passes,
      bundles?.sum ?? null,
    ))
      warn({ code: 'replies', message, invalidates: true })
  }
}

/** @param {WriteNeeds} needs */
export const writeRun = (needs) =>
  played(needs, async (undo) => {
    const run = new WriteRun(needs, undo)
    await run.open()
    return {
      frame: run.frame,
      conducted: run,
      begin: () => run.begin(),
      over: () => run.over(),
      drained: () => run.drained(),
      lastSecond: () => run.lastSecond(),
      result: (_, { interrupted }) => run.result(interrupted),
    }
  })
