// When the workers of a queue end by themselves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endingOf, withoutRepeats } from '../../lib/loads/workers/open.js'
import { journalOf } from '../../lib/run/frame.js'

const endingAt = (/** @type {number | null} */ durationMs) => {
  let nowMs = 0
  const seen = { gone: 0, over: false }
  const plan = { durationMs, work: { drain: false, outputs: null } }
  const client = () => assert.fail('nothing is asked for')
  const onGone = () => void seen.gone++
  const ending = endingOf(/** @type {any} */ ({ plan, client, strategy: {}, elapsed: () => nowMs, onGone }))
  ending.over.then(() => Object.assign(seen, { over: true }))
  return async (/** @type {number} */ atMs, /** @type {number | null} */ waiting) => {
    nowMs = atMs
    await ending.check(waiting)
    await Promise.resolve()
    return seen
  }
}

test('a server that says nothing for a minute ends a run that has no end', async () => {
  const look = endingAt(null)
  await look(1000, null)
  await look(50_000, 7)
  await look(60_000, null)
  assert.deepEqual(await look(119_999, null), { gone: 0, over: false })
  assert.deepEqual(await look(120_000, null), { gone: 1, over: true })
})

test('a run of a stated length goes on, since its server may come back', async () => {
  const look = endingAt(600_000)
  await look(1000, null)
  assert.deepEqual(await look(300_000, null), { gone: 0, over: false })
})

test('the same words of many connections appear once in ten seconds, with their number', () => {
  let nowMs = 0
  const told = /** @type {string[]} */ ([])
  const tell = (/** @type {string} */ kind, /** @type {string} */ text) => told.push(`${kind}: ${text}`)
  const { event } = journalOf({ elapsed: () => nowMs, write: () => {}, tell })
  const say = withoutRepeats(event, () => nowMs)
  for (nowMs = 0; nowMs < 10_000; nowMs += 100) say('connection', 'refused')
  for (const text of ['another', 'refused', 'refused']) say('connection', text)
  assert.equal(
    told.join('; '),
    'connection: refused; connection: another; connection: refused (99 more times)',
  )
})
