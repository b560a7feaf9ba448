// Plays a plan's ticks on a simulated cluster that breaks as its seed says, and gives back what the ledger counted
// beside what the servers executed.
import { chunkRange } from '../../lib/base/ranges.js'
import { ticksWriter } from '../../lib/loads/ticks/writer.js'
import { ledgerOf } from '../../lib/probes/ledger.js'
import { reconnectsOf } from '../../lib/transport/reconnects.js'
import { socketDriver } from '../../lib/transport/socket-writer.js'
import { eachStep, gatherStep } from '../../lib/workloads/bind/writer.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { isStrategy } from '../../lib/workloads/index.js'
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { recordedLatencies, stageOf } from './stage.js'

/**
 * @import { Tick } from '../../lib/transport/send-queue.js'
 * @import { Account, Loss } from '../../lib/probes/ledger.js'
 * @import { Step } from '../../lib/workloads/bind/writer.js'
 * @import { Random } from '../helpers/random.js'
 * @import { Which } from './stage.js'
 * @import { Fault } from './faults.js'
 *
 * @typedef {Awaited<ReturnType<typeof play>>} Played
 *
 * @typedef {Record<'agent' | 'chunk' | 'dueMs' | 'first' | 'count' | 'stamp' | 'closed', number> & { account: Account, tick?: Tick, lost: (Loss | undefined)[] }} TickPlayed
 * dueMs: after the start; closed: how often; tick: none, it was dropped as a whole; lost: each item's worst outcome, undefined: acked
 */

const startMs = 1_700_000_000_000
const faultsToMs = 4000
const recoveryMs = 4700
// As fast as it can: a shorter run on slower servers.
const fastest = { durationMs: 1500, serviceMs: 1.5 }
const longestMs = 60_000
const outcomes = ['acked', 'failed', 'uncertain', 'dropped', 'unsettled']

const names = 'sorted-set sorted-set set hash list stream script-item appends gathers'.split(' ')
const score = Object.freeze({ hole: /** @type {const} */ ('score'), width: 13 })

/** @type {Record<string, () => Step[]>} steps that must not be repeated */
const careful = {
  // Each item to a list of its own: a repeat would show.
  appends: () => [eachStep((n) => ['RPUSH', `item:${n}`, score], { repeatable: false })],
  // Several items in a command.
  gathers: () => {
    /** @type {Parameters<typeof gatherStep>[2]} */
    const args = (key, ns) => ['RPUSH', key, ...ns.flatMap((n) => [`item:${n}`, score])]
    const gathered = gatherStep(5, (n) => `list:${n % 9}`, args, { repeatable: false })
    return [eachStep((n) => ['SETEX', `item:${n}`, 60, score]), gathered]
  },
}

const drawPlan = (/** @type {Random} */ random) => {
  const cluster = random.chance(0.8)
  const masters = cluster ? 1 + random.below(4) : 1
  const name = random.pick(names)
  const totalAgents = 1 + random.below(3)
  const all = Array.from({ length: totalAgents }, (_, a) => a + 1)
  const agents = random.chance(0.7) ? all : [1 + random.below(totalAgents)]
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
      durationMs: faultsToMs + maxBehindMs + recoveryMs,
      ...(pacing === 'max' && { rate: /** @type {const} */ ('max'), durationMs: fastest.durationMs }),
      ttlS: 60,
      cluster,
    },
    { cluster, masters, agents },
  )
  const serviceMs = pacing === 'max' ? fastest.serviceMs : 0.01
  return {
    ...{ plan, name, cluster, masters },
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
 * When the next tick of an agent's chunk was due, however long it has waited; null without a schedule. The ticks of a chunk
 * are opened in their order.
 * @param {ReturnType<typeof drawPlan>['plan']} plan
 */
const duesOf = ({ agents, chunks, spacingMs, quantity, ...plan }) => {
  const next = /** @type {Map<string, number>} */ (new Map())
  for (const agent of agents)
    for (let k = 0; k < chunks; k++) next.set(`${agent.agent} ${chunkRange(agent, chunks, k).first}`, k)
  return (/** @type {number} */ agent, /** @type {number} */ first) => {
    if (plan.schedule === 'none') return null
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
  const ticks = /** @type {TickPlayed[]} */ ([])
  const problems = /** @type {string[]} */ ([])
  const byAccount = new Map()
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
        const dueMs = dueOf(agent, first) ?? elapsed()
        /** @type {TickPlayed} */
        const played = { agent, first, count, account, dueMs, chunk: -1, stamp: 0, closed: 0, lost: [] }
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
    /** @param {Tick} tick */
    offered(tick) {
      const { account, chunk, values } = tick
      Object.assign(byAccount.get(account), { tick, chunk, stamp: Number(values.score) })
    },
  }
}

/** @param {Which & { given?: ReturnType<typeof drawPlan> & { faults: Fault[] } }} which given: instead of what the seed draws */
export const play = async ({ given, ...which }) => {
  const drawn = given ?? drawPlan(seeded(which.seed))
  const { plan, name } = drawn
  let writing = /** @type {ReturnType<typeof ticksWriter> | null} */ (null)
  const stage = stageOf(which, drawn, () => writing?.stop())
  const { faults, clock, cluster, random, target, ended, unconfirmed, lastFaultMs } = stage
  const steps = careful[name]?.() ?? strategyOf(plan).steps()
  const { ledger, ticks, offered, problems } = watchedLedger(plan, () => writing?.elapsed() ?? 0)
  const { recorded, record } = recordedLatencies(1e-6)
  let mostWaiting = 0

  const run = async () => {
    const machine = { clock: clock.now, random: random.next, timers: clock.timers }
    const driver = await socketDriver({
      ...{ plan, steps, ledger, target, machine, latency: { record } },
      ...{ portionItems: drawn.portionItems, onEvent: () => {}, onBegun: () => {} },
      onProgress: () => writing?.progress(),
    })
    const offer = (/** @type {Tick} */ tick, /** @type {number} */ portion) => {
      offered(tick)
      driver.offer(tick, portion)
    }
    // A millisecond apart at least, so that a stamp names a tick.
    let lastMs = 0
    const epochMs = () => {
      lastMs = Math.max(lastMs + 1, startMs + Math.floor(clock.now()))
      return lastMs
    }
    writing = ticksWriter({ plan, driver: { ...driver, offer }, ledger, epochMs, ...machine })
    stage.begin()
    stage.every(1000, () => {
      driver.watch()
      mostWaiting = Math.max(mostWaiting, driver.waitingBytes())
    })
    const reconnects = reconnectsOf({ hz: drawn.reconnectHz, renew: driver.renew, ...machine })
    reconnects.start()
    writing.start()
    if (drawn.isCutShort) clock.after(drawn.faultsToMs / 2, () => writing?.stop())
    await writing.offered
    reconnects.stop()
    const whole = await stage.settled(writing, drawn.isCutShort)
    if (!whole) driver.abandon()
    driver.close()
    return whole
  }
  const whole = await clock.runUntil(run(), longestMs)
  recorded.problems.push(...problems)
  return {
    ...{ ...stage.seen(), plan, steps, faults, ledger, ticks, whole, recorded, mostWaiting },
    ...{ ended, unconfirmed, lastFaultMs, executed: cluster.executed },
    isCutShort: drawn.isCutShort || ended.length > 0,
  }
}
