// Options from a file: YAML, JSON, or the run.json of an earlier run.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { planOf } from '../../lib/loads/plan.js'
import { optionsIn } from '../../lib/options/option-file.js'
import { readSettings } from '../../lib/options/read-settings.js'
import { ownOptions } from '../../settings.js'

const folder = mkdtempSync(join(tmpdir(), 'millrace-file-'))
after(() => rmSync(folder, { recursive: true }))

/** @param {string} line @param {'producer' | 'consumer'} [program] @param {NodeJS.ProcessEnv} [env] */
const read = (line, program = 'producer', env = {}) => {
  const settings = readSettings({ program, argv: line.split(' ').filter(Boolean), env })
  assert.ok('given' in settings)
  return /** @type {any} */ (settings)
}

let files = 0
/** @param {string} text @param {string} [name] */
const fileOf = (text, name = 'run.yaml') => {
  const path = join(folder, `${++files}-${name}`)
  writeFileSync(path, text)
  return path
}

test('a file of options: the command line is stronger, the environment weaker', () => {
  const path = fileOf(
    '# our load\nrate: 300k\nttl: 1m30s\nsets: 4\ncluster: true\nthreshold: [items.failed<=0, rate.achieved>9k]\nuri: redis://h\n',
  )
  const settings = read(`-f ${path} --ttl 5`, 'producer', { MILLRACE_SETS: '8', MILLRACE_SEED: '9' })
  const { ttlS, sortedSets, seed, quantity, pacing, cluster, host, thresholds, given } = settings
  assert.deepEqual(
    { ttlS, sortedSets, seed, quantity, pacing, cluster, host, thresholds },
    {
      ...{ ttlS: 5, sortedSets: 4, seed: 9, quantity: 300_000, pacing: 'smooth', cluster: true, host: 'h' },
      thresholds: ['items.failed<=0', 'rate.achieved>9k'],
    },
  )
  assert.deepEqual([given.ttlS, given.sortedSets, given.seed], ['command line', 'file', 'environment'])
})

test('consumers whose rate changed fetch so again', () => {
  const rates = read('--fetch-rate 10@1s,20@2s', 'consumer').rates
  const fetched = { limit: 10, agents: [1], periodMs: 60, fetchHz: 50 / 3, rates, durationMs: 3000 }
  const document = { schema: 1, kind: 'consumer', plan: { ...fetched, source: 'target', pacing: 'open' } }
  const path = fileOf(JSON.stringify(document), 'run.json')
  assert.deepEqual(read(`-f ${path}`, 'consumer').rates, rates)
})

test('JSON is read as well', () => {
  const settings = read(`--file ${fileOf('{"quantity": 500, "once": true, "json": false}', 'run.json')}`)
  assert.deepEqual([settings.quantity, settings.once, settings.json], [500, true, false])
})

for (const [text, names] of /** @type {[string, RegExp][]} */ ([
  ['raet: 5', /^--file \S+: unknown option raet; did you mean rate\?$/],
  ['rat: 5', /^--file \S+: unknown option rat; did you mean rate\?$/],
  ['limit: 5', /^--file \S+: unknown option limit/],
  ['file: other.yaml', /^--file \S+: unknown option file/],
  ['ttl:', /^--file \S+: ttl needs a value$/],
  ['ttl: {a: 1}', /^--file \S+: ttl needs a value$/],
  ['ttl: 500ms', /^ttl in \S+ must be whole seconds/],
  ['items: 5\nkeys: 6', /^--file \S+: items is given twice$/],
  ['ttl: 5\nttl: 6', /^--file \S+ is neither YAML nor JSON: Map keys must be unique/],
  ['rate: 5k\nperiod: 5', /^rate in \S+ and period in \S+ exclude each other$/],
  ['password: hunter2', /^--file \S+: password: no password in a file of options; set REDIS_PASSWORD$/],
  ['url: redis://u:hunter2@h', /^--file \S+: url: no password/],
  ['[1, 2]', /must have a line for each option/],
  ['', /must have a line for each option/],
  ['{', /is neither YAML nor JSON/],
]))
  test(`bad file: ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => read(`-f ${fileOf(text)}`),
      (/** @type {any} */ error) => {
        assert.deepEqual([error.name, error.exitCode], ['OptionError', 2])
        assert.match(error.message, names)
        assert.doesNotMatch(error.message, /hunter2|\n/)
        return true
      },
    )
  })

/** @param {any} settings */
const plan = (settings) => planOf(settings, { agents: [1], masters: 1, cluster: false, variant: null })

for (const line of [
  '',
  '-q 3000 -p 500 -c 3 --ttl 9 --sets 3 --placement spread --extra-sorted-sets 2 --prefix a: --once --stamp',
  '--rate 300k --items 10k --duration 20 --warm-up 2',
  '--rate 300k --items 10k --duration 20 --warm-up auto',
  '-q 100 --rate 100@1s,200@2s',
  '--strategy lookup-get --ramp 1k..3k/3s',
  '--rate max --max-members 0 --driver ioredis',
  '--pacing closed --ws --max-members 50',
  '--pacing smooth -q 5000 --payload sparse --value-size 3kB',
  '--strategy lookup-mix --ratio 3:7 --keys 500 --connections 3 --pipeline 9 --order sequential --fill',
  '--strategy lookup-get --rate 20k --arrivals poisson --duration 5',
  '--strategy lookup-mix --ttl 30-90 --fill --duration 5',
])
  test(`the run.json of a run gives its plan again: ${line}`, () => {
    const first = plan(read(line))
    const path = fileOf(JSON.stringify({ schema: 1, kind: 'producer', plan: first }), 'run.json')
    assert.deepEqual(plan(read(`-f ${path}`)), first)
  })

test('a folder of results stands for its run.json; another kind of run is refused', () => {
  const run = JSON.parse(readFileSync(new URL('../../docs/data/sample.run.json', import.meta.url), 'utf8'))
  writeFileSync(join(folder, 'run.json'), JSON.stringify(run))
  const { quantity, totalAgents, chunks, durationMs, warmUpMs, cluster, shards, replicas } = read(
    `-f ${folder}`,
  )
  assert.deepEqual(
    { quantity, totalAgents, chunks, durationMs, warmUpMs, cluster, shards, replicas },
    {
      ...{ quantity: 50_000, totalAgents: 4, chunks: 4, durationMs: 15_000, warmUpMs: 2000 },
      ...{ cluster: true, shards: 3, replicas: 1 },
    },
  )
  assert.throws(() => read(`-f ${folder}`, 'consumer'), /: the result of a producer, not of a consumer$/)
})

test('an option of another workload is refused, as on the command line', () => {
  for (const [text, sentence] of [
    ['strategy: list\npartitions: 16\n', /^partitions in .* is an option of membership/],
    ['strategy: lookup-get\nchunks: 4\n', /^chunks in .* is not an option of lookup-get/],
    ['strategy: counter-loop\nvalue-size: 10B\n', /^value-size in .*: counter-loop stores no values/],
  ]) {
    const path = fileOf(String(text))
    assert.throws(() => read(`-f ${path}`), { name: 'OptionError', message: sentence })
  }
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
