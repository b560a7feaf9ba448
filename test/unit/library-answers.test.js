import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answersOf } from '../../lib/transport/library-answers.js'
import { valuesOf } from '../helpers/table.js'

const scene = (/** @type {number} */ limitMs) => {
  let nowMs = 0
  const seen = /** @type {string[]} */ ([])
  const answers = answersOf({
    library: { faultOf: () => ({ line: null, left: true, atOnce: false }) },
    ...{ limitMs, clock: () => nowMs },
    onReply: (/** @type {{ name: string, sentMs: number }} */ { name }, reply) => {
      seen.push(`${name} ${reply}`)
    },
    onFault: ({ name }, { isSilent }) => {
      seen.push(`${name} ${isSilent ? 'silent' : 'rejected'}`)
    },
  })
  /** @param {string} name @param {() => Promise<unknown>} send */
  const ask = (name, send) => answers.ask({ name, sentMs: 0 }, send)
  const at = (/** @type {number} */ ms) => {
    nowMs = ms
    answers.watch()
  }
  return { answers, seen, ask, at }
}
const soon = () => new Promise((resolve) => setImmediate(resolve))

test('a command that a library neither answers nor rejects is given up once, and its late answer counts for nothing', async () => {
  const { answers, seen, ask, at } = scene(1000)
  let answerLate = /** @type {(reply: string) => void} */ (() => {})
  ask('a', () => new Promise((resolve) => (answerLate = resolve)))
  at(500)
  ask('b', () => new Promise(() => {}))
  at(1000)
  assert.deepEqual(seen, [])
  at(1001)
  assert.deepEqual(seen, ['a silent'])
  answerLate('OK')
  await soon()
  assert.deepEqual(seen, ['a silent'])
  at(1501)
  assert.deepEqual(seen, ['a silent', 'b silent'])
  assert.equal(answers.count(), 0)
})

test('an answer, a rejection and a throw have one outcome each; without a limit nothing is given up', async () => {
  const { answers, seen, ask, at } = scene(0)
  ask('a', async () => 'OK')
  ask('b', async () => Promise.reject(new Error('no')))
  ask('c', () => {
    throw new Error('at once')
  })
  ask('d', () => new Promise(() => {}))
  await soon()
  at(1e9)
  assert.deepEqual(seen.sort(), ['a OK', 'b rejected', 'c rejected'])
  assert.deepEqual(valuesOf(answers.take(), 'name'), ['d'])
  assert.equal(answers.count(), 0)
})
