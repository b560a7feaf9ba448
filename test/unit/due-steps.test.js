import assert from 'node:assert/strict'
import test from 'node:test'
import { tickValues } from '../../lib/plan/tick-values.js'
import { dueStepsOf } from '../../lib/transport/due-steps.js'
import { eachStep, once } from '../../lib/workloads/bind/writer.js'
import { seeded } from '../helpers/random.js'

/** @import { Step } from '../../lib/workloads/bind/writer.js' */

const startMs = 1_790_000_000_000
const at = (/** @type {number} */ ms) => tickValues(startMs + ms, 3)
const args = () => ['EXPIRE']
const always = once(['k'], args)
const rarely = once(['k'], args, { everyMs: 10_000 })
const paced = (everyMs = 400) => once(['k'], args, { everyMs, paced: true })
const whole = { at: 0, of: 1 }

const dueSteps = (/** @type {number} */ spacingMs = 1000) => {
  const times = dueStepsOf({ spacingMs, agents: [{ agent: 3 }, { agent: 4 }] })
  return (/** @type {Step} */ step, agent = 3, ms = 0, part = whole) => times({ step, part }, agent, at(ms))
}

test('items are sent at every tick of every writer, and so is what has no period', () => {
  const times = dueSteps()
  for (const ms of [0, 1000, 1001])
    for (const agent of [3, 4])
      for (const step of [eachStep(() => ['PING']), always]) assert.equal(times(step, agent, ms), 1)
})

test('every ten seconds: at the first tick, then not before the time has passed, by one writer', () => {
  const times = dueSteps()
  const sent = []
  for (let ms = 0; ms <= 45_000; ms += 700)
    for (const agent of [3, 4]) if (times(rarely, agent, ms) > 0) sent.push([agent, ms])
  assert.equal(sent.join(' '), '3,0 3,10500 3,21000 3,31500 3,42000')
})

test('steps do not disturb each other', () => {
  const times = dueSteps()
  const other = once(['k'], args, { everyMs: 10_000 })
  const sent = [times(rarely, 3, 0), times(other, 3, 5000), times(rarely, 3, 9999), times(rarely, 3, 10_000)]
  assert.deepEqual([...sent, times(other, 3, 10_000)], [1, 1, 0, 1, 0])
})

test('what is paced is sent as often as its time has passed: not at the start, and no burst after a pause', () => {
  const times = dueSteps()
  const step = paced()
  const sent = [0, 1000, 2000, 3000, 3100, 60_000, 61_000].map((ms) => times(step, 3, ms))
  assert.deepEqual(sent, [0, 2, 3, 2, 0, 6, 2])
  assert.equal(times(paced(), 4, 5000), 0)
})

test('spread over the portions of a tick, it is sent as often as in one piece', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = seeded(seed)
    const spacingMs = random.pick([1, 5, 333.4, 1000, 60_000])
    const everyMs = random.pick([0.5, 7.3, 400, 10_000])
    const of = random.pick([1, 3, 73])
    const [one, parted] = [dueSteps(spacingMs), dueStepsOf({ spacingMs, agents: [{ agent: 3 }] })]
    const step = paced(everyMs)
    let sum = 0
    let ms = 0
    for (let tick = 0; tick < 40; tick++) {
      const values = at(ms)
      const due = one(step, 3, ms)
      const parts = Array.from({ length: of }, (_, p) => parted({ step, part: { at: p, of } }, 3, values))
      const sent = parts.reduce((a, b) => a + b, 0)
      assert.equal(sent, due, `seed ${seed}`)
      assert.ok(Math.max(...parts) - Math.min(...parts) <= 1, `seed ${seed}: evenly`)
      sum += due
      ms += spacingMs
    }
    const passed = ms - spacingMs
    const off = Math.abs(sum * everyMs - passed)
    assert.ok(off <= Math.max(everyMs, 40), `seed ${seed}: ${sum * everyMs} of ${passed} ms`)
  }
})
