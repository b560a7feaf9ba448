import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presenceOf, presenceWatch } from '../../lib/probes/presence.js'
import { fieldsIn, rowsOf } from '../helpers/table.js'

/** Samples a second apart from `fromMs` on; the window is from 1 s on. @param {(number | null)[]} live @param {{ total?: number, fromMs?: number, everyMs?: number }} [how] */
const recordOf = (live, { total = 3, fromMs = 970, everyMs = 1000 } = {}) => {
  const record = presenceOf({ total, own: 1 })
  live.forEach((n, i) => void record.add(fromMs + i * everyMs, n, (atMs) => atMs >= 1000))
  return record.summary()
}

test('how many writers were at work: all of them, all the time', () => {
  const all = { total: 3, own: 1, fewest: 3, mean: 3, measured_s: 2, absent_s: 0, unknown_s: 0, before: 2 }
  assert.deepEqual(recordOf([3, 3, 3]), { ...all, steady: true })
})

for (const [name, live, expected] of rowsOf(`
no other writer ever -> [1,1,1] -> fewest=1 mean=1 absent_s=2 steady=true
boxes that begin and end within a second of ours -> [1,3,3,1] -> fewest=3 mean=3 absent_s=0
a late box -> [2,2,3,3] -> fewest=2 mean=${8 / 3} absent_s=1 steady=false
a box that leaves -> [3,3,2,2] -> fewest=2 absent_s=1
seconds without an answer -> [3,null,null,3] -> fewest=3 absent_s=0 unknown_s=1 steady=false
no answer at all -> [null,null] -> fewest=null mean=null absent_s=0 unknown_s=1
`))
  test(`how many writers were at work: ${name}`, () => {
    const summary = recordOf(JSON.parse(live))
    assert.deepEqual({ ...summary, ...fieldsIn(expected) }, summary)
  })

test('the warm-up does not count', () => assert.equal(recordOf([1, 1, 3, 3], { fromMs: -1030 }).absent_s, 0))

test('a rest of a second counts only where there is no whole one', () => {
  assert.equal(recordOf([1, 1], { everyMs: 200 }).absent_s, 0.2)
  const record = presenceOf({ total: 3, own: 1 })
  for (const [i, live] of [3, 3, 1].entries()) record.add(i * 1000, live, () => true)
  record.add(2040, 1, () => true)
  assert.equal(record.summary().absent_s, 0)
})

test('who has all writers does not ask', async () => {
  const others = () => assert.fail('asked')
  const watch = presenceWatch({ writers: { total: 2, own: 2 }, otherWriters: others, isMeasured: () => true })
  assert.equal(await watch.sample(0), 2)
  assert.equal(await watch.sample(1000), 2)
  assert.equal(watch.summary().mean, 2)
})

test('an answer that does not come is none, and is not asked for twice', async () => {
  let asked = 0
  let answer = /** @type {(n: number) => void} */ (() => {})
  const others = () => {
    asked++
    return new Promise((/** @type {(n: number) => void} */ resolve) => (answer = resolve))
  }
  const writers = { total: 3, own: 1 }
  const watch = presenceWatch({ writers, otherWriters: others, isMeasured: () => true, limitMs: 5 })
  assert.equal(await watch.sample(0), null)
  const next = watch.sample(1000)
  answer(2)
  assert.equal(await next, 3)
  assert.equal(asked, 1)
  const away = async () => Promise.reject(new Error('away'))
  const refused = presenceWatch({ writers, otherWriters: away, isMeasured: () => true })
  assert.equal(await refused.sample(0), null)
})
