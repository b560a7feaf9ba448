// What a run of consumers is put together of before its first fetch: the driver, the clocks of the servers, who
// judges what is read, and everything that watches.

import { sleep } from '../base/settlement.js'
import { several } from '../base/units.js'
import { consumersOf } from '../loads/fetches/consumers.js'
import { courseFetching } from '../loads/fetches/course-fetching.js'
import { fetcherOf } from '../loads/fetches/fetch.js'
import { liveShareOf } from '../measure/live-share.js'
import { countersOf, uniquenessOf } from '../measure/uniqueness.js'
import { valueVerifierOf } from '../measure/value-verifier.js'
import { sectionOf } from '../measures/fold.js'
import { ofReaders } from '../measures/index.js'
import { fetchScript } from '../servers/scripts.js'
import { socketReadDriver } from '../transport/read-socket.js'
import { strategyOf } from '../workloads/strategy-of-plan.js'
import { watchedClocks } from './clock.js'
import { frameOf } from './frame.js'
import { planWatch } from './plan-watch.js'
import { momentsOf } from './second.js'

/**
 * @import { Source } from '../measures/measure.js'
 * @import { AnnouncedPlan } from '../plan/announced-plan.js'
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { ReadDriver, ReadDriverOptions } from '../transport/read-driver.js'
 * @import { IdList } from '../wire/id-list.js'
 * @import { Fetched } from '../loads/fetches/fetch.js'
 * @import { Reader } from '../workloads/bind/reader.js'
 * @import { ValueCommand } from '../workloads/declare.js'
 * @import { RunClock } from './clock.js'
 * @import { Conductor } from './conductor.js'
 * @import { FrameNeeds, Undo } from './frame.js'
 * @import { Joined } from './fleet.js'
 *
 * @typedef {FrameNeeds & OfReaders} ReadNeeds
 * @typedef {object} OfReaders
 * @property {ReadPlan} plan
 * @property {AnnouncedPlan | null} announced
 * @property {readonly AnnouncedPlan[]} announcements all that are under the prefix
 * @property {() => Promise<readonly AnnouncedPlan[]>} readAnnouncements
 * @property {(warning: Warning) => void} warn
 * @property {Joined | null} [joined] of a fleet
 * @property {Conductor} [conductor] decides at which rates is fetched
 *
 * @typedef {Awaited<ReturnType<typeof setUpReading>>} ReadRun
 */

const nothing = () => {}

/** Where the reads go, in one line. @param {ReadPlan} plan @param {ReadDriver} driver @param {readonly string[]} masters */
export const readsWords = (plan, driver, masters) => {
  const servers = driver.servers()
  const bare = driver.bare()
  if (bare.length === masters.length && plan.reads === 'replica')
    return `reads from ${several(masters.length, 'master')}: there ${masters.length === 1 ? 'is' : 'are'} no replica${masters.length === 1 ? '' : 's'}`
  const without =
    bare.length > 0 ? `; ${several(bare.length, 'shard')} without a replica, read from the master` : ''
  const what = plan.reads === 'any' ? 'node' : plan.reads
  return `reads from ${several(servers.length, what)}${without}`
}

