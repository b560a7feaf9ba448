// Plays clients on a simulated cluster that breaks as its seed says, and gives back what the ledger counted beside what
// the servers executed. Each operation is about a number of its own, so that an execution names its operation.
import { clientsFlow } from '../../lib/loads/clients/flow.js'
import { operationsOf } from '../../lib/measure/operations.js'
import { endpointOf } from '../../lib/servers/address.js'
import { dial } from '../../lib/servers/dial.js'
import { scheduleOf } from '../../lib/traffic/arrivals.js'
import { picksOf } from '../../lib/traffic/operations.js'
import { noTally } from '../../lib/wire/decode.js'
import { strategyOf } from '../../lib/workloads/strategy-of-plan.js'
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { virtualClock } from './clock.js'
import { simulatedCluster } from './cluster.js'
import { drawFaults, playFault } from './faults.js'
import { watchedServers } from './play.js'

/** @typedef {Awaited<ReturnType<typeof playClients>>} PlayedClients */

const faultsFromMs = 100
const faultsToMs = 3000
const reconnectsForMs = 2500
const silenceMs = 7500 // of a half-open connection, until it is given up
const offersForMs = 1000 // when all is well again
const longestTurnMs = 400
const settleMs = 20_000
const longestMs = 90_000

/** @param {import('../helpers/random.js').Random} random */
const drawScene = (random) => {
  const cluster = random.chance(0.7)
  const masters = cluster ? 1 + random.below(4) : 1
  const isOpen = random.chance(0.5)
  const clients = 1 + random.below(5)
  const pipeline = random.pick([1, 1, 2, 7, 30])
  return {
    cluster,
    masters,
    spares: random.below(3),
    // A closed loop is as fast as the servers are.
    serviceMs: isOpen ? random.pick([0.5, 2]) : 10,
    clients,
    pipeline,
    strategy: random.pick(['lookup-get', 'lookup-set', 'lookup-mix']),
    // A lookup may be repeated; other workloads' operations may not.
    repeatable: random.chance(0.7),
    maxBehindMs: random.pick([300, 1000, 3000]),
    valueBytes: random.pick([8, 8, 5000]),
    // A third of what servers without faults can do.
    rateHz: isOpen ? Math.min(random.pick([30, 100, 300]), 60 * clients * pipeline) : null,
    arrivals: random.pick(/** @type {const} */ (['constant', 'poisson'])),
    warmUpMs: random.pick([0, 500]),
    isCutShort: random.chance(0.15),
    // Every so many keys are of another type.
    oddEvery: random.chance(0.3) ? 5 : 0,
    // Connections a second that are closed on purpose, and made anew.
    reconnectHz: random.chance(0.3) ? random.pick([2, 10, 30]) : null,
  }
}

/** @typedef {ReturnType<typeof drawScene>} Scene */

/** @param {number} seed @param {Scene} scene @param {number[]} [keep] */
const stageOf = (seed, scene, keep) => {
  const faults = drawFaults(seeded(seed + 0x5eed), {
    ...scene,
    fromMs: faultsFromMs,
    toMs: faultsToMs,
  }).filter((_, i) => !keep || keep.includes(i))
  const random = seeded(seed + 0xc1)
  const clock = virtualClock({ random })
  const { oddEvery } = scene
  const numberOf = (/** @type {string} */ key) => Number(key.slice(key.indexOf(':') + 1))
  const isOdd = (/** @type {number} */ n) => oddEvery > 0 && n % oddEvery === 0
  const cluster = simulatedCluster({
    clock,
    random,
    ...scene,
    longestTurnMs,
    isOdd: (key) => isOdd(numberOf(key)),
  })
  return { faults, random, clock, cluster, numberOf, isOdd }
}

/**
 * @param {{ seed: number, keep?: number[], given?: Partial<Scene> & { farMs: number } }} which keep: which of the seed's
 * faults are played; all of them. given: instead of what the seed draws
 */
