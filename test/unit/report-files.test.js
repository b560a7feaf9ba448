import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { OptionError } from '../../lib/base/errors.js'
import { redactor } from '../../lib/base/redact.js'
import { resultDocument } from '../../lib/result/document.js'
import { openResults, runName, writtenAgain } from '../../lib/result/files.js'
import { ownFolder } from '../helpers/programs.js'
import { sampleParts } from '../helpers/sample-run.js'

/** @import { TestContext } from 'node:test' */
/** @import { Warning } from '../../lib/measures/warnings.js' */

const epochMs = Date.UTC(2026, 10, 21, 7, 30, 5, 999)
const folderFor = (/** @type {TestContext} */ context) => ownFolder(context, 'files')
/** @param {string} outDir @param {string} [run] */
const opened = async (outDir, run) => {
  const warnings = /** @type {Warning[]} */ ([])
  const onWarning = (/** @type {typeof warnings[number]} */ warning) => warnings.push(warning)
  const results = await openResults({ outDir, run, epochMs, strategy: 'sorted-set', onWarning })
  return { ...results, warnings, path: (/** @type {string} */ name) => join(results.folder, name) }
}
/** Results of which this file cannot be written, since the disk is full. @param {string} outDir @param {string} name */
const openedFull = (outDir, name) => {
  mkdirSync(join(outDir, 'full'))
  symlinkSync('/dev/full', join(outDir, 'full', name))
  return opened(outDir, 'full')
}
const lines = (/** @type {string} */ path) => {
  const all = readFileSync(path, 'utf8').split('\n')
  return all.slice(0, -1).map((line) => JSON.parse(line))
}
const document = resultDocument(sampleParts())
const optionError = (/** @type {RegExp} */ message) => (/** @type {unknown} */ error) =>
  error instanceof OptionError && message.test(error.message)

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
  const all = Array.from({ length: 1000 }, (_, at) => ({ run: results.run, at }))
  assert.deepEqual(lines(results.path('intervals.ndjson')), all)
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
  await assert.rejects(opened(outDir, 'before_1.2-x'), optionError(/^--run before_1\.2-x: /))
})

const dots = '. .. ../up a/b /abs .hidden -flag é'.split(' ')
const noNames = ['', 'a b', 'a\nb', 'a\0b', 'x'.repeat(101), ...dots]
for (const run of noNames)
  test(`--run ${JSON.stringify(run)} is refused and makes no folder`, async (context) => {
    const outDir = join(folderFor(context), 'out')
    await assert.rejects(opened(outDir, run), optionError(/^--run: /))
    assert.ok(!existsSync(outDir))
  })

test('a folder that cannot be made is told before the run, naming --out', async (context) => {
  const file = join(folderFor(context), 'file')
  writeFileSync(file, 'not a folder')
  for (const outDir of [file, join(file, 'below'), '/proc/results'])
    await assert.rejects(opened(outDir), optionError(new RegExp(`^--out ${outDir}: `)))
})

test('lines stand in their files although the run never finishes', async (context) => {
  const results = await opened(folderFor(context))
  results.interval({ second: 1 })
  results.interval({ second: 2 })
  await results.end()
  const both = [1, 2].map((second) => ({ run: results.run, second }))
  assert.deepEqual(lines(results.path('intervals.ndjson')), both)
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
  for (const name of ['intervals.ndjson', 'run.json.part']) {
    const results = await openedFull(folderFor(context), name)
    results.interval({ second: 1 })
    await results.end()
    results.interval({ second: 2 })
    await results.finish(document)
    assert.equal(results.fault()?.exitCode, 1)
    const [file] = name.split('.part')
    const { message = '' } = results.fault() ?? {}
    assert.match(message, /cannot be written \(ENOSPC\): .*free the disk or set --out/)
    assert.ok(message.startsWith(`${results.path(file)} `), 'the file is named')
    const found = results.warnings.map(({ invalidates }) => invalidates)
    assert.deepEqual(found, [false])
    assert.equal(existsSync(results.path('run.json')), name !== 'run.json.part', 'what can be written is')
    await results.discard()
  }
})

test('a result whose lines could not all be written is not made again from those that were', async (context) => {
  const results = await openedFull(folderFor(context), 'intervals.ndjson')
  results.facts({ schema: 1, sums: null })
  results.interval({ second: 1 })
  await results.end()
  results.facts({ schema: 1, sums: { stored: 1 } })
  await results.finish(document)
  await results.discard()
  const made = async () => assert.fail('made again')
  assert.equal(await writtenAgain(results.folder, made), false)
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
  const terms = { outDir: folderFor(context), epochMs, strategy: 'list', onWarning: () => {} }
  const results = await openResults({ ...terms, redact: redact.data })
  results.event({ kind: 'refused', text: 'ERR hunter2hunter2' })
  results.interval({ errors: { 'ERR hunter2hunter2': 1 } })
  await results.end()
  for (const name of ['events.ndjson', 'intervals.ndjson'])
    assert.match(readFileSync(join(results.folder, name), 'utf8'), /ERR \*\*\*/)
})