/** @param {ReadDriverOptions} options */
const openDriver = async (options) => {
  if (options.plan.driver === 'socket') return socketReadDriver(options)
  const { libraryReadDriver } = await import('../transport/library-reader.js')
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

/** The value of an id on its master, or null. @param {ReadDriver} driver @param {ValueCommand} command */
const masterReader =
  (driver, command) =>
  async (/** @type {string} */ id, /** @type {(value: Buffer | null) => void} */ sink) => {
    await driver.askMaster([command.name, id, ...command.after], id, {
      open: nothing,
      number: nothing,
      error: nothing,
      bulk: (bytes, from, to) => sink(bytes.subarray(from, to)),
      nil: () => sink(null),
    })
  }

/**
 * Who judges what is read, as long as the plan that it is judged by is the one being written.
 * @param {ReadNeeds} needs
 * @param {{ driver: ReadDriver, reader: Reader, clocks: Pick<RunClock, 'at'>, planNow: () => number }} reading
 */
const verifierOf = ({ plan, announced, readAnnouncements, warn }, { driver, reader, clocks, planNow }) => {
  let judging = plan.verify
  const again = reader.value ?? reader.again ?? null
  const liveShare = liveShareOf({ announced, limit: plan.limit, dated: reader.dated, now: planNow })
  const watch = planWatch({
    announced,
    onLook: liveShare.looked,
    read: readAnnouncements,
    now: planNow,
    onChanged: () => {
      judging = false
      warn({
        code: 'plan-changed',
        message:
          'another plan has been written under this prefix since then: what was read after that is not verified',
        invalidates: plan.verify,
      })
    },
    onAppeared: ({ strategy }) => {
      const other = strategy !== plan.strategy
      if (!other && plan.knowsBytes) return
      warn({
        code: 'plan-appeared',
        message: `a writer of ${strategy} started after this consumer${other ? `, which reads ${plan.strategy}` : ''}; start the consumer again to read by the writer's plan`,
        invalidates: other || plan.verify,
      })
    },
    sleep,
  })
  const verifier = plan.verify
    ? valueVerifierOf({
        plan,
        reader,
        nowAt: clocks.at,
        readAtMaster: again && masterReader(driver, again),
        wasRewritten: watch.wasRewritten,
        sleep,
      })
    : null
  const inspector = verifier && {
    inspect: (/** @type {IdList} */ list, /** @type {string} */ server) =>
      judging ? verifier.inspect(list, server) : { value: nothing, nil: nothing },
  }
  return { watch, verifier, inspector, liveShare }
}

/** One reader of a fleet takes for all what one does. @param {Joined} joined */
const sharedBy =
  ({ readers }) =>
  (/** @type {Source} */ source) =>
    readers.agents.includes(1) ? source : { second: () => ({}), close: source.close }

/** @param {Record<string, number>} verified */
const wrongIn = ({ missing = 0, corrupt = 0, unexpected = 0, stale = 0 }) =>
  missing + corrupt + unexpected + stale

/** @param {ReadNeeds} needs @param {Undo} undo */
export const setUpReading = async (needs, undo) => {
  const { plan, announced, announcements, target, results, say, warn, joined = null, conductor } = needs
  const frame = frameOf(needs, undo)
  const { clock, elapsed, journal } = frame
  const reader = strategyOf(plan).reader()

  const driver = await openDriver({ plan, target, clock, random: Math.random, onEvent: journal.event })
  undo(driver.close)
  say(readsWords(plan, driver, target.topology.masters))
  if (plan.mode === 'script')
    await Promise.all(driver.servers().map((address) => target.loadScripts(address, [fetchScript])))
  const clocks = await watchedClocks({
    ...{ target, warn, servers: driver.servers },
    effect: 'ages and cut-offs are wrong',
  })
  const planNow = () => clocks.at(driver.serverOf(plan.sets[0], 0))

  const verifying = verifierOf(needs, { driver, reader, clocks, planNow })
  undo(verifying.watch.stop)
  const { verifier, inspector, liveShare } = verifying
  const uniqueness = plan.count
    ? uniquenessOf({ counters: countersOf(plan), announcements, ask: numberFrom(driver), now: planNow })
    : null
  const instruments = await frame.measure(ofReaders, {
    ...{ plan, target, verifier },
    // In a fleet, a writer samples the nodes.
    ...(joined && { sampler: null, shared: sharedBy(joined) }),
  })
  const fetching = {
    plan,
    fetcher: (/** @type {number} */ consumer) =>
      fetcherOf({ plan, reader, driver, consumer, clock, nowAt: clocks.at, inspector }),
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
  const course = conductor ? courseFetching({ ...fetching, conductor }) : null
  const reading = course ?? consumersOf(fetching)
  frame.hang(reading)
  let fromMs = 0
  const write = (/** @type {any} */ line) => {
    results.interval(line)
    if (!joined) return
    const { nodes, ...second } = line
    const { fleet } = joined
    const times = { at_ms: line.at_ms + fromMs, epoch_ms: Math.round(fleet.clock.now()) }
    fleet.second({ ...second, ...times, kind: 'consumer' })
  }
  const seconds = {
    ...{ time: clocks, watch: driver.watch, totalMs: plan.durationMs, write },
    moment: momentsOf(elapsed),
    ask: async () => uniqueness?.sample(),
    line: (/** @type {any} */ _, /** @type {any} */ line) => line,
    shown: (/** @type {any} */ _, /** @type {any} */ line) => {
      const { lost, reading } = instruments.live(line)
      const found = sectionOf(instruments.sofar, 'verify')
      return {
        achievedRate: line.items_per_s,
        lost: { wrong: wrongIn(found), ...lost },
        reading: { ...reading, checked: found.checked },
      }
    },
  }
  return {
    ...{ plan, announced, driver, uniqueness, instruments, ...verifying },
    ...{ frame, clocks, reading, course, seconds, journal },
    /** In a fleet: so long after the run's start. @param {number} ms */
    beginAt(ms) {
      fromMs = ms
    },
  }
}
