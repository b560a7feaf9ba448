import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSettings } from '../../lib/options/read-settings.js'
import { shardAddedChart } from '../../scripts/pictures/shard-added.js'
import { dataFolder, dataOf, documents, runNamed } from '../../scripts/readme/data.js'
import { changeWords } from '../../scripts/readme/findings.js'
import { between } from '../../scripts/readme/marks.js'
import { answersPart } from '../../scripts/readme/models.js'
import { envExample } from '../../scripts/readme/options.js'
import { modelsFinding } from '../../scripts/readme/pictures.js'
import { generatedFiles, made, staleFiles } from '../../scripts/readme.js'
import { ownFolder } from '../helpers/programs.js'

/** @param {string} name */
const fileText = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const experiments = documents()
const fromData = made(experiments)

test('generated parts of README.md and docs/, .env.example and pictures are current (else: npm run readme)', () => {
  assert.deepEqual(staleFiles(fromData), [])
})

test('a part that differs is written anew, and nothing else', () => {
  const options = 'docs/reference/options.md'
  const old = `before\n${fileText(options).replace('items per interval', 'things')}after`
  const read = (/** @type {string} */ file) => (file === options ? old : fileText(file))
  assert.equal(generatedFiles(read, fromData)[options], `before\n${fileText(options)}after`)
  assert.throws(() => between('# no marks', 'options', '', 'a.md'), /a\.md lacks <!-- options:start/)
})

test('published ratios follow from the runs in docs/data', (t) => {
  const folder = ownFolder(t, 'data')
  const cpu = 'server.cpu_us_per_item_net'
  const listCosts = () => {
    const { ratios } = documents(folder).get('models') ?? assert.fail()
    const found = ratios.find(({ label, figure }) => label.startsWith('list / sorted set') && figure === cpu)
    return found?.ours.ratio ?? assert.fail()
  }
  copyFileSync(join(dataFolder, 'models.ndjson'), join(folder, 'models.ndjson'))
  const before = listCosts()
  const doubled = fileText('docs/data/models.ndjson')
    .split('\n')
    .map((line) =>
      line.startsWith('{"cell":"list--')
        ? line.replace(/("server\.cpu_us_per_item_net":)([\d.]+)/, (_, name, value) => `${name}${2 * value}`)
        : line,
    )
  writeFileSync(join(folder, 'models.ndjson'), doubled.join('\n'))
  assert.ok(Math.abs(listCosts() / before - 2) < 1e-9)
  assert.notEqual(answersPart(documents(folder)), answersPart(experiments))
})

test('a result is taken without the figures that no table shows', (t) => {
  const folder = ownFolder(t, 'results')
  const [terms, ...turns] = fileText('docs/data/models.ndjson').trim().split('\n')
  const document = experiments.get('models') ?? assert.fail()
  const more = turns.map((line) => {
    const turn = JSON.parse(line)
    for (const leg of turn.legs) leg.figures['ticks.late'] = 1
    return JSON.stringify({ ...turn, timeline: null })
  })
  writeFileSync(join(folder, 'matrix.json'), JSON.stringify({ ...JSON.parse(terms), finished: true }))
  writeFileSync(join(folder, 'turns.ndjson'), `${more.join('\n')}\n`)
  writeFileSync(join(folder, 'experiment.json'), JSON.stringify(document))
  const { 'models.ndjson': text } = dataOf(folder)
  assert.ok(!text.includes('ticks.late'))
  writeFileSync(join(folder, 'taken.ndjson'), text)
  assert.deepEqual(documents(folder).get('models')?.ratios, document.ratios)
})

test('what is not a finished result is refused', (t) => {
  const folder = ownFolder(t, 'none')
  assert.throws(() => dataOf(folder), /neither experiment\.json nor run\.json/)
  mkdirSync(folder, { recursive: true })
  const warnings = [{ code: 'unfinished', message: '', invalidates: true }]
  writeFileSync(join(folder, 'experiment.json'), JSON.stringify({ warnings }))
  assert.throws(() => dataOf(folder), /not finished/)
})

test('.env.example changes nothing, as it is and with every line in force', () => {
  const read = (/** @type {string} */ dotenvText) => {
    const settings = readSettings({ program: 'producer', argv: [], env: {}, dotenvText })
    assert.ok('given' in settings)
    return { ...settings, given: undefined, givenBy: undefined }
  }
  assert.deepEqual(read(envExample()), read(''))
  assert.deepEqual(read(envExample().replaceAll(/^#(\w+=)/gm, '$1')), read(''))
})

test('a picture is titled with what its data show, and with no more', () => {
  const models = experiments.get('models') ?? assert.fail()
  for (const [ratio, low, high, title] of /** @type {[number, number, number, RegExp][]} */ ([
    [0.75, 0.7, 0.8, /^A list costs 25 % less server CPU per item than a sorted set$/],
    [1.5, 1.2, 1.9, /^A list costs 50 % more server CPU per item than a sorted set$/],
    [0.75, 0.5, 1.1, /^No clear difference/],
  ])) {
    const ratios = models.ratios.map((one) => ({ ...one, ours: { ...one.ours, ratio, low, high } }))
    assert.match(modelsFinding({ ...models, ratios }), title)
  }

  const run = runNamed('add-shard')
  assert.ok(run)
  const { offered } = run.items
  const lost = { ...run, items: { offered, acked: offered - 1200 } }
  assert.match(shardAddedChart(run).title, /no item is lost$/)
  assert.match(shardAddedChart(lost).title, /1,200 items are not acknowledged$/)
})

test('an interval that includes 1 is no difference', () => {
  for (const [ratio, low, high, words] of /** @type {const} */ ([
    [0.75, 0.7, 0.8, '25 % less CPU (20 to 30 %)'],
    [1.2, 1.1, 1.3, '20 % more CPU (10 to 30 %)'],
    [0.9, 0.7, 1.1, 'no clear difference in CPU (ratio 0.90 (0.70 to 1.10))'],
  ]))
    assert.equal(changeWords(/** @type {any} */ ({ ours: { ratio, low, high } }), 'CPU'), words)
})
