// What a run of consumers is put together of before its first fetch: the driver, the clocks of the servers, who
// judges what is read, and everything that watches.

import { several } from '../base/units.js'
import { clocksOf, steadyClock } from '../measure/clocks.js'
import { liveShareOf } from '../measure/live-share.js'
import { countersOf, uniquenessOf } from '../measure/uniqueness.js'
import { judgeOf } from '../measure/value-verifier.js'
import { fetches } from '../measures/fetches.js'
import { instrumentsOf, ofReaders } from '../measures/index.js'
import { fetchScript } from '../servers/scripts.js'
import { socketReadDriver } from '../transport/read-socket.js'
import { strategyOf } from '../workloads/strategy-of-plan.js'
import { consumersOf } from './consumers.js'
import { courseFetching } from './course-fetching.js'
import { dataWatch } from './data-loss.js'
import { endUnconfirmed } from './end-unconfirmed.js'
import { fetcherOf } from './fetch.js'
import { journalOf } from './journal.js'
import { planWatch } from './plan-watch.js'
import { masterReader, numberFrom } from './read-asks.js'
import { everyReadSecond } from './read-second.js'
import { samplerOf } from './second.js'
import { sleep } from './settlement.js'

/**
 * @import { Source } from '../measures/measure.js'
 * @import { PlanCard } from '../plan/plan-card.js'
 * @import { ReadPlan } from '../plan/read-plan.js'
 * @import { Snapshot } from '../report/live.js'
 * @import { Warning } from '../result/warnings.js'
 * @import { Target } from '../servers/open.js'
 * @import { ReadDriver, ReadDriverOptions } from '../transport/read-driver.js'
 * @import { IdList } from '../wire/id-list.js'
 * @import { Fetched } from './fetch.js'
 * @import { Reader } from '../workloads/bind-reader.js'
 * @import { Conductor } from './conductor.js'
 * @import { Joined } from './fleet.js'
 *
 * @typedef {ReturnType<typeof clocksOf>} Clocks
 *
 * @typedef {object} ReadNeeds
 * @property {ReadPlan} plan
 * @property {PlanCard | null} card
 * @property {readonly PlanCard[]} cards all that stand under the prefix
 * @property {() => Promise<readonly PlanCard[]>} readCards
 * @property {Target} target
 * @property {{ interval: (line: object) => void, event: (line: object) => void }} results
 * @property {(snapshot: Snapshot) => void} show
 * @property {(kind: string, text: string) => void} onEvent
 * @property {(line: string) => void} say
 * @property {(warning: Warning) => void} warn
 * @property {Joined | null} [joined] of a fleet
 * @property {Conductor} [conductor] decides at which rates is fetched
 *
 * @typedef {Awaited<ReturnType<typeof setUpReading>>} ReadRun
 */

const clockEveryMs = 10_000
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

/**
 * The clocks of the servers that are read from, measured now and again.
 * @param {Target} target
 * @param {ReadDriver} driver
 * @param {(warning: Warning) => void} warn
 */
const followClocks = async (target, driver, warn) => {
  const clocks = clocksOf({ time: target.time, epochMs: steadyClock().epochMs })
  /** @type {Set<string>} */
  const told = new Set()
  const look = async () => {
    await clocks.measure(driver.servers())
    for (const { address, byMs } of clocks.moved()) {
      if (told.has(address)) continue
      told.add(address)
      warn({
        code: 'clock-jump',
        message: `the clock of ${address} jumped by ${(byMs / 1000).toFixed(1)} s during the run: ages and cut-offs are wrong; repeat`,
      })
    }
  }
  await look()
  const timer = setInterval(look, clockEveryMs)
  return { ...clocks, stop: () => clearInterval(timer) }
}

/**
 * Who judges what is read, as long as the plan that it is judged by is the one being written.
 * @param {ReadNeeds} needs
 * @param {{ driver: ReadDriver, reader: Reader, clocks: Clocks, planNow: () => number }} reading
 */
