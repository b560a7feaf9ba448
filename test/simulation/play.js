// Plays a plan's ticks on a simulated cluster that breaks as its seed says, and gives back what the ledger counted
// beside what the servers executed. What is under test is handed in: `openDriver`.

import { TargetError } from '../../lib/base/errors.js'
import { chunkRange } from '../../lib/base/ranges.js'
import { ticksWriter } from '../../lib/loads/ticks/writer.js'
import { ledgerOf } from '../../lib/measure/ledger.js'
import { isScheduled } from '../../lib/plan/pacer.js'
import { endpointOf } from '../../lib/servers/address.js'
import { confirmedServersOf } from '../../lib/servers/confirmed-servers.js'
import { dial } from '../../lib/servers/dial.js'
import { storeScripts } from '../../lib/servers/scripts.js'
import { reconnectsOf } from '../../lib/transport/reconnects.js'
import { chunkId } from '../../lib/transport/tick-batches.js'
import { isStrategy } from '../../lib/workloads/index.js'
import { scriptSha } from '../../lib/workloads/lua.js'
import { eachStep, gatherStep } from '../../lib/workloads/step.js'
import { strategyOf } from '../../lib/workloads/strategy-of-plan.js'
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { virtualClock } from './clock.js'
import { simulatedCluster } from './cluster.js'
import { drawFaults, playFault } from './faults.js'

/**
 * @typedef {import('../../lib/transport/socket.js').DriverOptions} DriverOptions
 * @typedef {import('./faults.js').Fault} Fault
 * @typedef {Awaited<ReturnType<typeof play>>} Played
 *
 * @typedef {object} TickPlayed
 * @property {number} agent
 * @property {number} chunk
 * @property {number} dueMs after the start
 * @property {number} first
 * @property {number} count
 * @property {number} stamp
 * @property {import('../../lib/measure/ledger.js').Account} account
 * @property {number} closed how often
 * @property {import('../../lib/transport/connection.js').Tick} [tick] none: it was dropped as a whole
 * @property {(import('../../lib/measure/ledger.js').Loss | undefined)[]} lost each item's worst outcome; undefined: acked
 */

const epochMs = 1_700_000_000_000
const faultsToMs = 4000
const recoveryMs = 4700
// As fast as it can: a shorter run on slower servers.
const fastest = { durationMs: 1500, serviceMs: 1.5 }
const settleMs = 20_000
const longestMs = 60_000
const outcomes = ['acked', 'failed', 'uncertain', 'dropped', 'unsettled']

const score = Object.freeze({ hole: /** @type {const} */ ('score'), width: 13 })

/** @type {Record<string, () => import('../../lib/workloads/step.js').Step[]>} steps that must not be repeated */
const careful = {
  // Each item to a list of its own: a repeat would show.
  appends: () => [eachStep((n) => ['RPUSH', `item:${n}`, score], { repeatable: false })],
  // Several items in a command.
  gathers: () => [
    eachStep((n) => ['SETEX', `item:${n}`, 60, score]),
    gatherStep(
      5,
      (n) => `list:${n % 9}`,
      (key, ns) => ['RPUSH', key, ...ns.flatMap((n) => [`item:${n}`, score])],
      { repeatable: false },
    ),
  ],
}

