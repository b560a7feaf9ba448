// Asks a simulated cluster for more than it can do, and holds what became of it against a run that asks for no rate.
import { socketDriver } from '../../lib/transport/socket.js'
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { play } from './play.js'
import { brokenIn, countExecuted } from './properties.js'

/** @typedef {import('./faults.js').Fault} Fault */

const serviceMs = 12
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
    portionItems: random.pick([4096, 5, 20]),
  }
}

/** @param {ReturnType<typeof drawScene>} scene @param {Parameters<typeof samplePlan>[0]} settings @param {Fault[]} faults */
const given = (
  { masters, sortedSets, quantity, chunks, connections, totalAgents, windowBytes, portionItems },
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
    ...{ isCutShort: false, spares: 0, faultsToMs: spanMs, reconnectHz: null, portionItems },
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
const unsent = (played) => {
  const executed = countExecuted(played)
  return played.ticks.flatMap(({ dueMs, first, lost, stamp }) => {
    const carried = ['SETEX', 'ZADD'].map((name) => ({ name, items: executed(name, stamp) }))
    return lost.flatMap((outcome, i) => {
      const names = carried.filter(({ items }) => items.has(first + i)).map(({ name }) => name)
      return outcome && names.length > 0
        ? [
            `item ${first + i} of ${dueMs.toFixed()} ms is ${outcome}, and ${names.join(' and ')} was executed`,
          ]
        : []
    })
  })
}

/** A tick that is begun is finished, if that takes less than a second. @param {import('./play.js').Played} played @param {number} mostHz */
const wholeTicks = ({ ticks, plan }, mostHz) =>
  plan.quantity / plan.chunks > 0.7 * mostHz
    ? []
    : ticks
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
  const fastest = await play({ ...{ seed, openDriver, keep }, given: given(scene, { rate: 'max' }, slowed) })
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
  const broken = [
    ...[...brokenIn(fastest), ...brokenIn(played, true)],
    ...[...unsent(played), ...wholeTicks(played, mostHz)],
  ]
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

/**
 * Batches that take the servers three seconds each, one a second.
 * @param {{ seed: number, masters: number, totalAgents: number, connections: number }} scene
 */
export const playLargeBatches = async ({ seed, ...more }) => {
  const drawn = { ...drawScene(seeded(seed)), sortedSets: 10, chunks: 1, windowBytes: 2000, portionItems: 20 }
  const playAt = (/** @type {number} */ quantity, /** @type {Parameters<typeof samplePlan>[0]} */ pace) => {
    const scene = given({ ...drawn, ...more, quantity }, { maxMembers: 2, ...pace }, [])
    return play({ seed, openDriver: socketDriver, given: scene })
  }
  const mostHz = perSecond(await playAt(2000, { rate: 'max' }))
  const quantity = more.totalAgents * Math.round((3 * mostHz) / more.totalAgents)
  const played = await playAt(quantity, { periodMs: 1000 })
  const times = new Uint32Array(quantity)
  for (const { first, count, lost } of played.ticks)
    for (let i = 0; i < count; i++) if (lost[i] === undefined) times[first - 1 + i]++
  return {
    broken: [...brokenIn(played, true), ...unsent(played)],
    share: perSecond(played) / mostHz,
    longestMs: played.recorded.longestMs,
    times,
  }
}
