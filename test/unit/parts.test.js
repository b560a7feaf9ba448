// How threads share a plan: each item has one thread, and nothing of the schedule is left out or played twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writingOf } from '../../lib/loads/index.js'
import { partsOf, roomOf, scheduleOfPart, threadsOf } from '../../lib/loads/parts.js'
import { turnsOf } from '../../lib/plan/turns.js'
import { scheduleOf } from '../../lib/traffic/arrivals.js'
import { rampOf, settingsOfRates } from '../../lib/traffic/rates.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @import { Settings } from '../../settings.js' */
/** @import { Plan } from '../../lib/loads/plan.js' */
/** @import { Schedule } from '../../lib/loads/dues.js' */

/** @param {Partial<Settings>} settings @param {number[]} [agents] */
const partsIn = (settings, agents = [1]) => {
  const plan = samplePlan(settings, { agents })
  return { plan, parts: partsOf(plan, writingOf(plan).sharing) }
}

/** @param {number} n */
const upTo = (n) => Array.from({ length: n }, (_, i) => i + 1)
const ascending = (/** @type {number[]} */ all) => all.sort((a, b) => a - b)

/** The items of a part, as it writes them in an interval. @param {Plan} part */
const itemsOf = (part) => {
  const { rangeOf } = turnsOf(part)
  return Array.from({ length: part.chunks }, (_, k) =>
    part.agents.flatMap((_, a) => {
      const { first, count } = rangeOf(a, k) ?? { first: 0, count: 0 }
      return Array.from({ length: count }, (_, i) => first + i)
    }),
  ).flat()
}

/** Writers, threads and batches of an interval. @param {readonly string[]} lines */
const cutsOf = (lines) => lines.map((line) => line.split(' ').map(Number))

for (const [totalAgents, threads, chunks] of cutsOf(['1 2 1', '1 7 3', '3 8 2', '8 8 1']))
  test(`${totalAgents} writers in ${threads} threads: every item is of one part, and whole writers where there are enough`, () => {
    const settings = /** @type {const} */ ({ quantity: 1003, totalAgents, chunks, threads, connections: 5 })
    const { plan, parts } = partsIn(settings, upTo(totalAgents))
    assert.equal(parts.length, threads)
    assert.deepEqual(ascending(parts.flatMap(itemsOf)), upTo(1003))
    for (const part of parts) {
      const { agents, items: own, nominalHz, connections } = part
      assert.equal(own, itemsOf(part).length)
      assert.equal(nominalHz, own)
      assert.ok(connections >= 1)
      for (const { agent, first, count } of agents) {
        const whole = plan.agents.find((one) => one.agent === agent)
        assert.ok(whole && first >= whole.first && first + count <= whole.first + whole.count)
        // A batch is never empty.
        assert.ok(count >= chunks, `${count} items in ${chunks} batches`)
        if (totalAgents >= threads) assert.deepEqual({ agent, first, count }, whole)
      }
    }
  })

for (const [totalAgents, threads, chunks] of cutsOf(['1 2 3', '1 8 10', '3 2 4', '8 8 10', '9 7 20']))
  test(`${totalAgents} writers in ${threads} threads with ${chunks} ticks take turns: none wakes for all ticks`, () => {
    const settings = /** @type {const} */ ({ quantity: 1003, totalAgents, chunks, threads })
    const { parts } = partsIn(settings, upTo(totalAgents))
    assert.deepEqual(ascending(parts.flatMap(itemsOf)), upTo(1003))
    const tick = Math.ceil(1003 / chunks)
    let taken = 0
    let led = 0
    for (const part of parts) {
      const { isTaken, isLed } = turnsOf(part)
      assert.equal(part.items, itemsOf(part).length)
      assert.ok(Math.abs(part.items - 1003 / threads) <= tick + 2 * totalAgents, `${part.items} of 1003`)
      for (let k = 0; k < chunks; k++) {
        const has = part.agents.some((_, a) => turnsOf(part).rangeOf(a, k) !== null)
        assert.equal(isTaken(chunks + k), has)
        if (has) taken++
        if (isLed(k)) led++
      }
    }
    assert.equal(taken, chunks, 'each tick is of one thread')
    assert.equal(led, chunks)
  })

