import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { planWatch } from '../../lib/loads/fetches/plan-watch.js'
import { announcementOf } from '../../lib/plan/announced-plan.js'
import { samplePlan } from '../helpers/sample-plan.js'

const nowMs = 1_790_000_000_000

/** @param {Parameters<typeof samplePlan>[0]} [settings] @param {object} [change] */
const announced = (settings, change) => ({
  ...announcementOf(samplePlan(settings), 'test'),
  startedMs: nowMs - 5000,
  renewedMs: nowMs - 1000,
  ended: false,
  ...change,
})
const ours = announced()

/** How often it is said that the plan has changed, in three looks. @param {(look: number) => ReturnType<typeof announced>[]} cardsAt */
const changes = async (cardsAt) => {
  mock.timers.enable({ apis: ['setInterval'] })
  let looks = 0
  let told = 0
  const watch = planWatch({
    announced: ours,
    read: async () => cardsAt(looks++),
    now: () => nowMs,
    onChanged: () => {
      told++
    },
    onAppeared: () => assert.fail('there was one'),
    sleep: async () => {},
  })
  watch.start()
  for (let look = 1; look <= 3; look++) {
    mock.timers.tick(1000)
    await turn()
    assert.equal(looks, look)
  }
  watch.stop()
  mock.timers.reset()
  return told
}

test('where there was none, one that is being written is told, once', async () => {
  mock.timers.enable({ apis: ['setInterval'] })
  const seen = [
    [],
    [announced({ strategy: 'list' }, { ended: true })],
    [announced({ strategy: 'set' })],
    [announced()],
  ]
  let looks = 0
  /** @type {string[]} */
  const told = []
  const watch = planWatch({
    announced: null,
    read: async () => seen[Math.min(looks++, 3)],
    now: () => nowMs,
    onChanged: () => assert.fail('there was none'),
    onAppeared: ({ strategy }) => told.push(strategy),
    sleep: async () => {},
  })
  watch.start()
  for (let look = 1; look <= 5; look++) {
    mock.timers.tick(1000)
    await turn()
  }
  watch.stop()
  mock.timers.reset()
  assert.deepEqual(told, ['set'])
})

const later = { startedMs: nowMs - 1000 }

test('another plan of the same strategy that began since is told, once', async () => {
  assert.equal(await changes((look) => (look === 0 ? [ours] : [announced({ seed: 2 }, later), ours])), 1)
  assert.equal(await changes(() => [announced({ valueBytes: 64 }, later)]), 1)
})

test('what writes nothing else is no other plan', async () => {
  const cases = {
    'the same, renewed': { ...ours, renewedMs: nowMs },
    'the same, begun again': { ...ours, ...later },
    'of another version': { ...ours, ...later, version: 'other' },
    'of another strategy': announced({ strategy: 'list' }, later),
    'begun before': announced({ seed: 2 }, { startedMs: nowMs - 9000 }),
    ended: announced({ seed: 2 }, { ...later, ended: true }),
    silent: announced({ seed: 2 }, { ...later, renewedMs: nowMs - 20_000 }),
  }
  for (const [name, other] of Object.entries(cases)) assert.equal(await changes(() => [ours, other]), 0, name)
})
