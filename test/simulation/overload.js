// Asks a simulated cluster for more than it can do, and holds what became of it against a run that asks for no rate.
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { play } from './play.js'
import { brokenIn, brokenInOverload, countExecuted } from './properties.js'

/** @import { Fault } from './faults.js' */
/** @import { Random } from '../helpers/random.js' */
/** @import { Played } from './play.js' */
/** @import { Which } from './stage.js' */

const serviceMs = 12
const shortMs = 5000
// The first and the last tick of a short play count: one that falls short by little is played four times as long.
const leastShare = 0.9
const wholeBatchMs = 2000

const drawScene = (/** @type {Random} */ random) => {
  const masters = random.pick([1, 3, 3, 3])
  return {
    masters,
    // What may be slow: nothing, one of the masters all the time, or one for a while.
    burden: random.pick(['none', 'none', 'one', 'for a while']),
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
    portionItems: random.pick([4096, 5, 20]),
  }
}

/** @param {ReturnType<typeof drawScene>} scene @param {Parameters<typeof samplePlan>[0]} settings @param {Fault[]} faults @param {number} spanMs */
const given = (
  { masters, portionItems, burden, node, times, asBatches, ...sizes },
  settings,
  faults,
  spanMs,
) => {
  const cluster = masters > 1
  const constant = { stamp: true, valueBytes: 30, ttlS: 60, durationMs: spanMs, maxBehindMs: 4000 }
  const agents = Array.from({ length: sizes.totalAgents }, (_, a) => a + 1)
  const plan = samplePlan({ ...sizes, cluster, ...constant, ...settings }, { cluster, masters, agents })
  return {
    ...{ plan, name: 'sorted-set', cluster, masters, faults, serviceMs },
    ...{ isCutShort: false, spares: 0, faultsToMs: spanMs, reconnectHz: null, portionItems },
  }
}

/** @param {number} node @param {number} atMs @param {number} forMs @returns {Fault} */
const burdenOf = (node, atMs, forMs) => ({
  ...{ kind: 'burden', node, atMs, forMs, to: node, slots: [0, 0], share: 1, line: '', mode: 'before' },
})

const perSecond = (/** @type {Played} */ { ledger, endMs, plan }) =>
  (1000 * ledger.whole.acked) / Math.max(Number(plan.durationMs), endMs)

/** What was dropped had no command at any server. @param {Played} played */
const unsent = (played) => {
  const executed = countExecuted(played)
  return played.ticks.flatMap(({ dueMs, first, lost, stamp }) =>
    ['SETEX', 'ZADD'].flatMap((name) => {
      const items = executed(name, stamp)
      return lost.flatMap((outcome, i) =>
        outcome && items.has(first + i)
          ? [`item ${first + i} of ${dueMs.toFixed()} ms is ${outcome}, and ${name} was executed`]
          : [],
      )
    }),
  )
}

/** A tick that is begun is finished, if that takes less than a second. @param {Played} played @param {number} mostHz */
const wholeTicks = ({ ticks, plan }, mostHz) =>
  ticks
    .filter(({ tick, lost }) => lost.length > 0 && tick?.firstMs != null)
    .filter(() => plan.quantity / plan.chunks <= 0.7 * mostHz)
    .map(({ dueMs, lost, count }) => `${lost.length} of ${count} of a tick begun at ${dueMs} ms are lost`)

const playFor = async (/** @type {Which} */ which, /** @type {number} */ spanMs) => {
  const scene = drawScene(seeded(which.seed + 0x0ad))
  const slowed = scene.burden === 'one' ? [burdenOf(scene.node, 0, 10 * spanMs)] : []
  const fastest = await play({ ...which, given: given(scene, { rate: 'max' }, slowed, spanMs) })
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
    ...which,
    given: given(scene, isBatched ? batches : { periodMs }, burden, spanMs),
  })
  const broken = [
    ...[...brokenIn(fastest), ...brokenInOverload(played)],
    ...[...unsent(played), ...wholeTicks(played, mostHz)],
  ]
  const storedHz = perSecond(played)
  const { quantity, periodMs: everyMs } = played.plan
  const wantedHz = Math.min((1000 * quantity) / everyMs, mostHz)
  const fellShort = !isPassing && storedHz < leastShare * wantedHz
  if (fellShort)
    broken.push(`${storedHz} items/s are stored of ${askedHz} asked, and ${mostHz} as fast as it can`)
  if (isPassing) {
    const intervalMs = played.plan.chunks * played.plan.spacingMs
    const wellMs = 2500 + 2 * Math.max(intervalMs, 500)
    for (const { dueMs, lost } of played.ticks)
      if (dueMs > wellMs && lost.length > 0)
        broken.push(`items of ${dueMs.toFixed()} ms are lost, and all was well again`)
  }
  return { fellShort, broken: broken.slice(0, 6), faults: burden, items: played.ledger.whole }
}

export const playOverload = async (/** @type {Which} */ which) => {
  const short = await playFor(which, shortMs)
  return short.fellShort && short.broken.length === 1 ? playFor(which, 4 * shortMs) : short
}

/**
 * Batches that take the servers three seconds each, one a second.
 * @param {{ seed: number, masters: number, totalAgents: number, connections: number }} scene
 */
export const playLargeBatches = async ({ seed, ...more }) => {
  const drawn = { ...drawScene(seeded(seed)), sortedSets: 10, chunks: 1, windowBytes: 2000, portionItems: 20 }
  const playAt = (/** @type {number} */ quantity, /** @type {Parameters<typeof samplePlan>[0]} */ pace) => {
    const scene = given({ ...drawn, ...more, quantity }, { maxMembers: 2, ...pace }, [], shortMs)
    return play({ seed, given: scene })
  }
  const mostHz = perSecond(await playAt(2000, { rate: 'max' }))
  const quantity = more.totalAgents * Math.round((3 * mostHz) / more.totalAgents)
  const played = await playAt(quantity, { periodMs: 1000 })
  const times = new Uint32Array(quantity)
  for (const { first, count, lost } of played.ticks)
    for (let i = 0; i < count; i++) if (lost[i] === undefined) times[first - 1 + i]++
  return {
    broken: [...brokenInOverload(played), ...unsent(played)],
    share: perSecond(played) / mostHz,
    longestMs: played.recorded.longestMs,
    times,
  }
}