test('threads that one could do without have whole ticks, others have equal items', () => {
  const ofThreads = (/** @type {number} */ quantity) => {
    const { parts } = partsIn({ quantity, totalAgents: 8, chunks: 20, threads: 8 }, upTo(8))
    const ticks = parts.map(itemsByTick).map((items) => items.filter(Boolean).length)
    return { ticks, items: parts.map(({ items }) => items) }
  }
  assert.deepEqual(ofThreads(200_000), {
    ticks: [2, 3, 2, 3, 2, 3, 2, 3],
    items: [20_000, 30_000, 20_000, 30_000, 20_000, 30_000, 20_000, 30_000],
  })
  const equal = ofThreads(216_000)
  assert.deepEqual(equal.items, Array(8).fill(27_000))
  assert.deepEqual(equal.ticks, Array(8).fill(3))
})

/** Items of a part in each tick. @param {Plan} part */
const itemsByTick = (part) => {
  const { rangeOf } = turnsOf(part)
  return Array.from({ length: part.chunks }, (_, k) =>
    part.agents.reduce((sum, _, a) => sum + (rangeOf(a, k)?.count ?? 0), 0),
  )
}

/** By how much the items of a window differ from an equal part, at most. @param {number[]} own @param {number[]} all @param {number} ticks @param {number} of */
const mostApart = (own, all, ticks, of) => {
  let most = 0
  for (let from = 0; from < all.length; from++) {
    let apart = 0
    for (let i = from; i < from + ticks; i++) apart += own[i % all.length] - all[i % all.length] / of
    most = Math.max(most, Math.abs(apart))
  }
  return most
}

for (const threads of [2, 3, 5, 8])
  test(`${threads} threads that take turns have equal items in any tenth of a second, within a turn or two`, () => {
    for (const [totalAgents, chunks, quantity] of cutsOf([
      ...['1 10 10000', '1 100 13000', '8 50 40000', '3 25 7500', '2 200 80000', '5 128 64000'],
      ...['1 100 850', '8 200 10000', '7 90 1803'],
    ])) {
      const settings = /** @type {const} */ ({ quantity, totalAgents, chunks, threads })
      const { parts } = partsIn(settings, upTo(totalAgents))
      const byPart = parts.map(itemsByTick)
      const all = Array.from({ length: chunks }, (_, k) => byPart.reduce((sum, own) => sum + own[k], 0))
      const turnTicks = Math.max(1, Math.floor(chunks / 50))
      const ofTurn = Math.max(...all) * turnTicks
      // Where batches differ, or the last ticks are not enough for all, a thread may have two turns one soon after the other.
      const areAlike = quantity % (totalAgents * chunks) === 0 && chunks % (threads * turnTicks) === 0
      const turns = areAlike ? 1 : 2
      const shape = `${totalAgents} writers, ${chunks} ticks of ${quantity} items`
      for (const [number, own] of byPart.entries()) {
        const apart = mostApart(own, all, Math.ceil(chunks / 10), threads)
        assert.ok(apart < turns * ofTurn + totalAgents, `${shape}: ${apart} apart, a turn has ${ofTurn}`)
        const batch = Math.ceil(quantity / totalAgents / chunks)
        const unequal = Math.abs(parts[number].items - quantity / threads)
        assert.ok(
          unequal <= Math.max(...all) + batch + totalAgents * turnTicks + 1,
          `${shape}: ${unequal} items unequal`,
        )
      }
    }
  })

test('threads do not take turns where a tick is for all of them, or ticks are not drawn apart', () => {
  const turns = (/** @type {Partial<Settings>} */ settings) =>
    partsIn({ quantity: 10_000, totalAgents: 2, chunks: 10, threads: 2, ...settings }, [1, 2]).parts.map(
      ({ part }) => part?.turns === true,
    )
  assert.deepEqual(turns({}), [true, true])
  for (const settings of /** @type {Partial<Settings>[]} */ ([
    { quantity: 300_000 },
    { chunks: 1 },
    { order: 'zipf' },
    { once: true },
    { pacing: 'closed' },
    { rate: 'max' },
    { driver: 'ioredis' },
  ]))
    assert.deepEqual(turns(settings), [false, false], JSON.stringify(settings))
})

