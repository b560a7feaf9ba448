// The search for memory: simulated searches with known answers, limits of other kinds, and limits that no memory meets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { crossing, memorySearch } from '../../lib/answers/find/memory-search.js'
import { shareOver } from '../../lib/traffic/share-by-memory.js'

/** @import { Curve, Step, Trial } from '../../lib/answers/find/memory-search.js' */

const [least, most] = [2e6, 120e6]
const hits = { text: 'hit_rate>90%', name: 'cache.hit_pct', limit: 90 }
const slow = { text: 'latency.p99<2ms', name: 'latency_us.intended.p99', limit: 2000 }
/** Percent of hits that rise with the memory. @param {number} steep */
const rising = (steep) => (/** @type {number} */ bytes) => 100 * (1 - (1 - bytes / (most * 1.2)) ** steep)

/** @param {(bytes: number) => number} share @returns {Curve} */
const curveOf = (share) => ({
  points: Array.from({ length: 16 }, (_, i) => {
    const bytes = least * (most / least) ** (i / 15)
    return [bytes, share(bytes)]
  }),
  ceiling: share(most),
})

/** @param {number} seed */
const normals = (seed) => {
  const bits = xoroshiro128plus(seed)
  const uniform = () => ((bits.next() >>> 0) + 0.5) / 2 ** 32
  return { uniform, normal: () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()) }
}

/** @param {Generator<Step, any, Trial>} search @param {(bytes: number) => Trial} play */
const played = (search, play) => {
  let steps = 0
  let { value, done } = search.next()
  while (!done) {
    steps++
    ;({ value, done } = search.next(play(value.bytes)))
  }
  return { answer: value, steps }
}

/** @param {Curve | null} curve @param {number} [start] */
const searchOf = (curve, start = 30e6) =>
  memorySearch({ start, trials: 9, learn: () => ({ curve, least, most }) })

test('a share is read off the curve, and back', () => {
  const { at, bytesFor } = shareOver(curveOf(rising(3)))
  for (const bytes of [3e6, 20e6, 118e6]) assert.ok(Math.abs(bytesFor(at(bytes)) / bytes - 1) < 1e-9)
})

test('the crossing of a line without errors is where it is', () => {
  const xs = [85, 88, 91, 94]
  const line = xs.map((x) => 1.1 * x - 10)
  const { low, middle, high } = crossing(xs, line, 90)
  assert.ok(Math.abs(middle - 100 / 1.1) < 0.1 && high - low < 0.5, `${low}, ${middle}, ${high}`)
})

test('of 200 searches 93 to 99 % have the answer in their interval, and runs with its high end meet the limit in 9 of 10', () => {
  let inside = 0
  let met = 0
  let missed = 0
  for (let seed = 1; seed <= 200; seed++) {
    const { uniform, normal } = normals(seed)
    const share = rising(2 + 3 * uniform())
    const noise = 0.05 + 0.4 * uniform()
    // The curve is wrong by up to a point, and its slope by up to a fifth.
    const [shift, scale] = [2 * uniform() - 1, 0.8 + 0.4 * uniform()]
    const wrong = curveOf((bytes) => Math.min(100, 90 + shift + scale * (share(bytes) - 90)))
    let [low, high] = [least, most]
    while (high / low > 1.00001) {
      const middle = Math.sqrt(low * high)
      if (share(middle) < 90) low = middle
      else high = middle
    }
    const search = searchOf({ ...wrong, ceiling: 100 }, high * (0.6 + uniform()))
    const { answer, steps } = played(search, (bytes) => {
      const value = Math.min(100, share(bytes) + noise * normal())
      return { bytes, hit_pct: value, checks: [{ ...hits, value, passed: value > 90 }] }
    })
    assert.ok(steps <= 9)
    assert.equal(answer.state, 'found')
    if (answer.find.low <= high && high <= answer.find.high) inside++
    if (share(answer.find.high) + noise * normal() > 90) met++
    if (share(0.95 * answer.find.low) + noise * normal() < 90) missed++
  }
  assert.ok(met >= 180, `${met} of 200 runs with the high end met the limit`)
  assert.ok(missed >= 180, `${missed} of 200 runs with 5 % less than the low end missed it`)
  assert.ok(inside >= 186 && inside <= 198, `${inside} of 200`)
})

test('a limit of latency is between the most memory that fails it and the least that meets it', () => {
  const { answer } = played(searchOf(curveOf(rising(3))), (bytes) => {
    const hit = rising(3)(bytes)
    const value = bytes > 47e6 ? 900 : 5000
    const checks = [
      { ...hits, limit: 30, value: hit, passed: hit > 30 },
      { ...slow, value, passed: value < 2000 },
    ]
    return { bytes, hit_pct: hit, checks }
  })
  assert.equal(answer.state, 'found')
  assert.equal(answer.binds, slow.text)
  assert.ok(answer.find.low <= 47e6 && answer.find.high >= 47e6 && answer.find.high / answer.find.low < 1.1)
  assert.equal(answer.confirmed, true)
})

test('limits that no memory meets, and one that the smallest server meets', () => {
  const curve = { ...curveOf(rising(3)), ceiling: 89 }
  const at =
    (/** @type {number} */ value, /** @type {any} */ check, /** @type {boolean} */ passed) =>
    (/** @type {number} */ bytes) => ({ bytes, hit_pct: value, checks: [{ ...check, value, passed }] })
  const answer = { state: 'none', find: null, binds: hits.text, confirmed: null }
  assert.deepEqual(played(searchOf(curve), at(70, hits, false)), { answer, steps: 1 })
  assert.equal(played(searchOf(curve), at(9000, slow, false)).answer.state, 'none')
  assert.equal(played(searchOf(curve), at(10, slow, true)).answer.state, 'least')
})
