// Options from a file: YAML, JSON, or the run.json of an earlier run.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { planOf } from '../../lib/loads/plan.js'
import { optionsIn } from '../../lib/options/option-file.js'
import { ownOptions } from '../../settings.js'
import { ownFolder } from '../helpers/programs.js'
import { settingsOf } from '../helpers/sample-plan.js'
import { rowsOf } from '../helpers/table.js'

const folder = ownFolder({ after }, 'file')
/** @param {object} whole @param {object} part */
const assertPartOf = (whole, part) => assert.deepEqual({ ...whole, ...part }, whole)
let files = 0
const fileOf = (/** @type {string} */ text, /** @type {string} */ name = 'run.yaml') => {
  const path = join(folder, `${++files}-${name}`)
  writeFileSync(path, text)
  return path
}

test('a file of options: the command line is stronger, the environment weaker', () => {
  const path = fileOf(`# our load
rate: 300k
ttl: 1m30s
sets: 4
cluster: true
threshold: [items.failed<=0, rate.achieved>9k]
uri: redis://h
`)
  const settings = settingsOf(`-f ${path} --ttl 5`, 'producer', { MILLRACE_SETS: '8', MILLRACE_SEED: '9' })
  const { given } = settings
  assertPartOf(settings, {
    ...{ ttlS: 5, sortedSets: 4, seed: 9, quantity: 300_000, pacing: 'smooth', cluster: true, host: 'h' },
    thresholds: ['items.failed<=0', 'rate.achieved>9k'],
  })
  assert.deepEqual([given.ttlS, given.sortedSets, given.seed], ['command line', 'file', 'environment'])
})

test('consumers whose rate changed fetch so again', () => {
  const rates = settingsOf('--fetch-rate 10@1s,20@2s', 'consumer').rates
  const sent = { flow: 'fetches', strategy: 'list', limit: 10, agents: [1] }
  const fetched = { ...sent, periodMs: 60, fetchHz: 50 / 3, rates, durationMs: 3000 }
  const document = { schema: 1, kind: 'consumer', plan: { ...fetched, source: 'target', pacing: 'open' } }
  const path = fileOf(JSON.stringify(document), 'run.json')
  assert.deepEqual(settingsOf(`-f ${path}`, 'consumer').rates, rates)
  const other = fileOf(JSON.stringify({ ...document, plan: { ...fetched, flow: 'drops' } }), 'run.json')
  const noRun = /is not the result of a run: 'plan.flow' must be one of ticks,/
  assert.throws(() => settingsOf(`-f ${other}`, 'consumer'), noRun)
})

test('JSON is read as well', () => {
  const run = fileOf('{"quantity": 500, "once": true, "json": false}', 'run.json')
  const settings = settingsOf(`--file ${run}`)
  assert.deepEqual([settings.quantity, settings.once, settings.json], [500, true, false])
})

for (const [text, message] of rowsOf(String.raw`
raet: 5 -> ^--file \S+: unknown option raet; did you mean rate\?$
rat: 5 -> ^--file \S+: unknown option rat; did you mean rate\?$
limit: 5 -> ^--file \S+: unknown option limit
file: other.yaml -> ^--file \S+: unknown option file
ttl: -> ^--file \S+: ttl needs a value$
ttl: {a: 1} -> ^--file \S+: ttl needs a value$
ttl: 500ms -> ^ttl in \S+ must be whole seconds
items: 5\nkeys: 6 -> ^--file \S+: items is given twice$
ttl: 5\nttl: 6 -> ^--file \S+ is neither YAML nor JSON: Map keys must be unique
rate: 5k\nperiod: 5 -> ^rate in \S+ and period in \S+ exclude each other$
password: hunter2 -> ^--file \S+: password: no password in a file of options; set REDIS_PASSWORD$
url: redis://u:hunter2@h -> ^--file \S+: url: no password
[1, 2] -> must have a line for each option
\n -> must have a line for each option
{ -> is neither YAML nor JSON
strategy: list\npartitions: 16\n -> ^partitions in .* is an option of membership
strategy: lookup-get\nchunks: 4\n -> ^chunks in .* is not an option of lookup-get
strategy: counter-loop\nvalue-size: 10B\n -> ^value-size in .*: counter-loop stores no values
`))
  test(`bad file: ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => settingsOf(`-f ${fileOf(text)}`),
      (/** @type {any} */ error) => {
        assert.deepEqual([error.name, error.exitCode], ['OptionError', 2])
        assert.match(error.message, new RegExp(message))
        assert.doesNotMatch(error.message, /hunter2|\n/)
        return true
      },
    )
  })

/** @param {any} settings */
const plan = (settings) => planOf(settings, { agents: [1], masters: 1, cluster: false, variant: null })

for (const line of [
  '',
  '-q 3000 -p 500 -c 3 --ttl 9 --sets 3 --with placement=spread,extra-sorted-sets=2 --prefix a: --once --stamp',
  '--rate 300k --items 10k --duration 20 --warm-up 2',
  '--rate 300k --items 10k --duration 20 --warm-up auto',
  '-q 100 --rate 100@1s,200@2s',
  '--strategy lookup-get --rate 1k..3k/3s',
  '--rate max --max-members 0 --driver ioredis',
  '--pacing closed --ws --max-members 50',
  '--pacing smooth -q 5000 --payload sparse --value-size 3kB',
  '--strategy lookup-mix --with ratio=3:7 --keys 500 --connections 3 --pipeline 9 --order sequential --fill',
  '--strategy lookup-get --rate 20k --arrivals poisson --duration 5',
  '--strategy lookup-mix --ttl 30-90 --fill --duration 5',
])
  test(`the run.json of a run gives its plan again: ${line}`, () => {
    const first = plan(settingsOf(line))
    const path = fileOf(JSON.stringify({ schema: 1, kind: 'producer', plan: first }), 'run.json')
    assert.deepEqual(plan(settingsOf(`-f ${path}`)), first)
  })

test('a folder of results stands for its run.json; another kind of run is refused', () => {
  const run = JSON.parse(readFileSync(new URL('../../docs/data/sample.run.json', import.meta.url), 'utf8'))
  writeFileSync(join(folder, 'run.json'), JSON.stringify(run))
  assertPartOf(settingsOf(`-f ${folder}`), {
    ...{ quantity: 50_000, pacing: 'smooth', durationMs: 15_000, warmUpMs: 2000 },
    ...{ cluster: true, shards: 3, replicas: 1 },
  })
  const another = /: the result of a producer, not of a consumer$/
  assert.throws(() => settingsOf(`-f ${folder}`, 'consumer'), another)
})

test('options that a command has for itself come from a file too, but not another file', () => {
  const options = ownOptions('Own', [
    { name: 'peak', type: 'text', help: 'a text' },
    { name: 'file', type: 'path', help: 'these from a file' },
  ])
  const path = join(folder, 'own.yaml')
  writeFileSync(path, 'peak: 300k\n')
  assert.deepEqual(optionsIn(path, options), { origin: 'file', texts: { peak: '300k' } })
  writeFileSync(path, 'file: other.yaml\n')
  assert.throws(() => optionsIn(path, options), /unknown option file/)
})
