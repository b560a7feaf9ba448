import assert from 'node:assert/strict'
import test from 'node:test'
import { OptionError } from '../../lib/base/errors.js'
import { DEFAULT_MAX_MEMBERS } from '../../settings.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @param {unknown} value @param {string} path */
const assertFrozen = (value, path) => {
  if (value === null || typeof value !== 'object') return
  assert.ok(Object.isFrozen(value), `${path} is frozen`)
  for (const [name, part] of Object.entries(value)) assertFrozen(part, `${path}.${name}`)
}

test('plain data, frozen to the ground, and the same behind JSON', () => {
  for (const settings of /** @type {any[]} */ ([
    {},
    { sortedSets: 3, placement: 'spread', extraSortedSets: 2, totalAgents: 4, chunks: 3, durationMs: 60_000 },
    { rate: 'max', maxMembers: 0, maxBehindMs: 1 },
    { strategy: 'hash-ttl', pacing: 'smooth', intervals: 3 },
  ])) {
    const plan = samplePlan(settings, { agents: [1, settings.totalAgents ?? 1], variant: 'HEXPIRE' })
    assertFrozen(plan, 'plan')
    assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan)
  }
})

test('the same settings and facts make the same plan', () => {
  assert.deepEqual(
    samplePlan({ totalAgents: 3 }, { agents: [2] }),
    samplePlan({ totalAgents: 3 }, { agents: [2] }),
  )
})

test("what this process's agents write, and at which rate", () => {
  const plan = samplePlan({ quantity: 10, totalAgents: 3, periodMs: 500 }, { agents: [1, 3] })
  assert.deepEqual(plan.agents, [
    { agent: 1, first: 1, count: 3 },
    { agent: 3, first: 7, count: 4 },
  ])
  assert.equal(plan.items, 7)
  assert.equal(plan.nominalHz, 14)
  assert.equal(samplePlan({ rate: 'max' }).nominalHz, null)
})

for (const { strategy, flag } of /** @type {const} */ ([
  { strategy: 'script-batch', flag: '--ws' },
  { strategy: 'script-item', flag: '--sk' },
])) {
  test(`${flag} on several masters needs --spread`, () => {
    for (const placement of /** @type {const} */ (['plain', 'same-slot'])) {
      assert.throws(
        () => samplePlan({ strategy, placement, sortedSets: 3 }, { masters: 3, cluster: true }),
        (error) =>
          error instanceof OptionError &&
          error.exitCode === 2 &&
          error.message.startsWith(`${flag} needs --spread`),
      )
    }
    assert.equal(
      samplePlan({ strategy, placement: 'spread' }, { masters: 3, cluster: true }).taggedItems,
      true,
    )
    assert.equal(samplePlan({ strategy }, { masters: 1, cluster: true }).taggedItems, false)
    assert.equal(samplePlan({ strategy }).taggedItems, false)
  })
}

test('only scripts tag items', () => {
  assert.equal(
    samplePlan({ placement: 'spread', sortedSets: 3 }, { masters: 3, cluster: true }).taggedItems,
    false,
  )
})

for (const { name, settings, chunks } of /** @type {{ name: string, settings: any, chunks: number }[]} */ ([
  { name: 'open: as asked', settings: { chunks: 7 }, chunks: 7 },
  { name: 'closed: as asked', settings: { chunks: 7, pacing: 'closed' }, chunks: 7 },
  { name: 'smooth: what the clock holds', settings: { pacing: 'smooth', quantity: 10_000 }, chunks: 200 },
  { name: 'smooth: no more than items', settings: { pacing: 'smooth', quantity: 30 }, chunks: 30 },
  {
    name: 'smooth: no more than items of the smallest agent',
    settings: { pacing: 'smooth', quantity: 100, totalAgents: 7 },
    chunks: 14,
  },
  {
    name: 'smooth: not fewer than asked',
    settings: { pacing: 'smooth', quantity: 10_000, chunks: 500 },
    chunks: 500,
  },
  { name: 'smooth: a period too short to part', settings: { pacing: 'smooth', periodMs: 2 }, chunks: 1 },
])) {
  test(`chunks, ${name}`, () => {
    const plan = samplePlan(settings)
    assert.equal(plan.chunks, chunks)
    assert.equal(plan.spacingMs, plan.periodMs / chunks)
  })
}

