// The table of docs/clients-faults.md is what the script makes of its data.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const pathOf = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

test('docs/clients-faults.md has the table of docs/data/clients-faults.ndjson', () => {
  const [script, data] = ['scripts/client-faults.js', 'docs/data/clients-faults.ndjson'].map(pathOf)
  const args = [script, '--table', '--file', data]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.ok(readFileSync(pathOf('docs/clients-faults.md'), 'utf8').includes(stdout))
})
