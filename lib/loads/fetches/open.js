// The parts of a load of consumers before its first fetch: driver, clocks of the servers, verification, and what measures.
import { unlessInterrupted } from '../../base/interrupts.js'
import { patienceMs, sleep } from '../../base/settlement.js'
import { atMost, longestTimerMs, machineWith } from '../../base/timers.js'
import { several } from '../../base/units.js'
import { sectionOf } from '../../measures/fold.js'
import { commandsOfRole } from '../../measures/nodes.js'
import { operationsOf } from '../../probes/operations.js'
import { watchedClocks } from '../../probes/run-clock.js'
import { momentsOf } from '../../probes/seconds.js'
import { countersOf, uniquenessOf } from '../../probes/uniqueness.js'
import { fetchScript } from '../../servers/scripts.js'
import { socketReadDriver } from '../../transport/socket-reader.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { coursePacing } from '../course-pacing.js'
import { consumersIn, consumersOf, fetchesUnderWay } from './consumers.js'
import { fetcherOf } from './fetch.js'
import { verifierOf } from './verifying.js'

/**
 * @import { Member } from '../../fleet/member.js'
 * @import { RunClock } from '../../probes/run-clock.js'
 * @import { Snapshot } from '../../probes/seconds.js'
 * @import { instrumentsOf } from '../../measures/index.js'
 * @import { Source } from '../../measures/measure.js'
 * @import { AnnouncedPlan } from '../../plan/announcement.js'
 * @import { ReadDriver, ReadDriverOptions } from '../../transport/read-driver.js'
 * @import { LoadNeeds } from '../index.js'
 * @import { Fetched } from './fetch.js'
 * @import { ReadPlan } from './plan.js'
 * @import { Amounts, Line } from '../../measures/fold.js'
 * @import { Course } from '../../plan/course.js'
 * @import { recordsOf } from '../write-records.js'
 * @import { ConsumerEvents } from './consumers.js'
 *
 * @typedef {LoadNeeds & OfReaders} ReaderRun a run, as the load of its consumers sees it
 * @typedef {object} OfReaders
 * @property {ReadPlan} plan
 * @property {readonly AnnouncedPlan[]} announcements all that are under the prefix
 * @property {() => Promise<readonly AnnouncedPlan[]>} readAnnouncements
 * @property {Joined | null} [joined]
 * @property {FetchingNeeds['conductor']} [conductor] decides at which rates is fetched
 *
 * @typedef {object} Joined of a fleet
 * @property {Pick<Member, 'clock' | 'second' | 'ending'>} fleet
 * @property {{ agents: readonly number[] }} readers
 * @property {number} startMs of the run, by the fleet's clock
 * @property {number | null} lengthMs
 */

// Reading of a course: each fetch is begun when it is due by a consumer that has none under way; what is left when a
// stretch ends and has no consumer is dropped. Times are in milliseconds.

// The limit of clients; a stretch of a search rarely lasts that long.
const maxBehindMs = 5000
const begun = { next: () => true, giveUp: () => {} }

/**
 * @typedef {object} FetchingNeeds
 * @property {ReadPlan} plan
 * @property {{ course: Course, tap: NonNullable<Parameters<typeof recordsOf>[2]> }} conductor
 * @property {(consumer: number) => () => Promise<Fetched>} fetcher
 * @property {() => number} clock
 * @property {ConsumerEvents} events
 */

/** @param {FetchingNeeds} needs */
const courseFetching = ({ plan, conductor: { course, tap }, fetcher, clock, events }) => {
  const ledger = operationsOf({ isMeasured: () => true })
  const free = consumersIn(plan).map((consumer) => ({ consumer, fetch: fetcher(consumer) }))
  const stop = () => {
    pacing.stop()
    finish()
  }
  const { over, finish, elapsed, begin, fetch: underWay, busy, settle } = fetchesUnderWay(clock, stop)
  let startMs = 0

  /** @param {typeof free[number]} one @param {number} dueMs */
  const fetchOnce = async (one, dueMs) => {
    const sentMs = clock()
    await underWay(async () => {
      const fetched = await one.fetch().catch((error) => {
        ledger.lost('failed', 'FAULT', true)
        throw error
      })
      const [cause] = Object.keys(fetched.failedBy)
      if (cause) ledger.lost('failed', cause, true)
      else {
        ledger.acked(1, 1)
        tap.answered(startMs + dueMs, sentMs, clock(), 1)
      }
      events.onFetched(one.consumer, fetched)
    })
    free.push(one)
    pacing.more()
  }
  const pacing = coursePacing({
    plan: { course, tickItems: 1, maxBehindMs },
    elapsed,
    hasRoom: () => free.length > 0,
    ticks: {
      begin: (_, dueMs) => {
        ledger.offered(1, true)
        fetchOnce(/** @type {typeof free[number]} */ (free.shift()), dueMs)
        return begun
      },
      skip: () => {
        ledger.offered(1, true)
        ledger.lost('dropped', 'MISSED', true)
        events.onOverrun(0, 1)
      },
    },
    timers: { setTimeout, clearTimeout },
  })

  return {
    over,
    elapsed,
    stop,
    ledger,
    busy,
    settle,
    start() {
      startMs = begin()
      pacing.start()
    },
  }
}

