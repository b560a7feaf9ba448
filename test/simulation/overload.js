// Asks a simulated cluster for more than it can do, and holds what became of it against a run that asks for no rate.
import { socketDriver } from '../../lib/transport/socket.js'
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { play } from './play.js'
import { brokenIn } from './properties.js'

/** @typedef {import('./faults.js').Fault} Fault */

const serviceMs = 6
const spanMs = 5000
// The first and the last tick of a short play count.
const leastShare = 0.9
const wholeBatchMs = 2000

/** What may be slow: nothing, one of the masters all the time, or one for a while. */
const burdens = /** @type {const} */ (['none', 'none', 'one', 'for a while'])

/** @param {import('../helpers/random.js').Random} random */
const drawScene = (random) => {
  const masters = random.pick([1, 3, 3, 3])
  return {
    masters,
    burden: random.pick(burdens),
    node: random.below(masters),
    // All ids go to one slot, or to several.
    sortedSets: random.pick([1, 1, 10]),
    quantity: 60 * (1 + random.below(5)),
    chunks: random.pick([1, 1, 5]),
    connections: random.pick([1, 1, 3]),
    totalAgents: random.pick([1, 1, 4]),
    windowBytes: random.pick([2000, 20_000]),
    times: random.pick([1.5, 2, 10]),
    asBatches: random.chance(0.3),
  }
}

/** @param {ReturnType<typeof drawScene>} scene @param {Parameters<typeof samplePlan>[0]} settings @param {Fault[]} faults */
const given = (
  { masters, sortedSets, quantity, chunks, connections, totalAgents, windowBytes },
  settings,
  faults,
) => {
  const cluster = masters > 1
  const plan = samplePlan(
    {
      ...{ sortedSets, quantity, chunks, connections, totalAgents, windowBytes, cluster },
      ...{ stamp: true, valueBytes: 30, ttlS: 60, durationMs: spanMs, maxBehindMs: 4000 },
      ...settings,
    },
    {
      ...{ cluster, masters },
      agents: Array.from({ length: totalAgents }, (_, a) => a + 1),
    },
  )
  return {
    ...{ plan, name: 'sorted-set', cluster, masters, faults, serviceMs },
    ...{ isCutShort: false, spares: 0, faultsToMs: spanMs, reconnectHz: null },
  }
}

/** @param {number} node @param {number} atMs @param {number} forMs @returns {Fault} */
const burdenOf = (node, atMs, forMs) =>
  /** @type {Fault} */ (
    /** @type {unknown} */ ({
      kind: 'burden',
      node,
      atMs,
      forMs,
      slots: [0, 0],
      to: node,
      line: '',
      share: 1,
    })
  )

const perSecond = (/** @type {import('./play.js').Played} */ { ledger, endMs }) =>
  (1000 * ledger.whole.acked) / Math.max(spanMs, endMs)

/** What was dropped had no command at any server. @param {import('./play.js').Played} played */
const wholeTicks = ({ ticks }) =>
  ticks
    .filter(({ tick, lost }) => lost.length > 0 && tick?.firstMs != null)
    .map(
      ({ dueMs, lost, count }) =>
        `of a tick of ${dueMs.toFixed()} ms that was begun ${lost.length} of ${count} items are lost`,
    )

/** @param {{ seed: number, keep?: number[] }} which */
export const playOverload = async ({ seed, keep }) => {
  const scene = drawScene(seeded(seed + 0x0ad))
  const openDriver = socketDriver
  const slowed = scene.burden === 'one' ? [burdenOf(scene.node, 0, 10 * spanMs)] : []
  const fastest = await play({
    ...{ seed, openDriver, keep },
    given: given(scene, { rate: 'max' }, slowed),
  })
  const mostHz = perSecond(fastest)
  const isPassing = scene.burden === 'for a while'
  const burden = isPassing ? [burdenOf(scene.node, 1500, 1000)] : slowed
  const askedHz = (isPassing ? 0.5 : scene.times) * mostHz
  const periodMs = Math.max(20, (1000 * scene.quantity) / askedHz)
  const batches = {
    periodMs: 1000,
    quantity: scene.totalAgents * scene.chunks * Math.ceil(askedHz / scene.totalAgents / scene.chunks),
  }
  const isBatched = scene.asBatches && scene.times * 1000 <= wholeBatchMs
  const played = await play({
    ...{ seed, openDriver, keep },
    given: given(scene, isBatched ? batches : { periodMs }, burden),
  })
  const broken = [...brokenIn(fastest), ...brokenIn(played, true), ...wholeTicks(played)]
  const storedHz = perSecond(played)
  const { quantity, periodMs: everyMs } = played.plan
  const wantedHz = Math.min((1000 * quantity) / everyMs, mostHz)
  if (!isPassing && storedHz < leastShare * wantedHz)
    broken.push(
      `${storedHz.toFixed()} items/s are stored of ${askedHz.toFixed()} asked, and ${mostHz.toFixed()} as fast as it can`,
    )
  if (isPassing) {
    const intervalMs = played.plan.chunks * played.plan.spacingMs
    const wellMs = 2500 + 2 * Math.max(intervalMs, 500)
    for (const { dueMs, lost } of played.ticks)
      if (dueMs > wellMs && lost.length > 0)
        broken.push(`items of ${dueMs.toFixed()} ms are lost, and all was well again`)
  }
  return { broken: broken.slice(0, 6), faults: burden, items: played.ledger.whole }
}
