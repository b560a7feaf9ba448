import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
/** @import { TestContext } from 'node:test' */
/** @import { Warning } from '../../lib/measures/warnings.js' */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { OptionError } from '../../lib/base/errors.js'
import { redactor } from '../../lib/base/redact.js'
import { resultDocument } from '../../lib/result/document.js'
import { openResults, runName, writtenAgain } from '../../lib/result/files.js'
import { sampleParts } from '../helpers/sample-run.js'

const epochMs = Date.UTC(2026, 10, 21, 7, 30, 5, 999)
const folderFor = (/** @type {import('node:test').TestContext} */ context) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-files-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
/** @param {string} outDir @param {string} [run] */
const opened = async (outDir, run) => {
  /** @type {import('../../lib/measures/warnings.js').Warning[]} */
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
const document = resultDocument(sampleParts())

test('runName is the moment and the strategy', () => {
  assert.equal(runName(epochMs, 'list'), '2026-11-21T07-30-05-list')
  assert.equal(runName(epochMs, 'list', 3), '2026-11-21T07-30-05-list-3')
})

test('a run leaves run.json and its lines, and nothing unfinished', async (context) => {
  const results = await opened(join(folderFor(context), 'deep', 'results'))
  for (let at = 0; at < 1000; at++) results.interval({ at })
  results.event({ kind: 'moved' })
  await results.finish(document)
  await results.discard()
  assert.equal(results.fault(), null)
  assert.deepEqual(readdirSync(results.folder).sort(), ['events.ndjson', 'intervals.ndjson', 'run.json'])
  assert.deepEqual(JSON.parse(readFileSync(results.path('run.json'), 'utf8')), document)
  assert.deepEqual(
    lines(results.path('intervals.ndjson')),
    Array.from({ length: 1000 }, (_, at) => ({ run: results.run, at })),
  )
  assert.deepEqual(lines(results.path('events.ndjson')), [{ run: results.run, kind: 'moved' }])
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
  assert.deepEqual(lines(results.path('intervals.ndjson')), [
    { run: results.run, second: 1 },
    { run: results.run, second: 2 },
  ])
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

test('a full disk does not end the run, and is why its result is not complete', async (context) => {
  const outDir = folderFor(context)
  for (const name of ['intervals.ndjson', 'run.json.part']) {
    const folder = join(outDir, `full-${name}`)
    mkdirSync(folder)
    symlinkSync('/dev/full', join(folder, name))
    const results = await opened(outDir, `full-${name}`)
    results.interval({ second: 1 })
    await results.end()
    results.interval({ second: 2 })
    await results.finish(document)
    assert.equal(results.fault()?.exitCode, 1)
    const [file] = name.split('.part')
    assert.match(
      String(results.fault()?.message),
      /cannot be written \(ENOSPC\): .*free the disk or set --out/,
    )
    assert.ok(results.fault()?.message.startsWith(`${results.path(file)} `), 'the file is named')
    assert.equal(results.warnings.length, 1)
    assert.equal(results.warnings[0].invalidates, false)
    assert.equal(existsSync(results.path('run.json')), name !== 'run.json.part', 'what can be written is')
    await results.discard()
  }
})

test('a result whose lines could not all be written is not made again from those that were', async (context) => {
  const outDir = folderFor(context)
  const folder = join(outDir, 'torn')
  mkdirSync(folder)
  symlinkSync('/dev/full', join(folder, 'intervals.ndjson'))
  const results = await opened(outDir, 'torn')
  results.facts({ schema: 1, sums: null })
  results.interval({ second: 1 })
  await results.end()
  results.facts({ schema: 1, sums: { stored: 1 } })
  await results.finish(document)
  await results.discard()
  const made = async () => assert.fail('made again')
  assert.equal(await writtenAgain(folder, made), false)
  assert.deepEqual(JSON.parse(readFileSync(results.path('run.json'), 'utf8')), document)
})

test('a folder that was removed meanwhile is why the result is not complete', async (context) => {
  const results = await opened(folderFor(context))
  results.interval({ second: 1 })
  rmSync(results.folder, { recursive: true })
  await results.finish(document)
  assert.match(String(results.fault()?.message), /cannot be written \(ENOENT\)/)
  await results.discard()
})

test('a start that was killed does not keep its name; results and a living run do', async (context) => {
  const outDir = folderFor(context)
  const first = await opened(outDir, 'mine')
  await assert.rejects(opened(outDir, 'mine'), /--run mine: process \d+ is writing results of that name/)
  // As kill -9 leaves it: the owner is another process than the one that has its pid.
  const lock = first.path('run.lock')
  const orphaned = JSON.stringify({ ...JSON.parse(readFileSync(lock, 'utf8')), ownerStarted: '1' })
  writeFileSync(lock, orphaned)
  const second = await opened(outDir, 'mine')
  second.interval({ second: 1 })
  await second.end()
  writeFileSync(lock, orphaned)
  await assert.rejects(opened(outDir, 'mine'), /--run mine: results of that name exist/)
})

test('secrets are in no file', async (context) => {
  const redact = redactor()
  redact.learn('hunter2hunter2')
  const results = await openResults({
    outDir: folderFor(context),
    epochMs,
    strategy: 'list',
    onWarning: () => {},
    redact: redact.data,
  })
  results.event({ kind: 'refused', text: 'ERR hunter2hunter2' })
  results.interval({ errors: { 'ERR hunter2hunter2': 1 } })
  await results.end()
  for (const name of ['events.ndjson', 'intervals.ndjson'])
    assert.match(readFileSync(join(results.folder, name), 'utf8'), /ERR \*\*\*/)
})
