// Plays clients on a simulated cluster that breaks as its seed says, and gives back what the ledger counted beside what
// the servers executed. Each operation is about a number of its own, so that an execution names its operation.
import { clientsFlow } from '../../lib/loads/clients/flow.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { scheduleOf } from '../../lib/traffic/arrivals.js'
import { picksOf } from '../../lib/traffic/operations.js'
import { noTally } from '../../lib/wire/decode.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { playedOperations, recordedLatencies, stageOf } from './stage.js'

/** @import { Random } from '../helpers/random.js' */
/** @import { Which } from './stage.js' */

/**
 * @typedef {Awaited<ReturnType<typeof playClients>>} PlayedClients
 * @typedef {Omit<PlayedClients, 'scene' | 'reconnects'> & { scene: Pick<PlayedClients['scene'], 'clients' | 'pipeline' | 'repeatable' | 'maxBehindMs' | 'isCutShort'> }}
 *   PlayedOperations of clients, or of one that sends in bundles
 */

const drawScene = (/** @type {Random} */ random) => {
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

const numberOf = (/** @type {string} */ key) => Number(key.slice(key.indexOf(':') + 1))

/** @param {Which & { given?: Partial<ReturnType<typeof drawScene>> & { farMs: number } }} which given: instead of what the seed draws */
export const playClients = async ({ given, ...which }) => {
  const { seed } = which
  const scene = { ...drawScene(seeded(seed)), ...given }
  const { clients, pipeline, strategy, repeatable, maxBehindMs, rateHz, oddEvery, isCutShort } = scene
  const isOdd = (/** @type {number} */ n) => oddEvery > 0 && n % oddEvery === 0
  const place = { ...scene, faultsToMs: 3000, longestTurnMs: 400 }
  let stop = () => {}
  const stage = stageOf(which, { ...place, isOdd: (key) => isOdd(numberOf(key)) }, () => stop())
  const { faults, random, clock, cluster, target, ended } = stage
  const { cluster: isCluster, masters, valueBytes } = scene
  const plan = samplePlan({ strategy, quantity: 1e6, valueBytes }, { cluster: isCluster, masters })
  const operations = strategyOf(plan)
    .clientOperations()
    .map((one) => ({ ...one, repeatable }))
  const ledger = operationsOf({ isMeasured: () => clock.now() >= scene.warmUpMs })
  const { recorded, record } = recordedLatencies()
  let drawn = 0
  const tally = noTally()

  const open = () =>
    clientsFlow({
      plan: { clients, pipeline, cluster: isCluster, maxBehindMs, reconnectHz: scene.reconnectHz },
      operations,
      pick: picksOf(strategy === 'lookup-mix' ? [1, 3] : [1], seed),
      draw: () => ++drawn,
      schedule:
        rateHz === null ? null : scheduleOf({ rateHz, arrivals: scene.arrivals, seed, durationMs: null }),
      target,
      ledger,
      latency: { record },
      onSent: (behindMs) => {
        if (behindMs < 0 || behindMs > maxBehindMs)
          recorded.problems.push(`sent ${behindMs} ms after it was due`)
      },
      machine: { clock: clock.now, random: random.next, timers: clock.timers },
      ...{ tally, onEvent: () => {} },
    })
  const { flow, ...ran } = await playedOperations(stage, {
    ...{ open, ledger, scene },
    onOpen: (opened) => {
      stop = opened.stop
    },
    excused: () => ledger.failedBy.WRONGTYPE ?? 0,
  })
  return {
    ...{ ...ran, ...stage.seen(), faults, ledger, tally, drawn, recorded, reconnects: flow.reconnects() },
    scene: { ...scene, isCutShort: isCutShort || ended.length > 0 },
    most: Math.max(...operations.map(({ command }) => command.most)),
    executed: cluster.executed.map(({ key }) => numberOf(key)),
    leftOpen: cluster.network.open(),
    odd: oddEvery > 0 ? Math.floor(drawn / oddEvery) : 0,
    ...{ ended, unconfirmed: stage.unconfirmed },
  }
}
