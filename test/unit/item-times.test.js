// An item's latency is that of its last answer, once, whatever order its commands are sent and answered in.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { factsBeside, summaryOf } from '../../lib/measures/index.js'
import { latency as latencyMeasure } from '../../lib/measures/latency.js'
import { itemTimesOf } from '../../lib/probes/item-times.js'
import { latencyOf } from '../../lib/probes/latency.js'
import { eachStep, gatherStep, once } from '../../lib/workloads/bind/writer.js'
import { seeded } from '../helpers/random.js'

/** @import { Step } from '../../lib/workloads/bind/writer.js' */

const setex = eachStep((n) => ['SETEX', `item:${n}`], { name: 'SETEX' })
const expire = eachStep((n) => ['EXPIRE', `item:${n}`], { name: 'EXPIRE' })
const [ids, add] = [() => 'ids', () => ['ZADD', 'ids']]
const zadd = gatherStep(0, ids, add, { name: 'ZADD' })
const trim = once(['ids'], () => ['ZREMRANGEBYSCORE', 'ids'], { name: 'ZREMRANGEBYSCORE' })

/** Items of a batch by command. @param {Step} step @param {number[][]} items */
const batchIn = (step, items) => {
  const from = Uint32Array.from([0, ...items.map((_, i) => items.slice(0, i + 1).flat().length)])
  return { step, first: 11, members: Uint32Array.from(items.flat()), from }
}

/** @param {Step[]} steps */
const scene = (steps, { measured = true, count = 4 } = {}) => {
  /** What was recorded: ms from the due time, ms from the send, items. @type {string[]} */
  const recorded = []
  const commands = /** @type {Record<string, string[]>} */ ({})
  const times = itemTimesOf({
    steps,
    latency: {
      record: (dueMs, sentMs, nowMs, items) =>
        recorded.push([nowMs - dueMs, nowMs - sentMs, items].join(' ')),
      command: (name) => {
        commands[name] = []
        return (tookMs, n) => commands[name].push(`${tookMs} ${n}`)
      },
    },
  })
  const account = { first: 11, count, measured }
  const tick = { dueMs: 1000, sends: [1010, 1020, 1030], progress: null, account }
  /** Commands [from, to) of a batch, which write number `write` sent, are answered. @param {any} batch @param {number} from @param {number} to @param {number} write @param {number} sentMs @param {number} nowMs */
  const answered = (batch, from, to, write, sentMs, nowMs) =>
    times.answered(tick, batch, from, to, write, sentMs, nowMs)
  return { answered, tick, recorded, commands }
}

const values = batchIn(setex, [[2], [0], [3], [1]])
const gathered = batchIn(zadd, [[0, 1, 2], [3]])

describe('the latency of an item', () => {
  test('is from its first send to its last answer, by the writes that began its items', () => {
    const { answered, recorded, commands } = scene([setex, zadd])
    answered(values, 0, 3, 1, 1010, 1100)
    answered(values, 3, 4, 2, 1020, 1110)
    assert.deepEqual(recorded, [])
    answered(gathered, 0, 1, 3, 1030, 1200)
    assert.deepEqual(recorded, ['200 190 2', '200 180 1'])
    answered(gathered, 1, 2, 3, 1030, 1300)
    assert.deepEqual(recorded.slice(2), ['300 290 1'])
    assert.deepEqual(commands, { SETEX: ['90 3', '90 1'], ZADD: ['170 1', '270 1'] })
  })

  test('whichever of its commands is answered last', () => {
    const { answered, recorded } = scene([setex, zadd])
    answered(batchIn(zadd, [[0, 1, 2, 3]]), 0, 1, 1, 1010, 1050)
    answered(batchIn(setex, [[0], [1], [2], [3]]), 0, 2, 2, 1020, 1060)
    assert.deepEqual(recorded, ['60 50 2'])
  })

  test('of three commands, with one that carries none', () => {
    const { answered, recorded } = scene([trim, setex, expire, zadd], { count: 1 })
    answered(batchIn(expire, [[0]]), 0, 1, 2, 1030, 1040)
    answered(batchIn(setex, [[0]]), 0, 1, 1, 1030, 1050)
    answered(batchIn(zadd, [[0]]), 0, 1, 3, 1030, 1060)
    answered(batchIn(trim, [[]]), 0, 1, 3, 1030, 1070)
    assert.deepEqual(recorded, ['60 50 1'])
  })

  test('of one command, from its first send though it was repeated', () => {
    const { answered, recorded, commands } = scene([setex])
    answered(batchIn(setex, [[0], [1]]), 0, 2, 1, 1500, 1600)
    assert.deepEqual([recorded, commands.SETEX], [['600 590 2'], ['100 2']])
  })

  test('is not recorded of the warm-up, and its items are counted', () => {
    const { answered, recorded, commands } = scene([setex, zadd], { measured: false })
    const stored = [
      answered(values, 0, 3, 1, 1010, 1020),
      answered(gathered, 0, 1, 2, 1020, 1030),
      answered(values, 3, 4, 1, 1010, 1040),
      answered(gathered, 1, 2, 2, 1020, 1050),
    ]
    assert.deepEqual(stored, [0, 2, 1, 1])
    assert.deepEqual([recorded, commands.SETEX], [[], []])
    assert.equal(scene([setex], { measured: false }).answered(values, 0, 3, 1, 1010, 1020), 3)
  })

  test('of more writes than were ever in a tick', () => {
    const { answered, tick, recorded } = scene([setex, expire], { count: 300 })
    const all = Array.from({ length: 300 }, (_, i) => [i])
    tick.sends = all.map(([i]) => 1001 + i)
    const [stored, aged] = [setex, expire].map((step) => batchIn(step, all))
    for (const [i] of all) answered(stored, i, i + 1, i + 1, 0, 2000)
    answered(aged, 0, 300, 300, 0, 2000)
    const expected = all.map(([i]) => `1000 ${999 - i} 1`)
    assert.deepEqual(recorded, expected)
  })
})

test('items in order are counted as any others', () => {
  const { below, chance, shuffled } = seeded(7)
  for (let round = 0; round < 300; round++) {
    const count = 1 + below(40)
    // Commands of some items each, answered in any order; a few in a row are answered at once.
    const answers = [setex, zadd].flatMap((step) => {
      const items = Array.from({ length: count }, (_, i) => [i])
      const batch = batchIn(step, items)
      const cuts = [0, ...items.map(([i]) => i).filter((i) => i > 0 && chance(1 / 3)), count]
      return cuts
        .slice(1)
        .map((to, k) => ({ batch, from: cuts[k], to, write: 1 + below(3), nowMs: 1100 + k }))
    })
    const order = shuffled(answers)
    const [ordered, any] = [true, false].map((inOrder) => {
      const { answered, recorded } = scene([setex, zadd], { count })
      const stored = order.map(({ batch, from, to, write, nowMs }) =>
        answered({ ...batch, inOrder }, from, to, write, 1010, nowMs),
      )
      return { stored, recorded }
    })
    assert.deepEqual(ordered, any)
    const items = ordered.recorded.map((one) => Number(one.split(' ')[2]))
    const sum = items.reduce((all, n) => all + n, 0)
    assert.equal(sum, count)
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
  for (const [name, us] of Object.entries({ p50: 2000, p90: 4000, max: 4000 }))
    assert.ok(Math.abs(SETEX[name] / us - 1) < 0.001, `${name} ${SETEX[name]}`)
})
