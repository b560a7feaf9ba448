// One run of consumers: everything is put together, started, watched, ended and summed up.
import { socketReadDriver } from '../drivers/read-socket.js'
import { clientHealth } from '../measure/client-health.js'
import { clocksOf } from '../measure/clocks.js'
import { fetchesOf } from '../measure/fetches.js'
import { judgeOf } from '../measure/judge.js'
import { series } from '../measure/latency.js'
import { nodeSampler } from '../measure/node-sampler.js'
import { replicationDelay } from '../measure/replication-delay.js'
import { countersOf, uniquenessOf } from '../measure/uniqueness.js'
import { readContextOf } from '../readers/context.js'
import { get } from '../readers/declare.js'
import { readerOf } from '../readers/index.js'
import { several } from '../report/units.js'
import { consumersOf } from './consumers.js'
import { fetcherOf } from './fetch.js'
import { planWatch } from './plan-watch.js'
import { commandsByRole, everyReadSecond } from './read-second.js'

/**
 * @typedef {import('../plan/read-plan.js').ReadPlan} ReadPlan
 * @typedef {import('../plan/plan-card.js').PlanCard} PlanCard
 * @typedef {import('../target/open.js').Target} Target
 * @typedef {import('../drivers/read-socket.js').ReadDriver} ReadDriver
 */

const settleLimitMs = 10_000
const interruptedLimitMs = 3000
const clockEveryMs = 10_000
const nothing = () => {}

const sleep = (/** @type {number} */ ms) =>
  new Promise((/** @type {(value: void) => void} */ resolve) => setTimeout(resolve, ms))

/** @param {ReadPlan} plan */
const openDriver = async (plan) =>
  plan.driver === 'ioredis'
    ? (await import('../drivers/read-ioredis.js')).ioredisReadDriver
    : socketReadDriver

/** Where the reads go, in one line. @param {ReadPlan} plan @param {ReadDriver} driver @param {readonly string[]} masters */
const readsWords = (plan, driver, masters) => {
  const servers = driver.servers()
  const bare = driver.bare()
  if (bare.length === masters.length && plan.reads === 'replica')
    return `reads from ${several(masters.length, 'master')}: there ${masters.length === 1 ? 'is' : 'are'} no replica${masters.length === 1 ? '' : 's'}`
  const without =
    bare.length > 0 ? `; ${several(bare.length, 'shard')} without a replica, read from the master` : ''
  const what = plan.reads === 'any' ? 'node' : plan.reads
  return `reads from ${several(servers.length, what)}${without}`
}

