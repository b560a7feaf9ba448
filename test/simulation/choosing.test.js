// The procedure of `millrace choose` against costs that are known: how much dearer its choice is than the best one, how often
// it finds a difference between equal candidates, and how many runs it takes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choosing, roundsPlan } from '../../lib/answers/choose/procedure.js'
import { normals } from '../../lib/base/random.js'

const runs = 50
// Boundaries take half a second to compute.
const plans = new Map([2, 3, 5].map((count) => [count, roundsPlan(count, runs)]))

/**
 * @param {readonly number[]} costs true ones
 * @param {number} seed
 * @param {{ noise?: number, drift?: number, lose?: (i: number, round: number) => boolean }} [world]
 */
const play = (costs, seed, { noise = 0.04, drift = 0.1, lose = () => false } = {}) => {
  const normal = normals(seed)
  const simplicity = costs.map((_, i) => i)
  const machine = choosing({ count: costs.length, simplicity, runs, seed, plan: plans.get(costs.length) })
  let step = machine.next()
  let common = 0
  while (!step.done) {
    const { order, round } = step.value
    common += drift * normal() * 0.3
    step = machine.next(
      order.map((i) => {
        // What the machine does from run to run is neither the same nor independent.
        const cost = costs[i] * Math.exp(common + noise * normal())
        const isLost = lose(i, round)
        return { cost: isLost ? null : cost, why: isLost ? 'not sustained' : null, final: false }
      }),
    )
  }
  return step.value
}

const regrets = (/** @type {(seed: number) => number[]} */ costsOf, /** @type {number} */ worlds) =>
  Array.from({ length: worlds }, (_, seed) => {
    const costs = costsOf(seed)
    const { chosen, runs: used } = play(costs, seed + 1)
    assert.ok(used <= runs, `${used} runs`)
    return costs[Number(chosen)] / Math.min(...costs)
  }).sort((a, b) => a - b)

test('over 20 workloads the choice costs 1.02 of the best at the median, 1.10 at most', () => {
  const steps = [1.01, 1.03, 1.06, 1.1, 1.15, 1.3, 1.6, 2.5]
  const found = regrets((seed) => {
    const normal = normals(1000 + seed)
    const pick = () => steps[Math.abs(Math.round(normal() * 1000)) % steps.length]
    return [1, pick(), pick(), pick(), pick()].sort(() => normal())
  }, 20)
  assert.ok(found[10] <= 1.02 && found[19] <= 1.1, String(found))
})

test('equal candidates are told apart in no more than 5 % of comparisons', () => {
  const series = 100
  const all = Array.from({ length: series }, (_, seed) => play([1, 1, 1, 1, 1], seed + 7))
  const apart = all.filter(({ standings }) => standings.some(({ place }) => place === 'worse')).length
  assert.ok(apart <= 0.05 * series + 2 * Math.sqrt(series * 0.05 * 0.95), `${apart} of ${series}`)
})

test('one that costs far less is best after few rounds; equal ones are ordered by simplicity', () => {
  const clear = play([1, 2, 2, 3, 4], 3)
  assert.deepEqual([clear.state, clear.chosen], ['best', 0])
  assert.ok(clear.runs < 35, String(clear.runs))
  const equal = play([1, 1, 1, 1, 1], 3, { noise: 0.005 })
  assert.deepEqual([equal.state, equal.alike], ['same', [0, 1, 2, 3, 4]])
})

test('a candidate whose runs do not count leaves with the reason, and the others are compared', () => {
  const found = play([1, 1.5, 0.5], 3, { lose: (/** @type {number} */ i) => i === 2 })
  assert.deepEqual([found.state, found.chosen, found.standings[2].place], ['best', 0, 'not-counted'])
  assert.equal(found.standings[2].why, 'not sustained')
  assert.equal(play([1, 1], 3, { lose: () => true }).state, 'none')
})

test('one that loses a run in between still counts by its other rounds', () => {
  const found = play([1, 1.5], 3, { lose: (i, round) => i === 0 && round === 2 })
  assert.deepEqual([found.state, found.chosen], ['best', 0])
})

test('a seed gives the same blocks again', () => {
  const blocks = (/** @type {number} */ seed) =>
    choosing({ count: 5, simplicity: [0, 0, 0, 0, 0], runs, seed, plan: plans.get(5) }).next().value
  assert.deepEqual(blocks(5), blocks(5))
  assert.notDeepEqual(blocks(5), blocks(6))
})
