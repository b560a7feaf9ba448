// Plays a client that sends in bundles on a simulated cluster that breaks as its seed says, and gives back what the ledger counted
// beside what the servers executed. Each operation is about a counter of its own, so that an execution names its operation.
import { bundlesFlow } from '../../lib/loads/bundles/flow.js'
import { socketCarrier } from '../../lib/loads/bundles/socket-carrier.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { scheduleOf } from '../../lib/traffic/arrivals.js'
import { noTally } from '../../lib/wire/decode.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { playedOperations, recordedLatencies, stageOf } from './stage.js'

/** @import { Random } from '../helpers/random.js' */
/** @import { Delivery } from '../../lib/workloads/declare.js' */
/** @import { PlayedOperations } from './play-clients.js' */
/** @import { Which } from './stage.js' */

const counters = 1e6
/** @type {readonly (readonly [string, Delivery])[]} */
const strategies = [
  ['counter-pipeline', 'pipeline'],
  ['counter-transaction', 'transaction'],
  ['counter-script', 'call'],
]

const drawScene = (/** @type {Random} */ random) => {
  const cluster = random.chance(0.7)
  const [strategy, delivery] = random.pick(strategies)
  return {
    ...{ cluster, strategy, delivery },
    masters: cluster ? 1 + random.below(4) : 1,
    spares: random.below(3),
    serviceMs: random.pick([0.5, 5]),
    bundleSize: random.pick([1, 2, 10, 100]),
    maxBehindMs: random.pick([300, 1000, 3000]),
    rateHz: random.chance(0.5) ? random.pick([30, 100]) : null,
    warmUpMs: random.pick([0, 500]),
    isCutShort: random.chance(0.15),
  }
}

const numberOf = (/** @type {string} */ key) => Number(key.slice(key.lastIndexOf(':') + 1))

/** @param {Which} which @returns {Promise<PlayedOperations>} */
export const playBundles = async (which) => {
  const { seed } = which
  const scene = drawScene(seeded(seed))
  const { bundleSize, maxBehindMs, rateHz, delivery, isCutShort, cluster: isCluster, masters } = scene
  let stop = () => {}
  const stage = stageOf(which, { ...scene, faultsToMs: 3000, longestTurnMs: 400 }, () => stop())
  const { faults, random, clock, cluster, target, ended } = stage
  const keys = { structure: /** @type {const} */ ('string'), quantity: counters, counters }
  const strategy = strategyOf(
    samplePlan({ strategy: scene.strategy, ...keys }, { cluster: isCluster, masters }),
  )
  const bundle = strategy.bundle('add')
  const ledger = operationsOf({ isMeasured: () => clock.now() >= scene.warmUpMs })
  const { recorded, record } = recordedLatencies()
  let sent = 0
  const open = () =>
    bundlesFlow({
      plan: { bundleSize, items: counters, maxBehindMs },
      schedule: rateHz === null ? null : scheduleOf({ rateHz, arrivals: 'constant', seed, durationMs: null }),
      key: strategy.keyOf(1),
      commandsOf: (items) => (bundle.isOne ? 1 : items + (delivery === 'transaction' ? 2 : 0)),
      carrier: socketCarrier({ delivery, bundle, clock: clock.now }),
      target,
      scripts: strategy.scripts,
      ledger,
      latency: { record },
      onSent(behindMs) {
        sent++
        if (behindMs < 0 || behindMs > maxBehindMs)
          recorded.problems.push(`sent ${behindMs} ms after it was due`)
      },
      machine: { clock: clock.now, random: random.next, timers: clock.timers },
      onEvent: () => {},
    })
  const { flow: _, ...ran } = await playedOperations(stage, {
    ...{ open, ledger, scene },
    onOpen: (flow) => {
      stop = flow.stop
    },
  })
  const most = bundle.size([counters], 1) + 64
  return {
    ...{ ...ran, ...stage.seen(), faults, ledger, recorded, most },
    ...{ ended, unconfirmed: stage.unconfirmed, tally: noTally(), odd: 0 },
    drawn: rateHz === null ? ledger.whole.offered : sent,
    scene: {
      clients: 1,
      pipeline: bundleSize,
      repeatable: false,
      maxBehindMs,
      isCutShort: isCutShort || ended.length > 0,
    },
    executed: cluster.executed.map(({ key }) => numberOf(key)),
    leftOpen: cluster.network.open(),
  }
}