export const playClients = async ({ seed, keep, given }) => {
  const scene = { ...drawScene(seeded(seed)), ...given }
  const { faults, random, clock, cluster, numberOf, isOdd } = stageOf(seed, scene, keep)
  const { cluster: isCluster, clients, pipeline, strategy, repeatable, maxBehindMs, rateHz } = scene
  const lastFaultMs = Math.max(0, ...faults.map(({ atMs, forMs }) => atMs + forMs))
  const wellMs =
    lastFaultMs +
    (faults.some(({ kind }) => kind === 'half-open') ? silenceMs : reconnectsForMs) +
    maxBehindMs
  const durationMs = scene.isCutShort ? lastFaultMs / 2 : wellMs + offersForMs
  const plan = samplePlan(
    { strategy, quantity: 1e6, valueBytes: scene.valueBytes },
    { cluster: isCluster, masters: scene.masters },
  )
  const operations = strategyOf(plan)
    .clientOperations()
    .map((one) => ({ ...one, repeatable }))
  const ledger = operationsOf({ isMeasured: () => clock.now() >= scene.warmUpMs })
  const problems = /** @type {string[]} */ ([])
  const recorded = { operations: 0, problems, serviceMs: /** @type {number[]} */ ([]) }
  let drawn = 0
  let mostOpenOperations = 0
  let mostWaiting = 0
  const outcomes = () => {
    const { acked, failed, uncertain, dropped, unsettled } = ledger.whole
    return acked + failed + uncertain + dropped + unsettled
  }
  const lost = () => outcomes() - ledger.whole.acked - (ledger.failedBy.WRONGTYPE ?? 0)
  const topology = cluster.topology()
  let stop = () => {}
  const { confirmed, layoutOf, ended } = watchedServers(cluster, clock, () => stop())
  confirmed.begin(layoutOf(topology))
  const tally = noTally()

  const run = async () => {
    const flow = await clientsFlow({
      plan: { clients, pipeline, cluster: isCluster, maxBehindMs, reconnectHz: scene.reconnectHz },
      operations,
      pick: picksOf(strategy === 'lookup-mix' ? [1, 3] : [1], seed),
      draw: () => ++drawn,
      schedule:
        rateHz === null ? null : scheduleOf({ rateHz, arrivals: scene.arrivals, seed, durationMs: null }),
      target: {
        topology,
        dial: (address, events) =>
          dial(endpointOf(address), {}, { ...events, connect: /** @type {any} */ (cluster.connect) }),
        refresh: async () => {
          const told = await cluster.refresh()
          await confirmed.review(layoutOf(told))
          return told
        },
        follows: confirmed.follows,
      },
      ledger,
      latency: {
        record: (dueMs, sentMs, doneMs, count) => {
          recorded.operations += count
          recorded.serviceMs.push(doneMs - sentMs)
          if (!(dueMs <= sentMs && sentMs <= doneMs))
            problems.push(`due ${dueMs}, sent ${sentMs}, answered ${doneMs}`)
        },
      },
      onSent: (behindMs) => {
        if (behindMs < 0 || behindMs > maxBehindMs) problems.push(`sent ${behindMs} ms after it was due`)
      },
      tally,
      clock: clock.now,
      random: random.next,
      timers: clock.timers,
      onEvent: () => {},
    })
    const stage = { clock, random, cluster, masters: scene.masters }
    for (const fault of faults) clock.after(fault.atMs, () => playFault(fault, stage), true)
    let over = false
    const look = () => {
      if (over) return
      mostOpenOperations = Math.max(mostOpenOperations, ledger.whole.offered - outcomes())
      mostWaiting = Math.max(mostWaiting, flow.waitingBytes())
      clock.after(20, look, true)
    }
    const second = () => {
      if (over) return
      flow.watch()
      clock.after(1000, second)
    }
    look()
    clock.after(1000, second)
    let lostBefore = 0
    clock.after(wellMs, () => {
      lostBefore = lost()
    })
    stop = flow.stop
    flow.start()
    clock.after(durationMs, flow.stop)
    await flow.offered
    const whole = await flow.settle(scene.isCutShort ? 0 : settleMs, new AbortController().signal)
    const lostAfter = lost() - lostBefore
    if (!whole) flow.abandon()
    over = true
    flow.close()
    // Those that were being opened end too.
    await new Promise((resolve) => clock.after(10_000, () => resolve(undefined)))
    return { whole, lostAfter, reconnects: flow.reconnects() }
  }
  const { whole, lostAfter, reconnects } = await clock.runUntil(run(), longestMs)
  return {
    seed,
    scene: { ...scene, isCutShort: scene.isCutShort || ended.length > 0 },
    faults,
    ledger,
    tally,
    drawn,
    whole,
    lostAfter,
    reconnects,
    recorded,
    mostOpenOperations,
    mostWaiting,
    most: Math.max(...operations.map(({ command }) => command.most)),
    executed: cluster.executed.map(({ key }) => numberOf(key)),
    isOdd,
    leftOpen: cluster.open(),
    mostOpen: cluster.mostOpen(),
    mostUnanswered: cluster.mostUnanswered(),
    endMs: clock.now(),
    events: clock.events(),
  }
}
