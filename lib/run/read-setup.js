// What a run of consumers is put together of before its first fetch: the driver, the clocks of the servers, who
// judges what is read, and everything that watches.

import { several } from '../base/units.js'
import { clocksOf, steadyClock } from '../measure/clocks.js'
import { fetchesOf } from '../measure/fetches.js'
import { judgeOf } from '../measure/judge.js'
import { series } from '../measure/latency.js'
import { liveShareOf } from '../measure/live-share.js'
import { replicationDelay } from '../measure/replication-delay.js'
import { countersOf, uniquenessOf } from '../measure/uniqueness.js'
import { freshness } from '../measures/freshness.js'
import { instrumentsOf, ofReaders } from '../measures/index.js'
import { fetchScript } from '../target/scripts.js'
import { socketReadDriver } from '../transport/read-socket.js'
import { strategyOf } from '../workloads/of-plan.js'
import { consumersOf } from './consumers.js'
import { dataWatch } from './data-watch.js'
import { endUnconfirmed } from './end-unconfirmed.js'
import { fetcherOf } from './fetch.js'
import { journalOf } from './journal.js'
import { planWatch } from './plan-watch.js'
import { masterReader, numberFrom } from './read-asks.js'
import { commandsByRole, everyReadSecond } from './read-second.js'
import { samplerOf } from './second.js'
import { sleep } from './settlement.js'

/**
 * @typedef {import('../plan/read-plan.js').ReadPlan} ReadPlan
 * @typedef {import('../plan/plan-card.js').PlanCard} PlanCard
 * @typedef {import('../target/open.js').Target} Target
 * @typedef {import('../transport/read-driver.js').ReadDriver} ReadDriver
 * @typedef {ReturnType<typeof clocksOf>} Clocks
 *
 * @typedef {object} ReadNeeds
 * @property {ReadPlan} plan
 * @property {PlanCard | null} card
 * @property {readonly PlanCard[]} cards all that stand under the prefix
 * @property {() => Promise<readonly PlanCard[]>} readCards
 * @property {Target} target
 * @property {{ interval: (line: object) => void, event: (line: object) => void }} results
 * @property {(snapshot: import('../report/live.js').Snapshot) => void} show
 * @property {(kind: string, text: string) => void} onEvent
 * @property {(line: string) => void} say
 * @property {(warning: import('../result/ruling.js').Warning) => void} warn
 * @property {import('./fleet.js').Joined | null} [joined] of a fleet
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

/** @param {import('../transport/read-driver.js').ReadDriverOptions} options */
const openDriver = async (options) => {
  if (options.plan.driver !== 'ioredis') return socketReadDriver(options)
  const { ioredisReadDriver } = await import('../transport/read-ioredis.js')
  return ioredisReadDriver(options)
}

/**
 * The clocks of the servers that are read from, measured now and again.
 * @param {Target} target
 * @param {ReadDriver} driver
 * @param {(warning: import('../result/ruling.js').Warning) => void} warn
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
 * @param {{ driver: ReadDriver, reader: import('../workloads/bind-reader.js').Reader, clocks: Clocks, planNow: () => number }} reading
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
    inspect: (/** @type {import('../wire/id-list.js').IdList} */ list, /** @type {string} */ server) =>
      judging ? judge.inspect(list, server) : { value: nothing, nil: nothing },
  }
  return { watch, judge, inspector, liveShare }
}

/**
 * What watches the run: the client itself, every node, and how far the replicas are.
 * @param {Target} target
 * @param {() => number} clock
 * @param {() => number} elapsed
 * @param {(rows: import('../measure/node-sampler.js').NodeRow[]) => void} onRows
 */
const watchersOf = (target, clock, elapsed, onRows) => {
  const delays = series()
  const probe = replicationDelay({
    nodes: target.nodes,
    replication: async (address) => String(await target.control(address).call('INFO', 'replication')),
    clock,
    record: (_, delayMs) => delays.record(delayMs * 1000),
  })
  return { sampler: samplerOf(target, { elapsed, onRows }), probe, delays }
}

/** Of a fleet, one box samples the nodes, and one reader asks how far the replicas are. @param {ReturnType<typeof watchersOf>} watchers @param {import('./fleet.js').Joined} joined */
const sharedWatchers = ({ sampler, probe, delays }, { readers }) => ({
  delays,
  sampler: { ...sampler, sample: async () => [], mark: async () => [] },
  probe: readers.agents.includes(1) ? probe : { ...probe, start: nothing, stop: nothing },
})

/**
 * What was counted so far, for a fleet to add up.
 * @param {Pick<ReturnType<typeof fetchesOf>, 'whole' | 'failedBy'>} fetches
 * @param {ReturnType<typeof judgeOf> | null} judge
 * @returns {import('../fleet/interval.js').ReadSums}
 */
const sumsOf = ({ whole, failedBy }, judge) => ({
  fetches: { ...whole },
  failed_by: { ...failedBy },
  verify: judge && { ...judge.counts },
})

/** @param {ReadNeeds} needs */
export const setUpReading = async (needs) => {
  const { plan, card, cards, target, results, show, onEvent, say, warn, joined = null } = needs
  const clock = () => performance.now()
  const reader = strategyOf(plan).reader()
  const fetches = fetchesOf()
  let reading = /** @type {ReturnType<typeof consumersOf> | null} */ (null)
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
  const instruments = await instrumentsOf(ofReaders, { plan, clock })
  const all = watchersOf(target, clock, elapsed, data.look)
  const watchers = joined ? sharedWatchers(all, joined) : all
  reading = consumersOf({
    plan,
    fetcher: (consumer) => fetcherOf({ plan, reader, driver, consumer, clock, nowAt: clocks.now, inspector }),
    clock,
    events: {
      onFetched: (_, fetched) => {
        if (fetches.fetched(fetched)) instruments.of(freshness).fetched(fetched.ageMs)
        if (plan.values || reader.dated) liveShare.fetched(fetched)
      },
      onOverrun: (_, deadlines) => fetches.overrun(deadlines),
    },
  })
  endUnconfirmed(target, journal.note, warn, () => reading?.stop())
  const roles = commandsByRole()
  const whatIsRead = { plan, driver, fetches, uniqueness, roles, data, instruments, ...verifier, ...watchers }
  const sums = () => sumsOf(fetches, verifier.judge)
  let fromMs = 0
  const write = (/** @type {any} */ line) => {
    results.interval(line)
    if (!joined) return
    const { nodes, numbers, verify, ...second } = line
    const { fleet } = joined
    const times = { at_ms: line.at_ms + fromMs, epoch_ms: Math.round(fleet.clock.now()) }
    fleet.second({ ...second, ...times, kind: 'consumer', sums: sums() })
  }
  const second = everyReadSecond({ ...whatIsRead, elapsed, write, show })
  return {
    ...whatIsRead,
    ...{ card, clocks, reading, second, journal, sums },
    /** In a fleet: so long after the run's start. @param {number} ms */
    beginAt(ms) {
      fromMs = ms
    },
  }
}
