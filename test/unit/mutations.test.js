// The list of single-line faults is of today's code: a fault that is nowhere to be put would be found by nobody.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { mutations } from '../../scripts/mutations/list.js'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

for (const [i, { file, line, becomes, breaks, unit }] of mutations.entries()) {
  test(`mutation ${i + 1} can be played: ${breaks}`, () => {
    assert.equal(readFileSync(path(file), 'utf8').split(line).length - 1, 1, `${line} in ${file}`)
    assert.notEqual(line, becomes)
    for (const name of unit)
      assert.ok(existsSync(path(`test/${name.includes('/') ? name : `unit/${name}`}.test.js`)), name)
  })
}

test('there are 20 of them at least, and each breaks something else', () => {
  assert.ok(mutations.length >= 20)
  const places = new Set(mutations.map(({ file, line, becomes }) => file + line + becomes))
  assert.equal(places.size, mutations.length)
})