/** @param {import('../helpers/random.js').Random} random */
const drawPlan = (random) => {
  const cluster = random.chance(0.8)
  const masters = cluster ? 1 + random.below(4) : 1
  const name = random.pick([
    'sorted-set',
    'sorted-set',
    'set',
    'hash',
    'list',
    'stream',
    'script-item',
    'appends',
    'gathers',
  ])
  const totalAgents = 1 + random.below(3)
  const agents = random.chance(0.7)
    ? Array.from({ length: totalAgents }, (_, a) => a + 1)
    : [1 + random.below(totalAgents)]
  const scripted = name === 'script-item'
  const chunks = 1 + random.below(4)
  const pacing = random.pick(['scheduled', 'scheduled', 'scheduled', 'scheduled', 'max', 'closed'])
  const maxBehindMs = random.pick([1000, 2000, 4000])
  const plan = samplePlan(
    {
      strategy: /** @type {any} */ (isStrategy(name) ? name : 'sorted-set'),
      quantity: totalAgents * chunks * (1 + random.below(8)),
      totalAgents,
      chunks,
      periodMs: chunks * random.pick([150, 300, 500]),
      sortedSets: scripted ? Math.max(2, masters) : 1 + random.below(3),
      placement: scripted && cluster ? 'spread' : 'plain',
      stamp: true,
      // Now and then more than a write's worth for a slot.
      valueBytes: random.chance(name === 'stream' ? 0.5 : 0.1) ? 20_000 : 30,
      once: random.chance(0.06),
      maxMembers: random.pick([1, 3, 1000]),
      windowBytes: random.pick([300, 3000, 512_000]),
      connections: random.pick([1, 2, 5]),
      ...(random.chance(0.3) && { pipeline: random.pick([1, 3, 50]) }),
      maxBehindMs,
      pacing: pacing === 'closed' ? 'closed' : 'open',
      ...(pacing === 'max' && { rate: /** @type {const} */ ('max') }),
      durationMs: faultsToMs + maxBehindMs + recoveryMs,
      ...(pacing === 'max' && { durationMs: fastest.durationMs }),
      ttlS: 60,
      cluster,
    },
    { cluster, masters, agents },
  )
  const serviceMs = pacing === 'max' ? fastest.serviceMs : 0.01
  return {
    plan,
    name,
    cluster,
    masters,
    // The run is ended while its last ticks are under way.
    isCutShort: random.chance(0.1),
    spares: random.below(3),
    serviceMs,
    faultsToMs: pacing === 'max' ? fastest.durationMs - 200 : faultsToMs,
    // Connections a second that are closed on purpose, and made anew.
    reconnectHz: random.chance(0.25) ? random.pick([1, 4, 15]) : null,
    /** Of what is begun together. */
    portionItems: random.pick([4096, 4096, 1, 3]),
  }
}

/**
 * The product's own rule of which servers may be used, and what it lets through nevertheless.
 * @param {import('./cluster.js').SimulatedCluster} cluster
 * @param {import('./clock.js').VirtualClock} clock
 * @param {() => void} stop
 */
export const watchedServers = (cluster, clock, stop) => {
  const confirmed = confirmedServersOf({ clock: clock.now })
  const ended = /** @type {string[]} */ ([])
  confirmed.checkWith(async (address) => {
    await new Promise((resolve) => clock.after(2, () => resolve(undefined)))
    const node = cluster.nodes.find((each) => each.address === address)
    if (!node?.up || node.silentUntilMs > clock.now()) throw new Error(`${address} does not answer`)
    if (node.foreign) throw new TargetError(`${address} holds keys of others`, { code: 'FOREIGN' })
  })
  confirmed.endWith((reason) => {
    ended.push(reason)
    stop()
  })
  /** @param {import('./cluster.js').Told} told */
  const layoutOf = ({ masters, owners, others }) => ({
    masters: [...masters],
    owners,
    nodes: masters.map((address) => ({
      address,
      ...endpointOf(address),
      role: /** @type {const} */ ('master'),
      shard: 1,
    })),
    others,
  })
  return { confirmed, layoutOf, ended, unconfirmed: /** @type {string[]} */ ([]) }
}

/**
 * When the next tick of an agent's chunk was due, however long it has waited; null without a schedule. The ticks of a chunk
 * are opened in their order.
 * @param {ReturnType<typeof drawPlan>['plan']} plan
 */
const duesOf = ({ agents, chunks, spacingMs, quantity, ...plan }) => {
  /** @type {Map<string, number>} */
  const next = new Map()
  for (const agent of agents)
    for (let k = 0; k < chunks; k++) next.set(`${agent.agent} ${chunkRange(agent, chunks, k).first}`, k)
  return (/** @type {number} */ agent, /** @type {number} */ first) => {
    if (!isScheduled(plan)) return null
    const part = `${agent} ${((first - 1) % quantity) + 1}`
    const i = next.get(part) ?? 0
    next.set(part, i + chunks)
    return i * spacingMs
  }
}

