import assert from 'node:assert/strict'
import test from 'node:test'
import { agentRange, chunkRange } from '../../lib/base/ranges.js'
import { seeded } from '../helpers/random.js'

test('a table of shares', () => {
  const shares = (/** @type {number} */ q, /** @type {number} */ t) =>
    Array.from({ length: t }, (_, a) => agentRange(q, t, a + 1)).map(
      ({ first, count }) => `${first}+${count}`,
    )
  assert.equal(shares(300_000, 8)[2], '75001+37500')
  assert.deepEqual(shares(10, 3), ['1+3', '4+3', '7+4'])
  assert.deepEqual(shares(3, 3), ['1+1', '2+1', '3+1'])
  assert.deepEqual(shares(7, 1), ['1+7'])
})

test('agents and chunks part the items 1..q exactly', () => {
  const random = seeded(1)
  const edges = '1 1 1, 10 3 4, 5 5 3, 100000000 10000 7, 99999999 13 1000'
  const cases = edges.split(', ').map((terms) => terms.split(' ').map(Number))
  for (let i = 0; i < 400; i++) {
    const q = 1 + random.below(5000)
    cases.push([q, 1 + random.below(Math.min(q, 60)), 1 + random.below(80)])
  }
  for (const [q, t, c] of cases) {
    const label = `q ${q}, t ${t}, c ${c}`
    const share = Math.floor(q / t)
    let next = 1
    for (let agent = 1; agent <= t; agent++) {
      const range = agentRange(q, t, agent)
      assert.equal(range.first, next, label)
      assert.equal(range.count, agent < t ? share : q - (t - 1) * share, `${label}: the last takes the rest`)
      for (let k = 0; k < c; k++) {
        const chunk = chunkRange(range, c, k)
        assert.equal(chunk.first, next, label)
        assert.ok(Math.abs(chunk.count - range.count / c) < 1, `${label}: equal parts`)
        next += chunk.count
      }
    }
    assert.equal(next, q + 1, label)
  }
})
