import assert from 'node:assert/strict'
import { test } from 'node:test'
import { didYouMean } from '../../lib/base/did-you-mean.js'
import { rowsOf } from '../helpers/table.js'

const known = ['rate', 'seed', 'sorted-set', 'q', 'n', 'latency.intended.p99', 'latency.service.p99']

// Each row: an unknown name and the known one that it is like.
const names = `
raet -> rate
rat -> rate
rates -> rate
RATE -> none
sed -> seed
esed -> seed
sortedset -> sorted-set
sorted -> sorted-set
sort -> sorted-set
soretd-sett -> sorted-set
p99 -> latency.intended.p99
service.p99 -> latency.service.p99
m -> q
qq -> none
zebra -> none
`

test('a message about an unknown name ends with the known one that is like it', () => {
  for (const [name, like] of rowsOf(names))
    assert.equal(didYouMean(name, known), like === 'none' ? '' : `; did you mean ${like}?`, name)
  assert.equal(didYouMean('rat', []), '')
  const expected = '; did you mean --rate?'
  const typed = (/** @type {string} */ like) => `--${like}`
  assert.equal(didYouMean('rat', known, typed), expected)
})
