// The table of docs/studies/clients-faults.md is what the script makes of its data.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { faultsWith, tableOf } from '../../scripts/client-faults.js'

const pathOf = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

test('docs/studies/clients-faults.md has the table of docs/data/clients-faults.ndjson', () => {
  const table = tableOf(pathOf('docs/data/clients-faults.ndjson')).join('\n')
  assert.ok(readFileSync(pathOf('docs/studies/clients-faults.md'), 'utf8').includes(`${table}\n`))
})

test('words that no fault has are an error with the names of all', () => {
  const message = /^no fault has one of these words in its name: .*a reply of 50 MB$/
  assert.throws(() => faultsWith(['a fault that is none']), { message, exitCode: 2 })
  assert.deepEqual(faultsWith(['a reply of 50 MB']), ['a reply of 50 MB'])
})
