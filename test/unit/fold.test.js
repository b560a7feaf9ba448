// The fold of seconds, by properties: seeded random lines, split among boxes and over time in any way.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { series } from '../../lib/measure/latency.js'
import {
  amount,
  busiest,
  counts,
  eachField,
  length,
  level,
  timesField,
  worst,
} from '../../lib/measures/fields.js'
import { folded, foldOf, sumOfSources } from '../../lib/measures/fold.js'

/** @param {number} seed @returns {(n: number) => number} whole numbers below n */
const drawing = (seed) => {
  let state = seed + 1
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

const node = { over_s: length(), cpu_s: amount('s'), calls: counts() }
const fields = {
  'client.cpu_s': amount('s'),
  'client.over_s': length(),
  'client.stopped_ms': worst('ms'),
  'client.rss_mb': level('mb'),
  'client.thread': busiest(),
  commands: counts(),
  nodes: eachField(({ address }) => address, node),
}
const inAnyOrder = Object.fromEntries(
  Object.entries({ ...fields, work: eachField(({ name }) => name, { jobs: amount('count') }) }).filter(
    ([, field]) => field.inAnyOrder,
  ),
)

/** Whole numbers, so that sums are exact in any order. @param {(n: number) => number} draw */
const lineOf = (draw) => {
  const some = (/** @type {any} */ value) => (draw(5) === 0 ? null : value)
  return {
    client: some({
      ...{ cpu_s: draw(100), over_s: 1, rss_mb: some(draw(300)), stopped_ms: some(draw(3000)) },
      thread: some({ over_s: 1, busy_s: draw(2), cpu_s: draw(2) }),
    }),
    commands: some({ get: { calls: draw(9), usec: draw(99) }, [`c${draw(3)}`]: { calls: 1, usec: 2 } }),
    nodes: ['a:1', 'b:2'].map((address) => ({
      address,
      ...{ over_s: some(1), cpu_s: some(draw(50)), calls: some({ set: draw(9) }) },
    })),
    work: [{ name: `w${draw(3)}`, jobs: draw(7) }],
  }
}

/** @param {any} sum */
const plain = (sum) =>
  JSON.parse(
    JSON.stringify(sum, (_, value) =>
      value && typeof value === 'object' && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  )

describe('a fold of seconds', () => {
  test('fields that add in any order come to the same, however lines are split among sources', () => {
    assert.deepEqual(Object.keys(inAnyOrder), ['client.cpu_s', 'client.stopped_ms', 'commands', 'work'])
    for (let seed = 0; seed < 200; seed++) {
      const draw = drawing(seed)
      const lines = Array.from({ length: 1 + draw(12) }, () => lineOf(draw))
      const boxes = Array.from({ length: 1 + draw(4) }, () => /** @type {any[]} */ ([]))
      for (const line of lines) boxes[draw(boxes.length)].push(line)
      const apart = sumOfSources(
        inAnyOrder,
        boxes.map((own) => folded(inAnyOrder, own)),
      )
      assert.deepEqual(
        plain({ ...folded(inAnyOrder, lines) }).commands,
        plain(apart).commands,
        `seed ${seed}`,
      )
      const numbers = (/** @type {any} */ sum) => [sum['client.cpu_s'], sum['client.stopped_ms']]
      assert.deepEqual(numbers(folded(inAnyOrder, lines)), numbers(apart), `seed ${seed}`)
      const jobs = (/** @type {any} */ sum) => plain(sum.work ?? {})
      assert.deepEqual(jobs(folded(inAnyOrder, lines)), jobs(apart), `seed ${seed}`)
    }
  })

  test('a fold goes on from any moment, also from what was stored of it', () => {
    for (let seed = 0; seed < 200; seed++) {
      const draw = drawing(seed)
      const lines = Array.from({ length: 2 + draw(12) }, () => lineOf(draw))
      const at = draw(lines.length)
      const later = foldOf(fields, plain(folded(fields, lines.slice(0, at))))
      for (const line of lines.slice(at)) later.add(line)
      assert.deepEqual(plain(later.sum), plain(folded(fields, lines)), `seed ${seed}`)
    }
  })

  test('what was never known is null, and adds nothing to what is', () => {
    const nothing = folded(fields, [{}, {}])
    for (const path of Object.keys(fields).filter((name) => name !== 'nodes'))
      assert.equal(nothing[path], null)
    const line = { client: { cpu_s: 0, rss_mb: 1 } }
    const sum = sumOfSources(fields, [nothing, folded(fields, [line, {}]), nothing])
    assert.deepEqual([sum['client.cpu_s'], sum['client.rss_mb']], [0, { first: 1, last: 1, max: 1 }])
  })

  test('levels and the busiest thread: first over time, then over sources', () => {
    const [grows, shrinks] = [
      [10, 1],
      [1, 10],
    ].map((mb) => mb.map((rss_mb) => ({ client: { rss_mb } })))
    const of = { 'client.rss_mb': level('mb') }
    assert.deepEqual(sumOfSources(of, [folded(of, grows), folded(of, shrinks)])['client.rss_mb'], {
      first: 11,
      last: 11,
      max: 20,
    })
    const thread = (/** @type {number} */ busyS) => ({ t: { over_s: 1, busy_s: busyS, cpu_s: busyS / 2 } })
    const early = [thread(0.9), thread(0.1)]
    const late = [thread(0.2), thread(0.7)]
    const busy = { t: busiest() }
    const { t } = sumOfSources(busy, [folded(busy, early), folded(busy, late)])
    assert.deepEqual(plain(t), { over_s: 2, busy_s: 1, cpu_s: 0.5 })
  })

  test('times merge bucket by bucket, with their highest value as it was', () => {
    const [one, other] = [series(), series()]
    const of = { us: timesField() }
    const lines = [1, 9615, 100, 12345].map((us, i) => {
      const own = i % 2 ? other : one
      own.record(us)
      return { us: own.turn() }
    })
    const together = folded(of, lines)
    for (const [a, b] of [
      [lines.slice(0, 1), lines.slice(1)],
      [
        [lines[3], lines[0]],
        [lines[2], lines[1]],
      ],
    ]) {
      const apart = sumOfSources(of, [folded(of, a), folded(of, b)])
      assert.deepEqual(apart.us.buckets.percentiles(), together.us.buckets.percentiles())
      assert.deepEqual([apart.us.samples, apart.us.max], [4, 12345])
    }
    one.close()
    other.close()
  })
})
