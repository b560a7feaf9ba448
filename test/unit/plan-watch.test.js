import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { planWatch } from '../../lib/loads/fetches/verifying.js'
import { announcedPlan } from '../helpers/sample-plan.js'

const nowMs = 1_790_000_000_000

/** @param {Parameters<typeof announcedPlan>[0]} [settings] @param {object} [change] */
const announced = (settings, change) =>
  announcedPlan(settings, { startedMs: nowMs - 5000, renewedMs: nowMs - 1000, ...change })
const ours = announced()

/** What is reported in so many looks. @param {ReturnType<typeof announced> | null} before @param {number} looks @param {(look: number) => ReturnType<typeof announced>[]} cardsAt */
const reportedOf = async (before, looks, cardsAt) => {
  mock.timers.enable({ apis: ['setInterval'] })
  let looked = 0
  const reported = /** @type {string[]} */ ([])
  const watch = planWatch({
    announced: before,
    read: async () => cardsAt(looked++),
    now: () => nowMs,
    onChanged: () => reported.push('changed'),
    onAppeared: ({ strategy }) => reported.push(strategy),
    sleep: async () => {},
  })
  watch.start()
  for (let look = 1; look <= looks; look++) {
    mock.timers.tick(1000)
    await turn()
    if (before) assert.equal(looked, look)
  }
  watch.stop()
  mock.timers.reset()
  return reported.join()
}

const later = { startedMs: nowMs - 1000 }

test('where there was none, one that is being written is reported, once', async () => {
  const ended = announced({ strategy: 'list' }, { ended: true })
  const seen = [[], [ended], [announced({ strategy: 'set' })], [announced()]]
  assert.equal(await reportedOf(null, 5, (look) => seen[Math.min(look, 3)]), 'set')
})

test('another plan of the same strategy that began since is reported, once', async () => {
  const seeded = (/** @type {number} */ look) => (look === 0 ? [ours] : [announced({ seed: 2 }, later), ours])
  assert.equal(await reportedOf(ours, 3, seeded), 'changed')
  assert.equal(await reportedOf(ours, 3, () => [announced({ valueBytes: 64 }, later)]), 'changed')
})

test('what writes nothing else is no other plan', async () => {
  for (const [name, other] of Object.entries({
    'the same, renewed': { ...ours, renewedMs: nowMs },
    'the same, begun again': { ...ours, ...later },
    'of another version': { ...ours, ...later, version: 'other' },
    'of another strategy': announced({ strategy: 'list' }, later),
    'begun before': announced({ seed: 2 }, { startedMs: nowMs - 9000 }),
    ended: announced({ seed: 2 }, { ...later, ended: true }),
    silent: announced({ seed: 2 }, { ...later, renewedMs: nowMs - 20_000 }),
  }))
    assert.equal(await reportedOf(ours, 3, () => [ours, other]), '', name)
})