export const verifyLimitMs = 30_000

export const clockEffect = 'ages and cut-offs are wrong'

const nothing = () => {}

/** Where the reads go, in one line. @param {ReadPlan} plan @param {ReadDriver} driver @param {readonly string[]} masters */
export const readsWords = (plan, driver, masters) => {
  const servers = driver.servers()
  const bare = driver.bare()
  if (bare.length === masters.length && plan.reads === 'replica')
    return `reads from ${several(masters.length, 'master')}: there ${masters.length === 1 ? 'is' : 'are'} no replica${masters.length === 1 ? '' : 's'}`
  const without =
    bare.length > 0 ? `; ${several(bare.length, 'shard')} without a replica, read from the master` : ''
  const what = plan.reads === 'any' || plan.reads === 'nearest' ? 'node' : plan.reads
  return `reads from ${several(servers.length, what)}${without}`
}

/** @param {ReadDriverOptions} options */
const openDriver = async (options) => {
  if (options.plan.driver === 'socket') return socketReadDriver(options)
  const { libraryReadDriver } = await import('../../transport/library-reader.js')
  return libraryReadDriver(options)
}

/** One reply as a number; null: no number came. @param {ReadDriver} driver */
const numberFrom = (driver) => async (/** @type {string[]} */ args) => {
  let found = /** @type {number | null} */ (null)
  const sink = {
    open: nothing,
    bulk: nothing,
    nil: nothing,
    error: nothing,
    number: (/** @type {number} */ n) => {
      found = n
    },
  }
  await driver.ask(args, args[1], sink, 0).catch(nothing)
  return found
}

/** One reader of a fleet samples for all. @param {Joined} joined */
const sharedBy =
  ({ readers }) =>
  (/** @type {Source} */ source) =>
    readers.agents.includes(1) ? source : { second: () => ({}), close: source.close }

/** @param {Record<string, number>} verified */
const wrongIn = ({ missing = 0, corrupt = 0, unexpected = 0, stale = 0 }) =>
  missing + corrupt + unexpected + stale

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

/** Readers of a fleet stop at the end of its run, or when the control server says that all writers have ended. @param {Joined} joined @param {() => void} stop */
const endWith = ({ fleet, startMs, lengthMs }, stop) => {
  if (fleet.ending.aborted) stop()
  fleet.ending.addEventListener('abort', stop)
  const leftMs =
    lengthMs === null ? longestTimerMs : fleet.clock.clockAt(startMs + lengthMs) - performance.now()
  if (leftMs < longestTimerMs) setTimeout(stop, leftMs).unref()
}

/** The parts of a run that a search needs; a confirmation is timed by its lines, so nothing is reset. @param {ReturnType<typeof courseFetching>} reading */
const conductedOf = (reading) => ({
  writing: { elapsed: reading.elapsed, stop: reading.stop, offered: reading.over },
  records: { ledger: /** @type {any} */ (reading.ledger), restart: () => {} },
  window: { reopen: async () => {} },
})

/**
 * What the live line shows of a second.
 * @param {Pick<Awaited<ReturnType<typeof instrumentsOf>>, 'live' | 'sofar'>} instruments
 * @returns {(moment: unknown, line: any) => Partial<Snapshot>}
 */
export const shownBy = (instruments) => (_, line) => {
  const { lost, reading } = instruments.live(line)
  const found = sectionOf(instruments.sofar, 'verify')
  return {
    achievedRate: line.items_per_s,
    lost: { wrong: wrongIn(found), ...lost },
    reading: { ...reading, checked: found.checked },
  }
}

/**
 * How each second is written and shown.
 * @param {ReaderRun} run
 * @param {{ driver: ReadDriver, clocks: RunClock, uniqueness: ReturnType<typeof uniquenessOf> | null }} reading
 * @param {Awaited<ReturnType<typeof instrumentsOf>>} instruments
 */
const secondsOf = ({ plan, results, joined, frame }, { driver, clocks, uniqueness }, instruments) => ({
  time: clocks,
  watch: driver.watch,
  totalMs: plan.durationMs,
  moment: momentsOf(frame.elapsed),
  ask: async () => uniqueness?.sample(),
  line: (/** @type {unknown} */ _, /** @type {Amounts} */ line) => line,
  shown: shownBy(instruments),
  /** @param {number} fromMs */
  writeFrom: (fromMs) => (/** @type {Line} */ line) => {
    results.interval(line)
    if (!joined) return
    const { nodes, ...second } = line
    const { fleet } = joined
    const times = { at_ms: line.at_ms + fromMs, epoch_ms: Math.round(fleet.clock.now()) }
    fleet.second({ ...second, ...times, kind: 'consumer' })
  },
})

