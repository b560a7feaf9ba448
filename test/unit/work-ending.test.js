// When the workers of a queue end by themselves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endingOf, withoutRepeats } from '../../lib/loads/workers/ending.js'
import { journalOf } from '../../lib/run/frame.js'

/** @param {number | null} durationMs */
const endingAt = (durationMs) => {
  let nowMs = 0
  const seen = { gone: 0, over: false }
  const ending = endingOf(
    /** @type {any} */ ({
      plan: { durationMs, work: { drain: false, outputs: null } },
      client: () => assert.fail('nothing is asked for'),
      strategy: {},
      elapsed: () => nowMs,
      onGone: () => {
        seen.gone++
      },
    }),
  )
  ending.over.then(() => {
    seen.over = true
  })
  const look = async (/** @type {number} */ atMs, /** @type {number | null} */ waiting) => {
    nowMs = atMs
    await ending.look(waiting)
    await Promise.resolve()
    return seen
  }
  return { look, seen }
}

test('a server that says nothing for a minute ends a run that has no end', async () => {
  const { look } = endingAt(null)
  assert.deepEqual(await look(1000, null), { gone: 0, over: false })
  assert.deepEqual(await look(50_000, 7), { gone: 0, over: false })
  assert.deepEqual(await look(60_000, null), { gone: 0, over: false })
  assert.deepEqual(await look(119_999, null), { gone: 0, over: false })
  assert.deepEqual(await look(120_000, null), { gone: 1, over: true })
})

test('a run of a stated length goes on, since its server may come back', async () => {
  const { look } = endingAt(600_000)
  await look(1000, null)
  assert.deepEqual(await look(300_000, null), { gone: 0, over: false })
})

test('the same words of many connections appear once in ten seconds, with their number', () => {
  let nowMs = 0
  const told = /** @type {string[]} */ ([])
  const { event } = journalOf({
    elapsed: () => nowMs,
    write: () => {},
    tell: (kind, text) => told.push(`${kind}: ${text}`),
  })
  const say = withoutRepeats(event, () => nowMs)
  for (nowMs = 0; nowMs < 10_000; nowMs += 100) say('connection', 'refused')
  say('connection', 'another')
  say('connection', 'refused')
  say('connection', 'refused')
  assert.deepEqual(told, [
    'connection: refused',
    'connection: another',
    'connection: refused (99 more times)',
  ])
})