/** @param {ReturnType<typeof drawPlan>['plan']} plan @param {() => number} elapsed */
const watchedLedger = (plan, elapsed) => {
  const ledger = ledgerOf(plan)
  const dueOf = duesOf(plan)
  /** @type {TickPlayed[]} */
  const ticks = []
  const byAccount = new Map()
  /** @type {string[]} */
  const problems = []
  return {
    ticks,
    problems,
    /** @type {typeof ledger} */
    ledger: {
      ...ledger,
      open(tick, onClosed = null) {
        const account = ledger.open(tick, (closing) => {
          played.closed++
          onClosed?.(closing)
        })
        const { agent, first, count } = tick
        /** @type {TickPlayed} */
        const played = {
          agent,
          first,
          count,
          account,
          chunk: -1,
          dueMs: dueOf(agent, first) ?? elapsed(),
          stamp: 0,
          closed: 0,
          lost: [],
        }
        byAccount.set(account, played)
        ticks.push(played)
        return account
      },
      lose(account, batch, from, to, outcome, cause) {
        const { lost, first, tick, dueMs } = byAccount.get(account)
        const behindMs = elapsed() - dueMs
        if (outcome === 'dropped' && tick?.firstMs === null && behindMs < plan.maxBehindMs - 1)
          problems.push(`a tick that was not begun is dropped ${behindMs.toFixed()} ms after it was due`)
        for (let m = batch.from[from]; m < batch.from[to]; m++) {
          const i = batch.members[m] + batch.first - first
          if (outcomes.indexOf(outcome) > outcomes.indexOf(lost[i] ?? 'acked')) lost[i] = outcome
        }
        ledger.lose(account, batch, from, to, outcome, cause)
      },
      skipPart(account, batch) {
        const { lost, first } = byAccount.get(account)
        for (const member of batch.members) lost[member + batch.first - first] ??= 'dropped'
        ledger.skipPart(account, batch)
      },
      skip(account) {
        byAccount.get(account).lost.push(...Array(account.count).fill('dropped'))
        ledger.skip(account)
      },
    },
    /** @param {import('../../lib/transport/connection.js').Tick} tick */
    offered(tick) {
      const { account, chunk, values } = tick
      Object.assign(byAccount.get(account), { tick, chunk, stamp: Number(values.score) })
    },
  }
}

/**
 * @param {object} scene
 * @param {number} scene.seed
 * @param {number[]} [scene.keep] which of the seed's faults are played; all of them
 * @param {(options: DriverOptions) => Promise<any>} scene.openDriver
 * @param {ReturnType<typeof drawPlan> & { faults: Fault[] }} [scene.given] instead of what the seed draws
 */
