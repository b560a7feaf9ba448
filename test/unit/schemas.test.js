// The schemas that ship with the package, against what is written, and what an earlier version wrote against what is read.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { faultIn } from '../../lib/base/json-schema.js'
import { ofReaders, ofWorkers, ofWriters } from '../../lib/measures/index.js'
import { resultDocument } from '../../lib/result/document.js'
import { measuresOf } from '../../lib/result/metrics.js'
import { CONSUMER, EXPERIMENT, PRODUCER, SECOND, VERIFIABLE, WORKERS } from '../../lib/result/record.js'
import { STATE } from '../../lib/servers/embedded.js'
import { meetsSchema, modelSchema } from '../../lib/workloads/own/from-text.js'
import { mixSchema } from '../../lib/workloads/own/mix-text.js'
import { publishedSchemas } from '../../scripts/readme/published-schemas.js'
import { typesFile } from '../../scripts/readme/types.js'
import { sampleParts } from '../helpers/sample-run.js'

const root = new URL('../..', import.meta.url)
const jsonOf = (/** @type {string} */ path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'))

test('the shipped files are the schemas of the code, and ajv takes them as they are', () => {
  for (const [name, schema] of Object.entries(publishedSchemas)) {
    const shipped = jsonOf(`docs/schemas/${name}`)
    assert.deepEqual(shipped, JSON.parse(JSON.stringify(schema)))
    new Ajv({ allowUnionTypes: true, strictRequired: false }).compile(shipped)
  }
})

test('ajv takes the schemas that are not shipped as they are', () => {
  const results = { SECOND, VERIFIABLE, EXPERIMENT, CONSUMER, WORKERS }
  const unshipped = { ...results, STATE, modelSchema, mixSchema, meetsSchema }
  for (const [name, one] of Object.entries(unshipped))
    assert.ok(new Ajv({ allowUnionTypes: true, strictRequired: false }).compile(one), name)
})

test('the report is checked against the types of a result: none of its values has the type any', () => {
  const folder = new URL('lib/report/', root)
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = all.filter((name) => name.endsWith('.js'))
  assert.ok(files.length > 20)
  const untyped = files.flatMap((name) =>
    readFileSync(new URL(name, folder), 'utf8')
      .split('\n')
      .filter((line) => /[{<|:,(] *any\b/.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  )
  assert.deepEqual(untyped, [])
})

test('types that ship are those of the schemas: a field more, or of another kind, changes them', () => {
  const types = readFileSync(new URL('lib/index.d.ts', root), 'utf8')
  assert.equal(typesFile(types), types)
  for (const line of ['  duration_s: number\n', '  bystander_us?: Percentiles | null\n', '  readers?: {\n'])
    assert.ok(types.includes(line), line)
  assert.equal(typesFile(types.replace('  duration_s: number\n', '  duration_s: string\n')), types)
})

test('a run is what its schema says; without measures, or with a measure of no unit, it is not', () => {
  const schema = publishedSchemas['run.schema.json']
  const run = resultDocument(sampleParts())
  assert.equal(faultIn(run, schema), null)
  const { measures, ...without } = run
  assert.match(faultIn(without, schema) ?? '', /'measures' is missing/)
  const wrong = { ...run, measures: [{ ...measures[0], unit: 'parsec' }] }
  assert.match(faultIn(wrong, schema) ?? '', /measures\.0\.unit/)
})

test('readers of a fleet that do not know what their process takes idle say why', () => {
  const { readers, ...run } = jsonOf('test/data/fleet.run.json')
  const noted = { ...readers, client: { ...readers.client, idle_note: 'it was not idle' } }
  for (const known of [readers, noted]) assert.equal(faultIn({ ...run, readers: known }, PRODUCER), null)
})

test('results of before, without measures, are read and have the same measures by the same names', () => {
  const old = jsonOf('docs/data/add-shard.run.json')
  assert.equal(faultIn(old, PRODUCER), null)
  const { measures, ...stripped } = resultDocument(sampleParts())
  assert.deepEqual(measuresOf(stripped), measures)
  const names = measuresOf(old).map(({ name }) => name)
  for (const name of ['rate.achieved', 'server.cpu_us_per_item', 'latency.intended.p99', 'bystander.p99'])
    assert.ok(names.includes(name), name)
})

test('a measure has its unit, its direction, its samples and its spread', () => {
  const { server, latency_us: latency } = sampleParts()
  const net = { cpu_us_per_item_net: 4.2, cpu_us_per_item_net_uncertainty: 0.1 }
  const latency_us = { ...latency, intended: { ...latency.intended, count: 5000 } }
  const { measures } = resultDocument(sampleParts({ server: { ...server, ...net }, latency_us }))
  const named = (/** @type {string} */ wanted) => measures.find(({ name }) => name === wanted)
  const less = { unit: 'us', better: 'less' }
  for (const [name, rest] of Object.entries({
    'server.cpu_us_per_item_net': { value: 4.2, count: null, spread: 0.1 },
    'latency.intended.p99': { value: 31_890, count: 5000, spread: null },
  }))
    assert.deepEqual(named(name), { name, ...less, ...rest })
  assert.equal(named('rate.achieved')?.better, 'more')
  assert.equal(named('rate.nominal')?.better, 'neither')
})

test('a section of run.json is of one measure, or has all that a measure puts into it', () => {
  for (const [document, measures] of /** @type {const} */ ([
    [PRODUCER, ofWriters],
    [CONSUMER, ofReaders],
    [WORKERS, ofWorkers],
  ]))
    for (const { name, result } of measures)
      for (const path of Object.keys(result)) {
        const [section, ...rest] = path.split('.')
        const place = /** @type {any} */ (document.properties)[section]
        const found = rest.length === 0 ? place : place?.properties?.[rest.join('.')]
        const says = `'${path}' of '${name}': run.json has another '${section}' there; choose another name, or add it to lib/result/record.js`
        assert.ok(found || (place?.additionalProperties && rest.length > 0), says)
        const wanted = Object.keys(/** @type {any} */ (result[path]).properties ?? {})
        if (rest.length === 0)
          for (const part of wanted) assert.ok(part in (place.properties ?? {}), `${says} (${part})`)
      }
})

test('the schema of an answer names a command as it is typed', () => {
  for (const [kind, command] of [
    ['find-memory', 'find --over memory'],
    ['plan', 'plan'],
    ['plan-cache', 'plan cache-aside'],
    ['scale', 'plan scale'],
    ['staff', 'plan staff'],
  ])
    assert.equal(
      jsonOf(`docs/schemas/${kind}.schema.json`).title,
      `${kind}.json: the answer of millrace ${command}`,
    )
})