const verifierOf = ({ plan, card, readCards, warn }, { driver, reader, clocks, planNow }) => {
  let judging = plan.verify
  const again = reader.value ?? reader.again ?? null
  const liveShare = liveShareOf({ card, limit: plan.limit, dated: reader.dated, now: planNow })
  const watch = planWatch({
    card,
    onLook: liveShare.looked,
    read: readCards,
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
  const judge = plan.verify
    ? judgeOf({
        plan,
        reader,
        nowAt: clocks.now,
        readAtMaster: again && masterReader(driver, again),
        wasRewritten: watch.wasRewritten,
        sleep,
      })
    : null
  const inspector = judge && {
    inspect: (/** @type {IdList} */ list, /** @type {string} */ server) =>
      judging ? judge.inspect(list, server) : { value: nothing, nil: nothing },
  }
  return { watch, judge, inspector, liveShare }
}

/** One reader of a fleet takes for all what one does. @param {Joined} joined */
const sharedBy =
  ({ readers }) =>
  (/** @type {Source} */ source) =>
    readers.agents.includes(1) ? source : { second: () => ({}), close: source.close }

/** @param {ReadNeeds} needs */
export const setUpReading = async (needs) => {
  const { plan, card, cards, target, results, show, onEvent, say, warn, joined = null, conductor } = needs
  const clock = () => performance.now()
  const reader = strategyOf(plan).reader()
  let reading = /** @type {ReturnType<typeof consumersOf> | ReturnType<typeof courseFetching> | null} */ (
    null
  )
  const elapsed = () => reading?.elapsed() ?? 0
  const journal = journalOf({ elapsed, write: results.event, tell: onEvent })

  const driver = await openDriver({ plan, target, clock, random: Math.random, onEvent: journal.event })
  say(readsWords(plan, driver, target.topology.masters))
  if (plan.mode === 'script')
    await Promise.all(driver.servers().map((address) => target.loadScripts(address, [fetchScript])))
  const clocks = await followClocks(target, driver, warn)
  const planNow = () => clocks.now(driver.serverOf(plan.sets[0], 0))

  const verifier = verifierOf(needs, { driver, reader, clocks, planNow })
  const { inspector, liveShare } = verifier
  const counted = () =>
    uniquenessOf({ counters: countersOf(plan), cards, ask: numberFrom(driver), now: planNow })
  const uniqueness = plan.count ? counted() : null
  const data = dataWatch({ target, elapsed, note: journal.note, warn })
  const instruments = await instrumentsOf(ofReaders, {
    ...{ plan, clock, elapsed, target, judge: verifier.judge },
    // Of a fleet, a writer samples the nodes.
    sampler: joined ? null : samplerOf(target, { elapsed, onRows: data.look }),
    shared: joined && sharedBy(joined),
  })
  const fetching = {
    plan,
    fetcher: (/** @type {number} */ consumer) =>
      fetcherOf({ plan, reader, driver, consumer, clock, nowAt: clocks.now, inspector }),
    clock,
    events: {
      onFetched: (/** @type {number} */ _, /** @type {Fetched} */ fetched) => {
        instruments.of(fetches).fetched(fetched)
        if (plan.values || reader.dated) liveShare.fetched(fetched)
      },
      onOverrun: (/** @type {number} */ _, /** @type {number} */ deadlines) =>
        instruments.of(fetches).overrun(deadlines),
    },
  }
  const course = conductor ? courseFetching({ ...fetching, conductor }) : null
  reading = course ?? consumersOf(fetching)
  endUnconfirmed(target, journal.note, warn, () => reading?.stop())
  const whatIsRead = { plan, driver, uniqueness, data, instruments, ...verifier }
  let fromMs = 0
  const write = (/** @type {any} */ line) => {
    results.interval(line)
    if (!joined) return
    const { nodes, ...second } = line
    const { fleet } = joined
    const times = { at_ms: line.at_ms + fromMs, epoch_ms: Math.round(fleet.clock.now()) }
    fleet.second({ ...second, ...times, kind: 'consumer' })
  }
  const second = everyReadSecond({ ...whatIsRead, elapsed, write, show })
  return {
    ...whatIsRead,
    ...{ card, clocks, reading, course, second, journal },
    /** In a fleet: so long after the run's start. @param {number} ms */
    beginAt(ms) {
      fromMs = ms
    },
  }
}
