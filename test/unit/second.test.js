import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deferred } from '../../lib/base/timers.js'
import { amount } from '../../lib/measures/fields.js'
import { instrumentsOf } from '../../lib/measures/index.js'
import { measure } from '../../lib/measures/measure.js'
import { everySecond, lengthMs, onceASecond } from '../../lib/run/second.js'
import { samplePlan } from '../helpers/sample-plan.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('lines end a little before whole seconds, however late a timer wakes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let nowMs = 0
  const lines = /** @type {number[]} */ ([])
  const line = async () => void lines.push(nowMs)
  const seconds = onceASecond(line, () => nowMs)
  const pass = async (/** @type {number} */ ms) => {
    nowMs += ms
    t.mock.timers.tick(ms)
    await turn()
  }
  seconds.start()
  for (let i = 0; i < 200; i++) await pass(10)
  assert.deepEqual(lines, [970, 1970])
  // The loop was busy for more than a second: one line is longer, the next are where they belong.
  nowMs = 3500
  t.mock.timers.tick(970)
  await turn()
  assert.deepEqual(lines.slice(2), [3500])
  for (let i = 0; i < 150; i++) await pass(10)
  assert.deepEqual(lines.slice(3), [3970, 4970])
  await seconds.stop(new AbortController().signal)
  assert.deepEqual(lines.slice(5), [5000])
})

test('a run lasts whole ticks where it has a schedule', () => {
  assert.equal(lengthMs(samplePlan({ durationMs: 1500 })), 2000)
  assert.equal(lengthMs(samplePlan({ durationMs: 1500, rate: 'max' })), 1500)
  assert.equal(lengthMs(samplePlan({ intervals: 3 })), 3000)
  assert.equal(lengthMs(samplePlan()), null)
})

/**
 * A run of seconds whose measure has what its servers answer.
 * @param {(n: number) => Promise<{ answers: number }>} sample of second n
 * @param {object} [more] that the seconds are given
 */
const secondsWith = async (sample, more = {}) => {
  let n = 0
  const counted = measure({
    ...{ name: 'counted', of: ['processes'], by: 'each', result: {}, metrics: {}, summary: () => ({}) },
    record: { taken: amount('count'), answers: amount('count') },
    open: () => ({ second: () => ({ taken: 1 }), sample: () => sample(++n) }),
  })
  const instruments = await instrumentsOf('processes', { plan: {}, clock: () => 0 }, [counted])
  const lines = /** @type {any[]} */ ([])
  let atMs = 0
  const seconds = everySecond({
    instruments,
    moment: () => ({ atMs, epochMs: atMs, overS: 1 }),
    line: ({ phase }, line) => ({ ...line, phase, nodes: [] }),
    shown: () => ({}),
    totalMs: null,
    elapsed: () => atMs,
    write: (line) => lines.push(line),
    show: () => {},
    ...more,
  })
  return { instruments, lines, seconds, pass: (/** @type {number} */ ms) => (atMs += ms) }
}
const never = new AbortController().signal

test('a second is of the phase in which it ended, though the window opens while threads still tell what they counted', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let phase = /** @type {'warm-up' | 'measuring'} */ ('warm-up')
  const { over: told, finish: tell } = deferred()
  const more = { gather: () => told, phase: () => phase }
  const { seconds, lines } = await secondsWith(() => Promise.resolve({ answers: 1 }), more)
  seconds.start()
  t.mock.timers.tick(970)
  await turn()
  phase = 'measuring'
  tell()
  await turn()
  assert.deepEqual(
    lines.map((line) => line.phase),
    ['warm-up'],
  )
  await seconds.stop(never)
})

test('a server that is silent at the end: the line is written without its answer, and the sums are those of the lines', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { instruments, lines, seconds, pass } = await secondsWith((n) =>
    n === 1 ? Promise.resolve({ answers: 1 }) : new Promise(() => {}),
  )
  seconds.start()
  pass(970)
  t.mock.timers.tick(970)
  await turn()
  const ended = seconds.stop(never)
  for (let i = 0; i < 4; i++) {
    await turn()
    t.mock.timers.tick(2000)
  }
  await ended
  const seen = lines.map(({ at_ms, taken, answers }) => `${at_ms} ${taken} ${answers}`)
  assert.deepEqual(seen, ['970 1 1', '970 1 undefined'])
  assert.deepEqual([instruments.sofar.taken, instruments.sofar.answers], [2, 1])
})

test('an answer that fails is none; lines are in the order of their seconds, however late the answers come', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let answer = (/** @type {{ answers: number }} */ _) => {}
  const { instruments, lines, seconds, pass } = await secondsWith((n) =>
    n === 1 ? new Promise((resolve) => (answer = resolve)) : Promise.reject(new Error('lost')),
  )
  seconds.start()
  for (let i = 0; i < 2; i++) {
    pass(1000)
    t.mock.timers.tick(1000)
    await turn()
  }
  assert.deepEqual(lines, [])
  answer({ answers: 5 })
  await turn()
  await seconds.stop(never)
  const seen = lines.map(({ at_ms, answers }) => `${at_ms} ${answers}`)
  assert.deepEqual(seen, ['1000 5', '2000 undefined', '2000 undefined'])
  assert.deepEqual([instruments.sofar.taken, instruments.sofar.answers], [3, 5])
})

test('lines before the window are counted, as a line may have the same moment', async () => {
  const { instruments } = await secondsWith(async () => ({ answers: 1 }))
  await instruments.second(true)
  await instruments.startWindow()
  await instruments.second(true)
  const { sums } = instruments.result({ stored: 0 })
  assert.deepEqual([sums.linesBefore, instruments.window().taken, instruments.sofar.taken], [1, 1, 2])
})

test('a second that fails is reported, and the next ones are taken', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const told = /** @type {string[]} */ ([])
  let fails = true
  const more = {
    moment: () => ({ atMs: 970, epochMs: 970, overS: 0 }),
    gather: async () => {
      if (fails) throw new Error('no room')
    },
    onFailed: (/** @type {Error} */ { message }) => told.push(message),
  }
  const { seconds, lines } = await secondsWith(() => Promise.resolve({ answers: 1 }), more)
  seconds.start()
  t.mock.timers.tick(970)
  await turn()
  fails = false
  await seconds.stop(never)
  assert.deepEqual([told, lines.length], [['no room'], 1])
})

test('other threads are asked once more at the end, before the last line and outside its limit', async () => {
  const told = /** @type {string[]} */ ([])
  const seconds = everySecond(
    /** @type {any} */ ({
      elapsed: () => 500,
      moment: () => ({ atMs: 500, epochMs: 0, overS: 0.5 }),
      gather: async (/** @type {AbortSignal} */ last) => void told.push(last ? 'gathered last' : 'gathered'),
      instruments: { second: async () => ({}) },
      line: () => ({}),
      write: () => told.push('written'),
      shown: () => ({}),
      show: () => {},
    }),
  )
  seconds.start()
  await seconds.stop(new AbortController().signal)
  assert.deepEqual(told, ['gathered last', 'written'])
})
