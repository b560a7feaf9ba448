// Plays a search through the real engine in virtual time: conductor, course and clients, over a server in memory whose
// capacity is known and moves. Lookups come evenly, so at a constant rate the backlog of each second begins with that of the
// one before, and a second meets a p99 as long as the backlog of all but a percent, and what the network takes, are shorter.
import { behindOf, graceOf, judgeOf, objectivesOf } from '../../lib/answers/find/objectives.js'
import { search } from '../../lib/answers/find/search.js'
import { clientsFlow } from '../../lib/loads/clients/flow.js'
import { scheduleOfCourse } from '../../lib/plan/course.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { conductorOf } from '../../lib/run/conductor.js'
import { noTally } from '../../lib/wire/decode.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { limitsOf } from '../helpers/limited-server.js'
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { virtualClock } from './clock.js'
import { networkOf } from './network.js'
import { dialOf } from './stage.js'

/** @import { Random } from '../helpers/random.js' */
/** @import { Connection } from './network.js' */

const address = '127.0.0.1:7001'
const share = 0.9

/** One thread that answers commands at the capacity of the moment. @param {ReturnType<typeof virtualClock>} clock @param {Random} random @param {() => number} capacityHz */
const serverOf = (clock, random, capacityHz) => {
  let freeMs = 0
  const listener = {
    accept() {},
    received(/** @type {Connection} */ connection) {
      for (const [name] of connection.take()) {
        const isLookup = name === 'GET'
        freeMs = Math.max(freeMs, clock.now()) + (isLookup ? 1000 / capacityHz() : 0)
        const reply = Buffer.from(isLookup ? '$1\r\nv\r\n' : '+OK\r\n')
        clock.after(freeMs - clock.now(), () => connection.reply(reply), true)
      }
    },
    latencyMs: () => 0.05 + random.next() * 0.2,
  }
  return networkOf({ clock, random, listenerAt: () => listener })
}

/**
 * The highest constant rate at which the share of these seconds meets the limit, with the backlog that each leaves to the next.
 * @param {Float64Array} played capacities
 * @param {number} limitMs of the backlog
 */
export const sustainedIn = (played, limitMs) => {
  const passes = (/** @type {number} */ rate) => {
    let backlogMs = 0
    let passed = 0
    for (const capacity of played) {
      const growthMs = (rate / capacity - 1) * 1000
      const at = (/** @type {number} */ part) => Math.max(0, backlogMs + growthMs * part)
      if (Math.max(at(0.01), at(0.99)) < limitMs) passed++
      backlogMs = at(1)
    }
    return passed >= share * played.length
  }
  let [low, high] = [Math.min(...played) / 2, Math.max(...played) * 2]
  while (high / low > 1.0002) {
    const middle = Math.sqrt(low * high)
    if (passes(middle)) low = middle
    else high = middle
  }
  return low
}

/** @param {{ seed: number, seconds: number, hz: number, sd: number, limitMs?: number, stepAt?: number, stepTo?: number }} terms */
export const playFind = async ({ seed, seconds, limitMs = 20, ...terms }) => {
  const random = seeded(seed + 0xf1)
  const clock = virtualClock({ random })
  const capacities = limitsOf({ seed, ...terms })
  const { signal } = new AbortController()
  const objectives = objectivesOf([`latency.p99<${limitMs}ms`])
  const conductor = conductorOf({
    machine: search({
      ...{ max: Number.POSITIVE_INFINITY, warmUpRate: Number.POSITIVE_INFINITY, seed, seconds, share },
      warmUp: 5,
      confirm: Math.round(seconds / 6),
    }),
    ...{ judge: judgeOf(objectives), graceMs: graceOf(objectives), behindMs: behindOf(objectives) },
    ...{ stop: signal, onStep: () => {}, clock: clock.now },
    wait: (ms) => new Promise((resolve) => clock.timers.setTimeout(() => resolve(), ms)),
  })
  /** The second of load that it is. */
  const secondAt = (/** @type {number} */ atMs) => {
    let before = 0
    for (const { fromMs, toMs } of conductor.course.stretches) {
      if (atMs < toMs) return before + Math.max(0, Math.floor((atMs - fromMs) / 1000))
      before += Math.round((toMs - fromMs) / 1000)
    }
    return before
  }
  const network = serverOf(clock, random, () => capacities[secondAt(clock.now())])
  const ledger = operationsOf({ isMeasured: () => true })
  const topology = { masters: [address], owners: null, epoch: 1, others: [] }
  const flow = await clock.runUntil(
    clientsFlow({
      plan: { clients: 8, pipeline: 8, cluster: false, maxBehindMs: 5000 },
      operations: strategyOf(samplePlan({ strategy: 'lookup-get', quantity: 1e6 })).clientOperations(),
      pick: () => 0,
      draw: () => 1,
      schedule: scheduleOfCourse(conductor.course),
      target: { topology, dial: dialOf(network), refresh: async () => topology, follows: () => true },
      ...{ ledger, latency: { record: conductor.tap.answered }, tally: noTally() },
      machine: { clock: clock.now, random: random.next, timers: clock.timers },
      ...{ onSent: () => {}, onEvent: () => {} },
    }),
    60_000,
  )
  const run = async () => {
    flow.start()
    const answer = await conductor.conduct({
      writing: flow,
      records: /** @type {any} */ ({ ledger, restart() {} }),
      window: { reopen: async () => {} },
    })
    await flow.settle(5000, signal)
    flow.close()
    return answer
  }
  const answer = await clock.runUntil(run(), 3_600_000)
  const calm = conductor.seconds.filter(({ phase }) => phase === 'confirm')
  const p99s = calm.map(({ latency_us: { intended } }) => Number(intended?.p99) / 1000)
  const networkMs = p99s.sort((a, b) => a - b)
  const played = capacities.subarray(answer?.from ?? 0, conductor.seconds.length)
  return {
    answer,
    seconds: conductor.seconds,
    ledger,
    truth: sustainedIn(played, limitMs - networkMs[Math.floor(networkMs.length / 4)]),
  }
}
