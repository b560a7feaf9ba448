import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { consumersOf, dueTimes } from '../../lib/loads/fetches/consumers.js'
import { readerWords } from '../../lib/run/agents.js'
import { stepsOf } from '../../lib/traffic/rates.js'

const planOf = (/** @type {Record<string, unknown>} */ change) =>
  /** @type {any} */ ({
    ...{ agents: [1], totalAgents: 1, consumers: 1, periodMs: 100, pacing: 'open', durationMs: null },
    ...change,
  })

/** How many of the moments are in each tenth of the period. @param {number[]} moments */
const tenths = (moments) => {
  const counts = Array(10).fill(0)
  for (const ms of moments) counts[Math.floor((ms % 100) / 10)]++
  return counts
}

test('one fetch in each period, at other moments of it, and never much sooner than a period after the last', () => {
  for (const consumer of [0, 1, 4, 7]) {
    const dueMs = dueTimes(planOf({ totalAgents: 4, consumers: 2 }), consumer)
    const moments = Array.from({ length: 100 }, (_, i) => dueMs(i))
    for (const [i, ms] of moments.entries()) {
      assert.equal(Math.floor(ms / 100), i)
      if (i > 0) assert.ok(Math.abs(ms - moments[i - 1] - 100) < 24, `${moments[i - 1]}, ${ms}`)
    }
    for (const n of tenths(moments)) assert.ok(n >= 6 && n <= 14, `${tenths(moments)}`)
    // A short run sees most of it too.
    const few = moments.slice(0, 5).map((ms) => ms % 100)
    assert.ok(Math.max(...few) - Math.min(...few) > 50, `${few}`)
  }
})

test('the consumers of all boxes are spread over the period', () => {
  const plan = planOf({ totalAgents: 10, consumers: 2 })
  for (const index of [0, 1, 2, 50]) {
    const moments = Array.from({ length: 20 }, (_, consumer) => dueTimes(plan, consumer)(index))
    assert.equal(new Set(moments.map((ms) => ms.toFixed(6))).size, 20)
    assert.deepEqual(tenths(moments), Array(10).fill(2))
  }
})

test('which part of the consumers a process is, in words', () => {
  const words = (/** @type {number[]} */ agents, totalAgents = 8, consumers = 4) =>
    readerWords(planOf({ agents, totalAgents, consumers }))
  assert.equal(words([3]), 'reader 3 of 8: 4 of 32 consumers; -a all for everything')
  assert.equal(words([2, 3]), 'readers 2, 3 of 8: 8 of 32 consumers; -a all for everything')
  assert.equal(readerWords(planOf({ agents: [3], totalAgents: 8 }), true).includes('-a all'), false)
  assert.equal(words([1, 2], 2), 'all of 2 readers: 8 consumers')
  assert.equal(words([1], 1, 1), 'the only reader: 1 consumer')
})

/**
 * Runs consumers on a made-up clock, whose timers never take less than 1 ms; fetch i takes durations[i] ms (the last one from there on).
 * @param {Record<string, unknown>} change
 * @param {number[]} durations
 * @param {number} untilMs
 */
const played = async (change, durations, untilMs) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  let nowMs = 1000
  const began = /** @type {number[]} */ ([])
  let overrun = 0
  let fetched = 0
  const reading = consumersOf({
    plan: planOf(change),
    fetcher: () => () => {
      const tookMs = durations[Math.min(began.length, durations.length - 1)]
      began.push(nowMs - 1000)
      return new Promise((resolve) => setTimeout(() => resolve(/** @type {any} */ ({})), tookMs))
    },
    clock: () => nowMs,
    events: {
      onFetched: () => void fetched++,
      onOverrun: (_, deadlines) => (overrun += deadlines),
    },
  })
  reading.start()
  for (let ms = 0; ms < untilMs; ms++) {
    nowMs++
    mock.timers.tick(1)
    for (let i = 0; i < 6; i++) await Promise.resolve()
  }
  reading.stop()
  mock.timers.reset()
  return { began, overrun, fetched, reading }
}

// Each at the first whole ms from its due moment.
const due = Array.from({ length: 7 }, (_, i) => Math.ceil(dueTimes(planOf({}), 0)(i)))

test('open: absolute deadlines, whatever a fetch takes until the next', async () => {
  const { began, overrun, fetched } = await played({}, [30, 70, 75, 5], 550)
  assert.deepEqual([began, overrun, fetched], [due.slice(0, 5), 0, 5])
})

test('open: a deadline that passes meanwhile is counted, and not made up for', async () => {
  const { began, overrun } = await played({}, [30, 250, 30], 650)
  assert.deepEqual([began, overrun], [[due[0], due[1], due[4], due[5], due[6]], 2])
})

test('open: deadlines behind the end are nobody’s', async () => {
  const { began, overrun } = await played({ durationMs: 300 }, [30, 1000], 1500)
  assert.deepEqual([began, overrun], [due.slice(0, 2), 1])
})

test('rates that follow each other: so many fetches are due at each, and one that found no time is counted', async () => {
  const rates = stepsOf('10@1s,40@1s,20@1s')
  const change = { consumers: 2, periodMs: (2 * 1000) / (70 / 3), durationMs: 3000, rates }
  const { began, overrun } = await played(change, [5], 3100)
  const within = (/** @type {number} */ from) => began.filter((ms) => ms >= from && ms < from + 1000).length
  for (const [i, n] of [10, 40, 20].entries()) assert.ok(Math.abs(within(i * 1000) - n) <= 2, `${began}`)
  assert.equal(overrun, 0)
  const slow = await played(change, [400], 3100)
  const all = slow.began.length + slow.overrun
  assert.ok(Math.abs(all - 70) <= 2 && slow.overrun > 40, `${slow.began.length} and ${slow.overrun}`)
})

test('closed: the period is rest', async () => {
  const { began, overrun } = await played({ pacing: 'closed' }, [30, 250, 30], 700)
  const after = began.map((ms) => ms - due[0])
  assert.deepEqual([after, overrun], [[0, 130, 480, 610], 0])
})

test('a fault of the program ends the run and is thrown', async () => {
  const fetcher = () => () => Promise.reject(new Error('a fault'))
  const events = { onFetched: () => {}, onOverrun: () => {} }
  const reading = consumersOf({ plan: planOf({}), fetcher, clock: () => performance.now(), events })
  reading.start()
  await reading.over
  await assert.rejects(reading.settle(1000, new AbortController().signal), /a fault/)
})