test('clients are shared with their connections, and every operation of the schedule is of one part', () => {
  const settings = { strategy: 'lookup-get', quantity: 100, connections: 10, threads: 4, rate: 1000 }
  for (const arrivals of ['constant', 'poisson', 'burst:5x:1s/10s']) {
    const { plan, parts } = partsIn({ ...settings, arrivals, durationMs: 2000 })
    const found = parts.map(({ clients, part }) => `${part?.clients?.first}+${clients?.connections}`)
    assert.equal(found.join(' '), '0+2 2+3 5+2 7+3')
    const fields = { ...plan, rateHz: 1000 }
    const dues = (/** @type {Schedule} */ { due, isOver }) => {
      const all = []
      for (let i = 0; !isOver(i); i++) all.push(due(i, 0))
      return all
    }
    const together = parts.flatMap(({ part }) => dues(scheduleOfPart(scheduleOf(fields), part)))
    assert.deepEqual(ascending(together), dues(scheduleOf(fields)), arrivals)
  }
})

test('one thread has the whole plan as it is', () => {
  const { plan, parts } = partsIn({ threads: 1 })
  assert.equal(parts[0], plan)
  assert.ok(!('threads' in plan))
})

test('auto leaves the cores to the servers here, and takes one thread for a small rate', () => {
  const threadsAt = (/** @type {Partial<Settings>} */ settings, serversHere = 0) =>
    samplePlan({ ...settings, threads: 'auto' }, { serversHere }).threads ?? 1
  assert.equal(threadsAt({ quantity: 1000 }), 1)
  assert.equal(threadsAt({ quantity: 1_000_000, rate: 'max' }, 1000), 1)
  assert.ok(threadsAt({ quantity: 1_000_000, rate: 'max' }) >= 1)
  assert.equal(threadsAt({ strategy: 'counter-pipeline', quantity: 10, threads: 'auto' }), 1)
})

test('auto takes as many threads as the highest rate of a course needs', () => {
  const rates = rampOf('100k..900k/10s') ?? []
  for (const [quantity, changes, threads] of /** @type {[number, Partial<Settings>, number][]} */ ([
    [500_000, {}, 3],
    [500_000, settingsOfRates(rates), 5],
    [500_000, { ...settingsOfRates(rates), totalAgents: 2 }, 3],
    [100, { ...settingsOfRates(rates), strategy: 'lookup-get', connections: 50 }, 5],
  ])) {
    const plan = samplePlan({ quantity, ...changes })
    const room = roomOf(plan, writingOf(plan).sharing)
    assert.equal(
      threadsOf('auto', room, 0, () => 64),
      threads,
    )
    assert.equal(
      threadsOf('auto', room, 1, () => 3),
      2,
    )
  }
})

for (const [settings, agents, message] of /** @type {[Partial<Settings>, number[], RegExp][]} */ ([
  [{ quantity: 100, order: 'zipf', threads: 3 }, [1], /--threads 3: .* 1 writer/],
  [{ quantity: 100, once: true, totalAgents: 2, threads: 3 }, [1, 2], /at most 2 can play this load/],
  [{ quantity: 3, threads: 4 }, [1], /at most 3 can play this load: a batch has no more items/],
  [{ strategy: 'lookup-get', connections: 2, threads: 3 }, [1], /2 connections \(--connections\)/],
  [{ strategy: 'counter-pipeline', threads: 2 }, [1], /is played by one: one client sends/],
  [{ strategy: 'cache-aside', threads: 2 }, [1], /is played by one: its clients share/],
]))
  test(`refused in one line: ${message}`, () => {
    assert.throws(() => samplePlan(settings, { agents }), message)
  })
