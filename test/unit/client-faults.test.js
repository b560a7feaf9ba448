// The table of docs/studies/clients-faults.md is what the script makes of its data.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const pathOf = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const [script, data] = ['scripts/client-faults.js', 'docs/data/clients-faults.ndjson'].map(pathOf)
const played = (/** @type {string[]} */ ...args) =>
  spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })

test('docs/studies/clients-faults.md has the table of docs/data/clients-faults.ndjson', () => {
  const { stdout, stderr, status } = played('--table', '--file', data)
  assert.equal(status, 0, stderr)
  assert.ok(readFileSync(pathOf('docs/studies/clients-faults.md'), 'utf8').includes(stdout))
})

test('words that no fault has are one line with the names of all, and exit 2', () => {
  const { stdout, stderr, status } = played('--file', 'none.ndjson', 'a fault that is none')
  assert.deepEqual([status, stdout], [2, ''])
  assert.match(stderr, /^no fault has one of these words in its name: .*a reply of 50 MB\n$/)
})
