import assert from 'node:assert/strict'
import test from 'node:test'
import { planOf, plansOf } from '../../lib/loads/plan.js'
import { DEFAULT_MAX_MEMBERS } from '../../settings.js'
import { samplePlan, settingsOf } from '../helpers/sample-plan.js'
import { fieldsIn, rowsOf, valuesOf } from '../helpers/table.js'

const assertFrozen = (/** @type {unknown} */ value, /** @type {string} */ path) => {
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

test("what this process's agents write", () => {
  const settings = { quantity: 10, totalAgents: 3, periodMs: 500 }
  const { agents } = samplePlan(settings, { agents: [1, 3] })
  assert.deepEqual(valuesOf(agents, 'agent', 'first', 'count'), [1, 1, 3, 3, 7, 4])
  const [one, same] = [2, 2].map((agent) => samplePlan(settings, { agents: [agent] }))
  assert.deepEqual(one, same)
})

// What it is about, settings, facts, and what the plan has of them.
for (const [what, settings, facts, expected] of rowsOf(`
items and the rate of the agents here -> quantity=10 totalAgents=3 periodMs=500 -> agents=[1,3] -> items=7 nominalHz=14
no rate is planned without a limit -> rate="max" -> - -> nominalHz=null
a spread script tags items of a cluster -> strategy="script-batch" placement="spread" -> masters=3 cluster=true -> taggedItems=true
a spread script an item tags items of a cluster -> strategy="script-item" placement="spread" -> masters=3 cluster=true -> taggedItems=true
no items are tagged on one master -> strategy="script-batch" -> masters=1 cluster=true -> taggedItems=false
no items of a script an item are tagged on one master -> strategy="script-item" -> masters=1 cluster=true -> taggedItems=false
no items are tagged without a cluster -> strategy="script-batch" -> - -> taggedItems=false
no items of a script an item are tagged without a cluster -> strategy="script-item" -> - -> taggedItems=false
only scripts tag items -> placement="spread" sortedSets=3 -> masters=3 cluster=true -> taggedItems=false
chunks, open: as asked -> chunks=7 -> - -> chunks=7
chunks, closed: as asked -> chunks=7 pacing="closed" -> - -> chunks=7
chunks, smooth: what the clock holds -> pacing="smooth" quantity=10000 -> - -> chunks=200
chunks, smooth: no more than items -> pacing="smooth" quantity=30 -> - -> chunks=30
chunks, smooth: no more than items of the smallest agent -> pacing="smooth" quantity=100 totalAgents=7 -> - -> chunks=14
chunks, smooth: not fewer than asked -> pacing="smooth" quantity=10000 chunks=500 -> - -> chunks=500
chunks, smooth: a period too short to part -> pacing="smooth" periodMs=2 -> - -> chunks=1
ticks without an end -> - -> - -> ticks=null
ticks of a minute -> durationMs=60000 -> - -> ticks=60
ticks of a minute in tenths -> durationMs=60000 chunks=10 -> - -> ticks=600
ticks of a minute in thirds -> durationMs=60000 chunks=3 -> - -> ticks=180
ticks that have begun -> durationMs=2500 -> - -> ticks=3
one tick at least -> durationMs=1 -> - -> ticks=1
ticks of parts that do not fit -> durationMs=10000 periodMs=700 chunks=7 -> - -> ticks=100
ticks of intervals -> intervals=4 chunks=3 -> - -> ticks=12
ticks without a rate -> durationMs=60000 rate="max" -> - -> ticks=null
ticks in a closed loop -> durationMs=60000 pacing="closed" -> - -> ticks=null
ticks of intervals without a rate -> intervals=4 rate="max" chunks=2 -> - -> ticks=8
ticks of intervals in a closed loop -> intervals=4 pacing="closed" -> - -> ticks=4
ticks that are smooth -> durationMs=2000 pacing="smooth" quantity=10000 -> - -> ticks=400
how far behind a tick may fall -> - -> - -> maxBehindMs=5000
behind as asked -> maxBehindMs=3000 -> - -> maxBehindMs=3000
behind two ticks at least -> maxBehindMs=1 -> - -> maxBehindMs=2000
behind two long ticks -> periodMs=60000 -> - -> maxBehindMs=120000
behind ticks of parts of a long period -> periodMs=60000 chunks=60 -> - -> maxBehindMs=5000
variadic commands are cut -> - -> - -> maxMembers=${DEFAULT_MAX_MEMBERS} scriptMembers=0
variadic commands are not cut -> maxMembers=0 -> - -> maxMembers=0
scripts are cut as asked -> maxMembers=50 -> - -> scriptMembers=50
the facts are in the plan -> - -> cluster=true masters=3 variant="HSETEX" -> cluster=true masters=3 variant="HSETEX"
warm-up as asked -> warmUpMs=1000 durationMs=6000 -> - -> warmUpMs=1000
warm-up of whole ticks -> warmUpMs=1000 durationMs=6000 periodMs=1500 -> - -> warmUpMs=1500
warm-up of whole parts -> warmUpMs=1000 durationMs=6000 periodMs=1500 chunks=4 -> - -> warmUpMs=1125
warm-up of a run without an end -> warmUpMs=1000 periodMs=2000 -> - -> warmUpMs=2000
warm-up of none: the only tick is measured -> warmUpMs=1000 durationMs=6000 periodMs=6000 -> - -> warmUpMs=0
warm-up without a rate -> warmUpMs=1000 durationMs=6000 periodMs=1500 rate="max" -> - -> warmUpMs=1000
warm-up in a closed loop -> warmUpMs=1000 durationMs=6000 periodMs=1500 pacing="closed" -> - -> warmUpMs=1000
`))
  test(`${what}: ${settings}`, () => {
    const plan = /** @type {any} */ (samplePlan(fieldsIn(settings), fieldsIn(facts)))
    for (const [name, value] of Object.entries(fieldsIn(expected))) assert.equal(plan[name], value, name)
    assert.equal(plan.spacingMs, plan.periodMs / plan.chunks)
  })

test('scripts on several masters need --spread', () => {
  for (const placement of /** @type {const} */ (['plain', 'same-slot']))
    for (const [strategy, flag] of /** @type {const} */ ([
      ['script-batch', '--ws'],
      ['script-item', '--sk'],
    ]))
      assert.throws(() => samplePlan({ strategy, placement, sortedSets: 3 }, { masters: 3, cluster: true }), {
        name: 'OptionError',
        exitCode: 2,
        message: new RegExp(`^${flag} needs --spread`),
      })
})

test('the warm-up that is chosen by the duration', () => {
  const durations = [1000, 3000, 8000, 9500, 10_000, 15_000, 60_000]
  const warmUpOf = (/** @type {number} */ durationMs) =>
    samplePlan({ warmUpMs: 'auto', rate: 'max', durationMs }).warmUpMs
  const chosen = durations.map(warmUpOf)
  assert.deepEqual(chosen, [500, 1000, 3000, 4500, 5000, 7500, 10_000])
})

test('the plan of a run is made once: for other writers it differs in their items, their rate and the name of their jobs', () => {
  const line = '-q 90 -t 3 -p 500 --duration 10s --value-size 64'
  const isShared = new Set(['sorted-set', 'queue-list'])
  for (const strategy of ['sorted-set', 'queue-list', 'lookup-get', 'membership-set', 'counter-pipeline']) {
    const settings = settingsOf(`--strategy ${strategy} ${isShared.has(strategy) ? line : ''}`)
    const facts = { masters: 1, cluster: false, variant: null, startedMs: 7 }
    const plans = plansOf(settings, { ...facts, agents: [1] })
    for (const agents of [[1], [2, 3], [], [1, 2, 3]])
      assert.deepEqual(plans(agents), planOf(settings, { ...facts, agents }))
    assert.deepEqual(plans(), plans([1]))
  }
  const plans = plansOf(settingsOf(line), { agents: [], masters: 1, cluster: false, variant: null })
  const [one, all] = [plans([2]), plans([1, 2, 3])]
  assert.deepEqual([one.items, one.nominalHz, all.items, all.nominalHz], [30, 60, 90, 180])
})