/** One reply as a number, 0 where there is none. @param {ReadDriver} driver */
const numberFrom = (driver) => async (/** @type {string[]} */ args) => {
  let found = 0
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

/** The value of an id on its master, or null. @param {ReadDriver} driver @param {import('../readers/declare.js').ValueCommand} command */
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
 * @param {object} needs
 * @param {ReadPlan} needs.plan
 * @param {PlanCard | null} needs.card
 * @param {readonly PlanCard[]} needs.cards all that stand under the prefix
 * @param {() => Promise<readonly PlanCard[]>} needs.readCards
 * @param {Target} needs.target
 * @param {{ interval: (line: object) => void, event: (line: object) => void }} needs.results
 * @param {(snapshot: import('../report/fetch-live.js').FetchSnapshot) => void} needs.show
 * @param {(kind: string, text: string) => void} needs.onEvent
 * @param {(line: string) => void} needs.say
 * @param {(warning: import('../report/verdict.js').Warning) => void} needs.warn
 * @param {AbortSignal} needs.stop
 * @param {AbortSignal} needs.stopNow
 */
export const readRun = async ({
  plan,
  card,
  cards,
  readCards,
  target,
  results,
  show,
  onEvent,
  say,
  warn,
  stop,
  stopNow,
}) => {
  const clock = () => performance.now()
  const reader = readerOf(readContextOf(plan))
  const fetches = fetchesOf()
  const delays = series()
  /** @type {Record<string, number>} */
  const delayMax = {}
  /** @type {{ at_ms: number, kind: string, text: string }[]} */
  const events = []
  let reading = /** @type {ReturnType<typeof consumersOf> | null} */ (null)
  const elapsed = () => reading?.elapsed() ?? 0
  const event = (/** @type {string} */ kind, /** @type {string} */ text) => {
    const entry = { at_ms: Math.round(elapsed()), kind, text }
    events.push(entry)
    results.event(entry)
    onEvent(kind, text)
  }

  const driver = await (await openDriver(plan))({ plan, target, clock, random: Math.random, onEvent: event })
  say(readsWords(plan, driver, target.topology.masters))
  if (plan.mode === 'script')
    await Promise.all(driver.servers().map((address) => target.loadScripts(address, ['fetch-latest-items'])))

  const clocks = clocksOf({
    time: async (address) => /** @type {any} */ (await target.control(address).time()),
    epochMs: () => performance.timeOrigin + performance.now(),
  })
  await clocks.measure(driver.servers())
  const clockTimer = setInterval(() => clocks.measure(driver.servers()), clockEveryMs)
  const setServer = () => driver.serverOf(plan.sets[0], 0)

  let judging = plan.verify
  const watch = planWatch({
    card,
    read: readCards,
    now: () => clocks.now(setServer()),
    onChanged: () => {
      judging = false
      warn({
        code: 'plan-changed',
        message:
          'another plan is being written under this prefix since: what was read after that is not verified',
        invalidates: plan.verify,
      })
    },
    sleep,
  })
  const judge = plan.verify
    ? judgeOf({
        plan,
        reader,
        nowAt: clocks.now,
        readAtMaster: masterReader(driver, reader.value ?? get),
        wasRewritten: watch.wasRewritten,
        sleep,
      })
    : null
  const inspector = judge && {
    inspect: (/** @type {import('../wire/id-list.js').IdList} */ list, /** @type {string} */ server) =>
      judging ? judge.inspect(list, server) : { value: nothing, nil: nothing },
  }
  const uniqueness = plan.count
    ? uniquenessOf({
        counters: countersOf(plan),
        cards,
        ask: numberFrom(driver),
        now: () => clocks.now(setServer()),
      })
    : null

  const health = clientHealth({ clock })
  const sampler = nodeSampler({ nodes: target.nodes, info: target.info, clock: elapsed })
  const probe = replicationDelay({
    nodes: target.nodes,
    replication: async (address) => String(await target.control(address).call('INFO', 'replication')),
    clock,
    record: (replica, delayMs) => {
      delays.record(delayMs * 1000)
      delayMax[replica] = Math.max(delayMax[replica] ?? 0, delayMs)
    },
  })
  reading = consumersOf({
    plan,
    fetcher: (consumer) => fetcherOf({ plan, reader, driver, consumer, clock, nowAt: clocks.now, inspector }),
    clock,
    events: {
      onFetched: (_, fetched) => fetches.fetched(fetched),
      onOverrun: (_, deadlines) => fetches.overrun(deadlines),
    },
  })
  const roles = commandsByRole()
  const second = everyReadSecond({
    plan,
    fetches,
    judge,
    uniqueness,
    health,
    sampler,
    roles,
    driver,
    elapsed,
    write: results.interval,
    show,
  })

  await sampler.mark()
  health.startWindow()
  const startedEpochMs = Date.now()
  watch.start()
  probe.start()
  reading.start()
  second.start()
  const interrupt = () => reading?.stop()
  stop.addEventListener('abort', interrupt)
  if (stop.aborted) interrupt()
  await reading.over
  const settled = await reading.settle(stop.aborted ? interruptedLimitMs : settleLimitMs, stopNow)
  stop.removeEventListener('abort', interrupt)
  const durationMs = elapsed()
  const client = health.summary()
  if (judge && settled)
    await Promise.race([judge.settle(), sleep(stop.aborted ? interruptedLimitMs : 30_000)])
  watch.stop()
  probe.stop()
  await second.stop()
  clearInterval(clockTimer)
  const { nodes } = sampler.summary()
  const reads = driver.figures()
  driver.close()
  health.stop()
  const parts = {
    startedEpochMs,
    durationS: durationMs / 1000,
    interrupted: stop.aborted,
    settled,
    plan,
    writing: card,
    fetches: { counts: { ...fetches.whole, failed_by: fetches.failedBy }, summary: fetches.summary() },
    consumers: plan.agents.length * plan.consumers,
    replication: { whole: delays.whole(), by_replica: delayMax },
    clocks: clocks.figures(),
    verify: judge && { ...judge.counts, examples: judge.examples },
    uniqueness: uniqueness?.rows() ?? null,
    reads,
    commands: roles.sums,
    client,
    nodes,
    events,
  }
  fetches.close()
  delays.close()
  return parts
}

/** @typedef {Awaited<ReturnType<typeof readRun>>} ReadParts */
