// What is said of a run that was killed.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sideOf } from '../../lib/compare/sides.js'
import { planOf } from '../../lib/loads/plan.js'
import { documentOf, mostOffered } from '../../lib/result/facts.js'
import { readRecord, remadeIn } from '../../lib/result/record.js'
import { ownFolder } from '../helpers/programs.js'
import { settingsOf } from '../helpers/sample-plan.js'
import { valuesOf } from '../helpers/table.js'

const planOfLine = (/** @type {string} */ line) =>
  planOf(settingsOf(line), { agents: [1], masters: 1, cluster: false, variant: null })

for (const [line, most] of /** @type {[string, number | null][]} */ ([
  // Due at 0, 100, .. 2,000 ms.
  ['-q 1000 -c 10 -a all', 21 * 100],
  ['-q 1000 -c 10 -a all --duration 1s', 10 * 100],
  ['-q 1000 -c 1 -p 10s -a all', 1000],
  ['-q 1000 -c 10 -a all --rate max', null],
  ['-q 1000 -c 10 -a all --pacing closed --intervals 3', 3000],
  ['--strategy lookup-get --keys 100 --rate 500', 1001],
  ['--strategy lookup-get --keys 100', null],
  ['--strategy query-client --with requests=700', 700],
  ['--rate 1000@1s,4000@5s -a all', 1000 + 4000 + 2 * 100],
]))
  test(`${line}: at most ${most} items in two seconds`, () => {
    const plan = planOfLine(line)
    const batch = plan.items / plan.chunks
    const found = mostOffered(plan, 2000)
    if (plan.rates) assert.ok(Number(found) >= 5000 && Number(found) <= 5000 + 3 * batch, String(found))
    else assert.equal(found, most)
  })

test('arrivals that are not even are drawn', () => {
  const found = Number(mostOffered(planOfLine('-q 1000 -c 100 -a all --arrivals poisson'), 20_000))
  assert.ok(found > 18_000 && found < 22_000, String(found))
})

const parts = {
  ...{ kind: 'producer', run: 'r', startedEpochMs: 0, warnings: [] },
  target: { kind: 'single', origin: 'address' },
  versions: { millrace: '0.1.0', node: '20.20.2', servers: ['7.0.15'] },
}
const factsOf = (/** @type {string} */ line) => {
  const schema = /** @type {const} */ (1)
  return { schema, parts: { ...parts, plan: planOfLine(line) }, thresholds: [], sums: null }
}

test('before its first line a result says how many items may be there, and nothing that is not known', () => {
  const { state, warnings, items, duration_s } = documentOf(factsOf('-q 1000 -c 10 -a all'), [], [])
  assert.deepEqual([state, items.acked, duration_s], ['not-valid', 0, 0])
  const said =
    'the run was killed before its first second: between 0 and 2,100 items were stored; nothing was measured'
  assert.deepEqual(valuesOf(warnings, 'message'), [said])
})

test('a folder of facts without lines becomes a whole result; without facts there is one sentence', async (t) => {
  const own = ownFolder(t, 'killed')
  const [begun, setUp] = ['begun', 'set-up'].map((name) => join(own, name))
  for (const folder of [begun, setUp]) {
    mkdirSync(folder)
    for (const name of ['run.lock', 'run.json.part', 'intervals.ndjson', 'events.ndjson'])
      writeFileSync(join(folder, name), '')
  }
  writeFileSync(join(begun, 'facts.json'), JSON.stringify(factsOf('--strategy lookup-get --rate 100')))
  await assert.rejects(sideOf([begun]), /begun: the run was killed; `millrace report` with this folder makes/)
  assert.equal(await remadeIn(begun), true)
  const record = await readRecord(begun)
  assert.equal(record.kind === 'run' && record.run.warnings[0].code, 'killed')
  assert.equal(existsSync(join(begun, 'run.json.part')), false)
  const words = /set-up: the run that began at \d{4}-.*Z was killed in its set-up: it had stored nothing$/
  await assert.rejects(readRecord(setUp), words)
  await assert.rejects(readRecord(setUp), words)
  await assert.rejects(sideOf([setUp]), words)
})

test('a second before its first operation, which took long, is one of its seconds', () => {
  const second = { phase: 'measuring', items: { offered: 0, acked: 0 }, nodes: [] }
  const client = { cpu_s: 0.25, over_s: 1 }
  const lines = [0, 900].map((at_ms) => ({ ...second, at_ms, epoch_ms: at_ms, client }))
  assert.equal(documentOf(factsOf('--strategy membership-set --items 10'), lines, []).client.cpu_s, 0.5)
})