/** Counts items beside the fetches, where that was asked for. @param {ReaderRun} run @param {ReadDriver} driver @param {() => number} now */
const countingOf = ({ plan, announcements }, driver, now) =>
  plan.count
    ? uniquenessOf({ counters: countersOf(plan), announcements, ask: numberFrom(driver), now })
    : null

/** @param {ReaderRun} run */
export const openFetches = async (run) => {
  const { plan, target, joined = null, frame, undo, stop } = run
  const { clock, elapsed, journal } = frame
  const reader = strategyOf(plan).reader()

  if (plan.reads === 'nearest') await target.measureTrips()
  const driver = await openDriver({ plan, target, machine: machineWith(clock), onEvent: journal.event })
  undo(driver.close)
  run.say(readsWords(plan, driver, target.topology.masters))
  if (plan.mode === 'script')
    await Promise.all(driver.servers().map((address) => target.loadScripts(address, [fetchScript])))
  const clocks = await watchedClocks({
    target,
    warn: run.warn,
    servers: driver.servers,
    effect: clockEffect,
  })
  const planNow = () => clocks.at(driver.serverOf(plan.sets[0], 0))

  const verifying = verifierOf(run, { driver, reader, clocks, planNow })
  const { watch, verifier, inspector, liveShare } = verifying
  undo(watch.stop)
  const uniqueness = countingOf(run, driver, planNow)
  const instruments = await frame.measure('readers', {
    plan,
    target,
    verifier,
    // In a fleet, a writer samples the nodes.
    ...(joined && { sampler: null, shared: sharedBy(joined) }),
  })
  const fetching = {
    plan,
    fetcher: (/** @type {number} */ consumer) =>
      fetcherOf({ plan, reader, driver, clock, nowAt: clocks.at, inspector }, consumer),
    clock,
    events: {
      onFetched: (/** @type {number} */ _, /** @type {Fetched} */ fetched) => {
        instruments.count('fetched', fetched)
        if (plan.values || reader.dated) liveShare.fetched(fetched)
      },
      onOverrun: (/** @type {number} */ _, /** @type {number} */ deadlines) =>
        instruments.count('overrun', deadlines),
    },
  }
  const course = run.conductor ? courseFetching({ ...fetching, conductor: run.conductor }) : null
  const reading = course ?? consumersOf(fetching)
  frame.hang(reading)
  let [fromMs, durationS] = [0, 0]
  const { writeFrom, ...seconds } = secondsOf(run, { driver, clocks, uniqueness }, instruments)
  return {
    conducted: course && conductedOf(course),
    /** When, epoch. */
    async begin() {
      if (joined) fromMs = await joinedAt(joined, stop)
      await instruments.start()
      await instruments.startWindow()
      watch.start()
      const startedEpochMs = frame.begin({ ...seconds, write: writeFrom(fromMs) }, reading.start)
      if (joined) endWith(joined, reading.stop)
      return startedEpochMs
    },
    async drained(/** @type {boolean} */ whole) {
      durationS = elapsed() / 1000
      // A fetch that has not ended by now counts as failed, so that the run is not valid.
      if (!whole && !stop.aborted)
        for (let left = reading.busy(); left > 0; left--)
          instruments.count('failed', driver.hasOverdue?.() ? 'UNANSWERED' : 'UNSETTLED')
      if (verifier && whole && !run.stopNow.aborted) {
        const atOnce = new Promise((resolve) =>
          run.stopNow.addEventListener('abort', resolve, { once: true }),
        )
        await atMost(patienceMs(stop, verifyLimitMs), Promise.race([verifier.settle(), atOnce]))
      }
      watch.stop()
    },
    /** Under the names of run.json. @param {number} startedEpochMs @param {{ interrupted: boolean }} ending */
    result: (startedEpochMs, { interrupted }) => ({
      /** @type {'consumer'} */
      kind: 'consumer',
      startedEpochMs,
      durationS,
      interrupted,
      plan,
      writing: run.announced,
      consumers: plan.agents.length * plan.consumers,
      clocks: clocks.figures(),
      live: liveShare.summary(),
      uniqueness: uniqueness?.rows() ?? null,
      reads: driver.figures(),
      commands: {
        master: commandsOfRole(instruments.sofar.nodes, 'master'),
        replica: commandsOfRole(instruments.sofar.nodes, 'replica'),
      },
      events: journal.events,
      ...instruments.result({ stored: 0, overS: durationS }),
      ...(joined && { own: { fromMs, measured: instruments.own() } }),
    }),
  }
}