for (const { settings, ticks } of /** @type {{ settings: any, ticks: number | null }[]} */ ([
  { settings: {}, ticks: null },
  { settings: { durationMs: 60_000 }, ticks: 60 },
  { settings: { durationMs: 60_000, chunks: 10 }, ticks: 600 },
  { settings: { durationMs: 60_000, chunks: 3 }, ticks: 180 },
  { settings: { durationMs: 2500 }, ticks: 3 },
  { settings: { durationMs: 1 }, ticks: 1 },
  { settings: { durationMs: 10_000, periodMs: 700, chunks: 7 }, ticks: 100 },
  { settings: { intervals: 4, chunks: 3 }, ticks: 12 },
  { settings: { durationMs: 60_000, rate: 'max' }, ticks: null },
  { settings: { durationMs: 60_000, pacing: 'closed' }, ticks: null },
  { settings: { intervals: 4, rate: 'max', chunks: 2 }, ticks: 8 },
  { settings: { intervals: 4, pacing: 'closed' }, ticks: 4 },
  { settings: { durationMs: 2000, pacing: 'smooth', quantity: 10_000 }, ticks: 400 },
])) {
  test(`${JSON.stringify(settings)}: ${ticks ?? 'no number of'} ticks`, () => {
    assert.equal(samplePlan(settings).ticks, ticks)
  })
}

test('how far behind a tick may fall', () => {
  assert.equal(samplePlan().maxBehindMs, 5000)
  assert.equal(samplePlan({ maxBehindMs: 3000 }).maxBehindMs, 3000)
  assert.equal(samplePlan({ maxBehindMs: 1 }).maxBehindMs, 2000, 'at least two ticks')
  assert.equal(samplePlan({ periodMs: 60_000 }).maxBehindMs, 120_000)
  assert.equal(samplePlan({ periodMs: 60_000, chunks: 60 }).maxBehindMs, 5000)
})

test('where variadic commands are cut', () => {
  const { maxMembers, scriptMembers } = samplePlan()
  assert.deepEqual({ maxMembers, scriptMembers }, { maxMembers: DEFAULT_MAX_MEMBERS, scriptMembers: 0 })
  assert.equal(samplePlan({ maxMembers: 0 }).maxMembers, 0)
  assert.equal(samplePlan({ maxMembers: 50 }).scriptMembers, 50)
})

test('the facts stand in the plan', () => {
  const { cluster, masters, variant } = samplePlan({}, { cluster: true, masters: 3, variant: 'HSETEX' })
  assert.deepEqual({ cluster, masters, variant }, { cluster: true, masters: 3, variant: 'HSETEX' })
})

test('what is measured begins with a tick and lasts whole ticks', () => {
  const warmUp = (/** @type {Partial<import('../../settings.js').Settings>} */ more) =>
    samplePlan({ warmUpMs: 1000, durationMs: 6000, ...more }).warmUpMs
  assert.equal(warmUp({}), 1000)
  assert.equal(warmUp({ periodMs: 1500 }), 1500)
  assert.equal(warmUp({ periodMs: 1500, chunks: 4 }), 1125)
  assert.equal(warmUp({ periodMs: 2000, durationMs: undefined }), 2000)
  assert.equal(warmUp({ periodMs: 6000 }), 0, 'its only tick is measured')
  assert.equal(warmUp({ periodMs: 1500, rate: 'max' }), 1000)
  assert.equal(warmUp({ periodMs: 1500, pacing: 'closed' }), 1000)
  for (const [durationMs, most] of [
    [1000, 500],
    [3000, 1000],
    [8000, 3000],
    [9500, 4500],
    [10_000, 5000],
    [15_000, 7500],
    [60_000, 10_000],
  ])
    assert.equal(warmUp({ warmUpMs: 'auto', rate: 'max', durationMs }), most)
})
