// An item's latency is that of its last answer, once, whatever order its commands are sent and answered in.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { uniforms } from '../../lib/answers/find/random.js'
import { itemTimesOf } from '../../lib/measure/item-times.js'
import { latencyOf } from '../../lib/measure/latency.js'
import { factsBeside, summaryOf } from '../../lib/measures/index.js'
import { latency as latencyMeasure } from '../../lib/measures/latency.js'
import { eachStep, gatherStep, once } from '../../lib/workloads/step.js'

const setex = eachStep((n) => ['SETEX', `item:${n}`], { name: 'SETEX' })
const expire = eachStep((n) => ['EXPIRE', `item:${n}`], { name: 'EXPIRE' })
const zadd = gatherStep(
  0,
  () => 'ids',
  () => ['ZADD', 'ids'],
  { name: 'ZADD' },
)
const trim = once(['ids'], () => ['ZREMRANGEBYSCORE', 'ids'], { name: 'ZREMRANGEBYSCORE' })

/** Items of an encoded batch by command. @param {import('../../lib/workloads/step.js').Step} step @param {number[][]} items */
const encodedBatchOf = (step, items) => ({
  step,
  first: 11,
  members: Uint32Array.from(items.flat()),
  from: Uint32Array.from([0, ...items.map((_, i) => items.slice(0, i + 1).flat().length)]),
})

/** @param {import('../../lib/workloads/step.js').Step[]} steps */
const scene = (steps, { measured = true, count = 4 } = {}) => {
  /** @type {number[][]} */
  const recorded = []
  /** @type {Record<string, number[][]>} */
  const commands = {}
  const times = itemTimesOf({
    steps,
    latency: {
      record: (dueMs, sentMs, nowMs, items) => recorded.push([nowMs - dueMs, nowMs - sentMs, items]),
      command: (name) => {
        /** @type {number[][]} */
        const own = []
        commands[name] = own
        return (tookMs, n) => own.push([tookMs, n])
      },
    },
  })
  const account = { first: 11, count, measured }
  const tick = { dueMs: 1000, sends: [1010, 1020, 1030], progress: null, account }
  return { times, tick, recorded, commands }
}

describe('the latency of an item', () => {
  test('is from its first send to its last answer, by the writes that began its items', () => {
    const { times, tick, recorded, commands } = scene([setex, zadd])
    const values = encodedBatchOf(setex, [[2], [0], [3], [1]])
    const ids = encodedBatchOf(zadd, [[0, 1, 2], [3]])
    times.answered(tick, values, 0, 3, 1, 1010, 1100)
    times.answered(tick, values, 3, 4, 2, 1020, 1110)
    assert.deepEqual(recorded, [])
    times.answered(tick, ids, 0, 1, 3, 1030, 1200)
    assert.deepEqual(recorded, [
      [200, 190, 2],
      [200, 180, 1],
    ])
    times.answered(tick, ids, 1, 2, 3, 1030, 1300)
    assert.deepEqual(recorded.slice(2), [[300, 290, 1]])
    assert.deepEqual(commands, {
      SETEX: [
        [90, 3],
        [90, 1],
      ],
      ZADD: [
        [170, 1],
        [270, 1],
      ],
    })
  })

  test('whichever of its commands is answered last', () => {
    const { times, tick, recorded } = scene([setex, zadd])
    times.answered(tick, encodedBatchOf(zadd, [[0, 1, 2, 3]]), 0, 1, 1, 1010, 1050)
    times.answered(tick, encodedBatchOf(setex, [[0], [1], [2], [3]]), 0, 2, 2, 1020, 1060)
    assert.deepEqual(recorded, [[60, 50, 2]])
  })

  test('of three commands, with one that carries none', () => {
    const { times, tick, recorded } = scene([trim, setex, expire, zadd], { count: 1 })
    for (const [step, write, nowMs] of /** @type {const} */ ([
      [expire, 2, 1040],
      [setex, 1, 1050],
      [zadd, 3, 1060],
    ]))
      times.answered(tick, encodedBatchOf(step, [[0]]), 0, 1, write, 1030, nowMs)
    times.answered(tick, encodedBatchOf(trim, [[]]), 0, 1, 3, 1030, 1070)
    assert.deepEqual(recorded, [[60, 50, 1]])
  })

  test('of one command, from its first send though it was repeated', () => {
    const { times, tick, recorded, commands } = scene([setex])
    times.answered(tick, encodedBatchOf(setex, [[0], [1]]), 0, 2, 1, 1500, 1600)
    assert.deepEqual(recorded, [[600, 590, 2]])
    assert.deepEqual(commands.SETEX, [[100, 2]])
  })

  test('is not recorded of the warm-up, and its items are counted', () => {
    const { times, tick, recorded, commands } = scene([setex, zadd], { measured: false })
    const values = encodedBatchOf(setex, [[2], [0], [3], [1]])
    const ids = encodedBatchOf(zadd, [[0, 1, 2], [3]])
    const stored = [
      times.answered(tick, values, 0, 3, 1, 1010, 1020),
      times.answered(tick, ids, 0, 1, 2, 1020, 1030),
      times.answered(tick, values, 3, 4, 1, 1010, 1040),
      times.answered(tick, ids, 1, 2, 2, 1020, 1050),
    ]
    assert.deepEqual(stored, [0, 2, 1, 1])
    assert.deepEqual([recorded, commands.SETEX], [[], []])
    const alone = scene([setex], { measured: false })
    assert.equal(alone.times.answered(alone.tick, values, 0, 3, 1, 1010, 1020), 3)
  })

  test('of more writes than were ever in a tick', () => {
    const { times, tick, recorded } = scene([setex, expire], { count: 300 })
    const all = Array.from({ length: 300 }, (_, i) => [i])
    tick.sends = all.map(([i]) => 1001 + i)
    for (const [i] of all) times.answered(tick, encodedBatchOf(setex, all), i, i + 1, i + 1, 0, 2000)
    times.answered(tick, encodedBatchOf(expire, all), 0, 300, 300, 0, 2000)
    assert.deepEqual(
      recorded,
      all.map(([i]) => [1000, 999 - i, 1]),
    )
  })
})

