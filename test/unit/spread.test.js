import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { joined, repeatShare, sideBySide, withSecond } from '../../lib/probes/spread.js'
import { normal as normalOf, seeded } from '../helpers/random.js'

/** @import { Part, Parts } from '../../lib/probes/spread.js' */

/** @param {readonly number[]} cpuS of each second, which has ten items @returns {Parts} */
const partsOf = (cpuS) =>
  /** @type {Parts} */ (
    cpuS.reduce((/** @type {Parts | null} */ all, one) => withSecond(all, [one, 10]), null)
  )

describe('seconds in blocks', () => {
  test('lose no CPU and no item, however many there are', () => {
    for (const n of [1, 63, 64, 65, 200, 1000]) {
      const { size, of, open } = partsOf(Array.from({ length: n }, (_, at) => at))
      assert.ok(of.length < 64 && open.length < size, `${n}: ${of.length} of ${size}, ${open.length} open`)
      const all = [...of, ...open].reduce(
        (/** @type {number[]} */ [cpu, items], part) => [cpu + part[0], items + part[1]],
        [0, 0],
      )
      assert.deepEqual(all, [(n * (n - 1)) / 2, n * 10])
    }
  })

  test('of two boxes one after the other', () => {
    const all = joined(partsOf(Array(100).fill(1)), partsOf([5, 5, 5, 5]))
    assert.deepEqual([all.size, all.of.length, all.of.at(-1)], [2, 52, [10, 20]])
  })

  test('of nodes side by side, where they were watched in the same seconds', () => {
    const both = sideBySide([partsOf([1, 2]), partsOf([3, 5])])
    assert.deepEqual(both?.of, [
      [4, 10],
      [7, 10],
    ])
    assert.equal(sideBySide([partsOf([1, 2]), partsOf([3])]), null)
  })
})

describe('how far a repeat may come out', () => {
  test('is not known of two seconds', () => assert.equal(repeatShare(partsOf([1, 2])), null))
  test('is never less than what runs differ by', () =>
    assert.ok(Math.abs(Number(repeatShare(partsOf(Array(30).fill(1)))) - 0.05) < 1e-9))

  // Runs whose level and whose seconds vary as much as each other; in the second case each second takes after the one before.
  for (const [name, memory] of /** @type {[string, number][]} */ ([
    ['independent seconds', 0],
    ['seconds that follow each other', 0.4],
  ]))
    test(`covers a repeat in 95 % of pairs: ${name}`, () => {
      const { next } = seeded(7)
      const normal = () => normalOf(next)
      const run = (/** @type {number} */ seconds) => {
        const level = 1 + 0.05 * normal()
        let off = 0
        const cpuS = Array.from({ length: seconds }, () => {
          off = memory * off + Math.sqrt(1 - memory ** 2) * normal()
          return level + 0.1 * off
        })
        const mean = cpuS.reduce((sum, one) => sum + one, 0) / seconds
        return { mean, within: mean * Number(repeatShare(partsOf(cpuS))) }
      }
      for (const seconds of [10, 30]) {
        const ratios = Array.from({ length: 1000 }, () => {
          const [one, other] = [run(seconds), run(seconds)]
          return Math.abs(one.mean - other.mean) / (one.within + other.within)
        }).sort((a, b) => a - b)
        const [p95] = ratios.slice(950)
        assert.ok(p95 <= 1 && p95 >= 0.5, `${seconds} s: ${p95}`)
      }
    })
})
