// Results of the last release: reports, comparisons, capacity and windows of them have the numbers that the release gave.
import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { allFiles } from '../../lib/report/write-report.js'
import { readRecord, remadeIn } from '../../lib/result/record.js'
import { windowOf } from '../../lib/result/window.js'
import { runCommand } from '../helpers/command-here.js'
import { linesOf, ownFolder } from '../helpers/programs.js'

/** @import { TestContext } from 'node:test' */

const released = fileURLToPath(new URL('../data/released', import.meta.url))
const textIn = (/** @type {string[]} */ ...path) => readFileSync(join(released, ...path), 'utf8')
const jsonIn = (/** @type {string[]} */ ...path) => JSON.parse(textIn(...path))
const folders = readdirSync(released).filter((name) => !['sides', 'experiment', 'README.md'].includes(name))

/** What a line of the program prints as JSON. @param {TestContext} t @param {string} line */
const printed = async (t, line) => {
  const { code, stdout, stderr } = await runCommand(t, line, { out: false })
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

/** Numbers of the release that are others now. @param {any} then @param {any} now @param {string} path @returns {string[]} */
const changed = (then, now, path = '') =>
  then && typeof then === 'object'
    ? Object.keys(then).flatMap((key) => changed(then[key], now?.[key], path ? `${path}.${key}` : key))
    : then === now || Math.abs(then - now) <= 1e-3 * Math.abs(then)
      ? []
      : [path]

test('there is one of every kind of load, of a fleet and of a window', () => {
  const kinds = ['chunks', 'clients', 'fetches', 'jobs', 'passes', 'ticks', 'workers']
  assert.deepEqual(folders.toSorted(), [...kinds, 'fleet', 'together', 'window'].toSorted())
})

for (const name of folders)
  test(`report: ${name}`, async () => {
    const files = await allFiles(await readRecord(join(released, name)))
    for (const file of ['nodes.csv', 'seconds.csv']) assert.equal(files[file], textIn(name, file), file)
    // Metrics are in the order of their measures now; none is missing, and none has another value.
    const rows = String(files['figures.csv']).split('\n')
    for (const row of textIn(name, 'figures.csv').split('\n')) assert.ok(rows.includes(row), row)
    assert.ok(String(files['report.html']).includes('<html'))
    assert.ok(String(files['report.txt']).length > 500)
  })

test('report: an experiment', async () => {
  const files = await allFiles(await readRecord(join(released, 'experiment')))
  assert.equal(files['rows.csv'], textIn('experiment', 'rows.csv'))
  assert.ok(String(files['report.html']).includes('<html'))
})

test('millrace report leaves run.json as the release wrote it', async (t) => {
  const folder = join(ownFolder(t, 'released'), 'fleet')
  cpSync(join(released, 'fleet'), folder, { recursive: true })
  assert.equal(await remadeIn(folder), false)
  const { code, stderr } = await runCommand(t, ['report', folder], { out: false })
  assert.equal(code, 0, stderr)
  assert.equal(readFileSync(join(folder, 'run.json'), 'utf8'), textIn('fleet', 'run.json'))
  assert.ok(readdirSync(folder).includes('report.html'))
})

test('millrace diff: the changes of each metric, with their intervals', async (t) => {
  const now = await printed(t, `diff ${released}/sides/a ${released}/sides/b --all --json`)
  const then = jsonIn('sides', 'diff.json')
  const byName = (/** @type {any} */ [{ metrics }]) =>
    Object.fromEntries(metrics.map((/** @type {any} */ { name, title, ...metric }) => [name, metric]))
  assert.ok(Object.keys(byName(then)).length > 20)
  assert.deepEqual(changed(byName(then), byName(now)), [])
})

test('millrace staff --from: the capacity of what was measured', async (t) => {
  const line = `staff --from ${released}/ticks --measure memory --json`
  assert.deepEqual(changed(jsonIn('ticks', 'staff.json'), await printed(t, line)), [])
})

test('a window of its seconds', () => {
  const document = jsonIn('ticks', 'run.json')
  const lines = linesOf(join(released, 'ticks', 'intervals.ndjson'))
  const startMs = Date.parse(document.started)
  const found = windowOf([{ document, lines }], {
    fromMs: startMs + 1500,
    toMs: startMs + lines[lines.length - 1].at_ms - 500,
  })
  // The release gave the CPU of the whole run as that of the window.
  assert.deepEqual(changed(jsonIn('ticks', 'window.json'), found?.document), ['client.cpu_s'])
})