export const play = async ({ seed, keep, openDriver, given }) => {
  const drawn = given ?? drawPlan(seeded(seed))
  const { plan, name, masters } = drawn
  const drawnFaults = () =>
    drawFaults(seeded(seed + 0x5eed), { ...drawn, fromMs: 100, toMs: drawn.faultsToMs })
  const faults = (given?.faults ?? drawnFaults()).filter((_, i) => !keep || keep.includes(i))
  const random = seeded(seed + 0xc1)
  const clock = virtualClock({ random })
  const cluster = simulatedCluster({ clock, random, ...drawn })
  const scripts = storeScripts.map(scriptSha)
  const steps = careful[name]?.() ?? strategyOf(plan).steps()
  let writing = /** @type {ReturnType<typeof ticksWriter> | null} */ (null)
  const { ledger, ticks, offered, problems } = watchedLedger(plan, () => writing?.elapsed() ?? 0)
  const recorded = { items: 0, problems, longestMs: 0, serviceMs: /** @type {number[]} */ ([]) }
  const initial = cluster.topology()
  const { confirmed, layoutOf, unconfirmed, ended } = watchedServers(cluster, clock, () => writing?.stop())
  confirmed.begin(layoutOf(initial))
  /** @type {DriverOptions} */
  const options = {
    plan,
    steps,
    portionItems: drawn.portionItems,
    ledger,
    clock: clock.now,
    random: random.next,
    timers: clock.timers,
    onEvent: () => {},
    onBegun: () => {},
    onProgress: () => writing?.progress(),
    latency: {
      record: (dueMs, sentMs, doneMs, items) => {
        recorded.items += items
        recorded.serviceMs.push(doneMs - sentMs)
        recorded.longestMs = Math.max(recorded.longestMs, doneMs - dueMs)
        if (!(dueMs <= sentMs + 1e-6 && sentMs <= doneMs))
          recorded.problems.push(`due ${dueMs}, sent ${sentMs}, answered ${doneMs}`)
      },
    },
    target: {
      topology: initial,
      access: {},
      dial: (address, events) => {
        if (!confirmed.isAdmitted(address)) unconfirmed.push(address)
        return dial(endpointOf(address), {}, { ...events, connect: /** @type {any} */ (cluster.connect) })
      },
      refresh: async () => {
        const told = await cluster.refresh()
        await confirmed.review(layoutOf(told))
        return told
      },
      follows: confirmed.follows,
      loadScripts: (address) => cluster.loadScripts(address, scripts),
    },
  }
  for (const node of cluster.nodes) for (const script of scripts) node.scripts.add(script)

  const run = async () => {
    const driver = await openDriver(options)
    /** @param {import('../../lib/transport/connection.js').Tick} tick @param {number} portion */
    const offer = (tick, portion) => {
      offered(tick)
      driver.offer(tick, portion)
    }
    // A millisecond apart at least, so that a stamp names a tick.
    let lastMs = 0
    const epoch = () => {
      lastMs = Math.max(lastMs + 1, epochMs + Math.floor(clock.now()))
      return lastMs
    }
    writing = ticksWriter({
      plan,
      driver: { ...driver, offer },
      ledger,
      clock: clock.now,
      epochMs: epoch,
      timers: clock.timers,
    })
    for (const fault of faults)
      clock.after(fault.atMs, () => playFault(fault, { clock, random, cluster, masters }), true)
    let over = false
    let mostWaiting = 0
    const second = () => {
      if (over) return
      driver.watch()
      mostWaiting = Math.max(mostWaiting, driver.waitingBytes())
      clock.after(1000, second)
    }
    clock.after(1000, second)
    const reconnects = reconnectsOf({
      hz: drawn.reconnectHz,
      renew: driver.renew,
      clock: clock.now,
      timers: clock.timers,
    })
    reconnects.start()
    writing.start()
    if (drawn.isCutShort) clock.after(drawn.faultsToMs / 2, () => writing?.stop())
    await writing.offered
    reconnects.stop()
    const whole = await writing.settle(drawn.isCutShort ? 0 : settleMs, new AbortController().signal)
    if (!whole) driver.abandon()
    over = true
    driver.close()
    return { whole, mostWaiting }
  }
  const { whole, mostWaiting } = await clock.runUntil(run(), longestMs)
  return {
    seed,
    plan,
    name,
    steps,
    faults,
    ledger,
    ticks,
    whole,
    isCutShort: drawn.isCutShort || ended.length > 0,
    unconfirmed,
    ended,
    misled: cluster.nodes.filter(({ foreign }) => foreign).map(({ address }) => address),
    mostWaiting,
    recorded,
    chunkOf: (/** @type {number} */ agentIndex, /** @type {number} */ k) => chunkId(plan, agentIndex, k),
    executed: cluster.executed,
    mostOpen: cluster.mostOpen(),
    mostUnanswered: cluster.mostUnanswered(),
    lastFaultMs: Math.max(0, ...faults.map(({ atMs, forMs }) => atMs + forMs)),
    endMs: clock.now(),
    events: clock.events(),
  }
}
