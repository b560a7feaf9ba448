import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { readerWords } from '../../lib/run/agents.js'
import { consumerPhases, consumersOf } from '../../lib/run/consumers.js'

/** @param {Record<string, unknown>} change */
const planOf = (change) =>
  /** @type {any} */ ({
    agents: [1],
    totalAgents: 1,
    consumers: 1,
    periodMs: 100,
    pacing: 'open',
    durationMs: null,
    ...change,
  })

test('the consumers of all boxes begin at even distances over the period', () => {
  const own = consumerPhases(planOf({ agents: [2, 3], totalAgents: 4, consumers: 2 }))
  assert.deepEqual(own, [
    { consumer: 2, phaseMs: 25 },
    { consumer: 3, phaseMs: 37.5 },
    { consumer: 4, phaseMs: 50 },
    { consumer: 5, phaseMs: 62.5 },
  ])
})

test('which part of the consumers a process is, in words', () => {
  const words = (/** @type {number[]} */ agents, totalAgents = 8, consumers = 4) =>
    readerWords(planOf({ agents, totalAgents, consumers }))
  assert.equal(words([3]), 'agent 3 of 8: 4 of 32 consumers; -a all for everything')
  assert.equal(words([2, 3]), 'agents 2, 3 of 8: 8 of 32 consumers; -a all for everything')
  assert.equal(words([1, 2], 2), 'all of 2 agents: 8 consumers')
  assert.equal(words([1], 1, 1), 'all of 1 agent: 1 consumer')
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
  /** @type {number[]} */
  const began = []
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
      onFetched: () => {
        fetched++
      },
      onOverrun: (_, deadlines) => {
        overrun += deadlines
      },
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

test('open: absolute deadlines, whatever a fetch takes below the period', async () => {
  const { began, overrun, fetched } = await played({}, [30, 70, 99, 5], 450)
  assert.deepEqual(began, [1, 100, 200, 300, 400])
  assert.deepEqual([overrun, fetched], [0, 5])
})

test('open: a deadline that passes meanwhile is counted, and not made up for', async () => {
  const { began, overrun } = await played({}, [30, 250, 30], 650)
  assert.deepEqual(began, [1, 100, 400, 500, 600])
  assert.equal(overrun, 2)
})

test('open: deadlines behind the end are nobody’s', async () => {
  const { began, overrun } = await played({ durationMs: 300 }, [30, 1000], 1500)
  assert.deepEqual(began, [1, 100])
  assert.equal(overrun, 1)
})

test('closed: the period is rest', async () => {
  const { began, overrun } = await played({ pacing: 'closed' }, [30, 250, 30], 700)
  assert.deepEqual(began, [1, 131, 481, 611])
  assert.equal(overrun, 0)
})

test('a fault of the program ends the run and is thrown', async () => {
  const reading = consumersOf({
    plan: planOf({}),
    fetcher: () => () => Promise.reject(new Error('a fault')),
    clock: () => performance.now(),
    events: { onFetched: () => {}, onOverrun: () => {} },
  })
  reading.start()
  await reading.over
  await assert.rejects(reading.settle(1000, new AbortController().signal), /a fault/)
})
