import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { OptionError } from '../../lib/errors.js'
import { openResults, runName } from '../../lib/report/files.js'
import { runDocument } from '../../lib/report/result.js'
import { sampleParts } from '../helpers/sample-run.js'

const epochMs = Date.UTC(2026, 10, 21, 7, 30, 5, 999)
const folderFor = (/** @type {import('node:test').TestContext} */ context) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-files-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
/** @param {string} outDir @param {string} [run] */
const opened = async (outDir, run) => {
  /** @type {import('../../lib/report/verdict.js').Warning[]} */
  const warnings = []
  const onWarning = (/** @type {typeof warnings[number]} */ warning) => warnings.push(warning)
  const results = await openResults({ outDir, run, epochMs, strategy: 'sorted-set', onWarning })
  return { ...results, warnings, path: (/** @type {string} */ name) => join(results.folder, name) }
}
const lines = (/** @type {string} */ path) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
const document = runDocument(sampleParts())

test('runName is the moment and the strategy', () => {
  assert.equal(runName(epochMs, 'list'), '2026-11-21T07-30-05-list')
  assert.equal(runName(epochMs, 'list', 3), '2026-11-21T07-30-05-list-3')
})

test('a run leaves run.json and its lines, and nothing unfinished', async (context) => {
  const results = await opened(join(folderFor(context), 'deep', 'results'))
  for (let at = 0; at < 1000; at++) results.interval({ at })
  results.event({ kind: 'moved' })
  assert.equal(await results.finish(document), true)
  assert.deepEqual(readdirSync(results.folder).sort(), ['events.ndjson', 'intervals.ndjson', 'run.json'])
  assert.deepEqual(JSON.parse(readFileSync(results.path('run.json'), 'utf8')), document)
  assert.deepEqual(
    lines(results.path('intervals.ndjson')),
    Array.from({ length: 1000 }, (_, at) => ({ at })),
  )
  assert.deepEqual(lines(results.path('events.ndjson')), [{ kind: 'moved' }])
  assert.deepEqual(results.warnings, [])
})

test('runs of one second count up, also when they begin together', async (context) => {
  const outDir = folderFor(context)
  const runs = await Promise.all([opened(outDir), opened(outDir), opened(outDir)])
  const name = '2026-11-21T07-30-05-sorted-set'
  assert.deepEqual(runs.map(({ run }) => run).sort(), [name, `${name}-2`, `${name}-3`])
})

test('a typed name is used as it is, once', async (context) => {
  const outDir = folderFor(context)
  assert.equal((await opened(outDir, 'before_1.2-x')).run, 'before_1.2-x')
  await assert.rejects(
    opened(outDir, 'before_1.2-x'),
    (error) => error instanceof OptionError && /^--run before_1\.2-x: /.test(error.message),
  )
})

for (const run of [
  '',
  '.',
  '..',
  '../up',
  'a/b',
  '/abs',
  '.hidden',
  '-flag',
  'a b',
  'a\nb',
  'a\0b',
  'é',
  'x'.repeat(101),
]) {
  test(`--run ${JSON.stringify(run)} is refused and makes no folder`, async (context) => {
    const outDir = join(folderFor(context), 'out')
    await assert.rejects(
      opened(outDir, run),
      (error) => error instanceof OptionError && /^--run: /.test(error.message),
    )
    assert.ok(!existsSync(outDir))
  })
}

test('a folder that cannot be made is told before the run, naming --out', async (context) => {
  const file = join(folderFor(context), 'file')
  writeFileSync(file, 'not a folder')
  for (const outDir of [file, join(file, 'below'), '/proc/results']) {
    await assert.rejects(
      opened(outDir),
      (error) => error instanceof OptionError && error.message.startsWith(`--out ${outDir}: `),
    )
  }
})

test('lines stand in their files although the run never finishes', async (context) => {
  const results = await opened(folderFor(context))
  results.interval({ second: 1 })
  results.interval({ second: 2 })
  await results.end()
  assert.deepEqual(lines(results.path('intervals.ndjson')), [{ second: 1 }, { second: 2 }])
  assert.ok(!existsSync(results.path('run.json')))
  await results.discard()
  assert.ok(existsSync(results.path('intervals.ndjson')))
})

test('an early failure leaves no empty folder', async (context) => {
  const results = await opened(folderFor(context))
  await results.discard()
  assert.ok(!existsSync(results.folder))
  assert.deepEqual(results.warnings, [])
})

test('a full disk costs one warning, and what can be written is', async (context) => {
  const results = await opened(folderFor(context))
  symlinkSync('/dev/full', results.path('intervals.ndjson'))
  symlinkSync('/dev/full', results.path('events.ndjson'))
  results.interval({ second: 1 })
  results.event({ kind: 'moved' })
  await results.end()
  results.interval({ second: 2 })
  assert.equal(await results.finish(document), true)
  assert.equal(results.warnings.length, 1)
  assert.match(results.warnings[0].message, /not complete \(ENOSPC\)/)
  assert.equal(results.warnings[0].invalidates, false)
})

test('run.json is whole or not there', async (context) => {
  const results = await opened(folderFor(context))
  symlinkSync('/dev/full', results.path('run.json.part'))
  assert.equal(await results.finish(document), false)
  assert.deepEqual(readdirSync(results.folder), [])
  await mkdir(results.path('run.json'))
  assert.equal(await results.finish(document), false)
  assert.deepEqual(readdirSync(results.folder), ['run.json'])
  assert.equal(results.warnings.length, 1)
})