test('items in order are counted as any others', () => {
  const uniform = uniforms(7)
  const below = (/** @type {number} */ n) => Math.floor(n * uniform())
  for (let round = 0; round < 300; round++) {
    const count = 1 + below(40)
    // Commands of some items each, answered in any order; a few in a row are answered at once.
    const answers = [setex, zadd].flatMap((step) => {
      const items = Array.from({ length: count }, (_, i) => [i])
      const encoded = encodedBatchOf(step, items)
      const cuts = [0, ...items.map((_, i) => i).filter((i) => i > 0 && below(3) === 0), count]
      return cuts
        .slice(1)
        .map((to, k) => ({ encoded, from: cuts[k], to, write: 1 + below(3), at: uniform(), nowMs: 1100 + k }))
    })
    answers.sort((a, b) => a.at - b.at)
    const [ordered, any] = [true, false].map((inOrder) => {
      const { times, tick, recorded } = scene([setex, zadd], { count })
      const stored = answers.map(({ encoded, from, to, write, nowMs }) =>
        times.answered(tick, { ...encoded, inOrder }, from, to, write, 1010, nowMs),
      )
      return { stored, recorded }
    })
    assert.deepEqual(ordered, any)
    assert.equal(
      ordered.recorded.reduce((sum, [, , items]) => sum + items, 0),
      count,
    )
  }
})

test('commands of a name share a histogram, which counts them', (t) => {
  const latency = latencyOf()
  t.after(latency.close)
  latency.command('SETEX')(2, 3)
  latency.command('SETEX')(4, 1)
  latency.command('DEL')
  const found = latency.commands()
  assert.deepEqual(Object.keys(found), ['SETEX'])
  // Two boxes of a fleet.
  const facts = factsBeside([{ 'latency_us.commands': found }, { 'latency_us.commands': found }])
  const sums = { window: {}, whole: {}, facts, stored: 0, plan: { flow: 'ticks' } }
  const { SETEX } = summaryOf(sums, [latencyMeasure]).latency_us.commands
  assert.equal(SETEX.count, 8)
  for (const [name, us] of /** @type {const} */ ([
    ['p50', 2000],
    ['p90', 4000],
    ['max', 4000],
  ]))
    assert.ok(Math.abs(SETEX[name] / us - 1) < 0.001, `${name} ${SETEX[name]}`)
})
