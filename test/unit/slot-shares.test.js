import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { evenShares, mapText, slotsIn } from '../../lib/servers/slot-shares.js'

/** @param {number} from @param {number} to */
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

for (const [text, slots] of /** @type {[string, number[] | null][]} */ ([
  ['0', [0]],
  ['0-2,5', [0, 1, 2, 5]],
  ['16383', [16383]],
  [' 3 , 7-8 ', [3, 7, 8]],
  ['16384', null],
  ['5-4', null],
  ['0-16384', null],
  ['a', null],
  ['', null],
  ['1,,2', null],
]))
  test(`slots in '${text}'`, () => assert.deepEqual(slotsIn(text), slots))

describe('even shares', () => {
  /** How many each owns when these moves are done. @param {{ id: string, numbers: number[] }[]} owners @param {ReturnType<typeof evenShares>} moves */
  const sizes = (owners, moves) => {
    const owner = new Map(owners.flatMap(({ id, numbers }) => numbers.map((slot) => [slot, id])))
    for (const { slot, to } of moves) owner.set(slot, to)
    /** @type {Record<string, number>} */
    const counts = {}
    for (const id of owner.values()) counts[id] = (counts[id] ?? 0) + 1
    return counts
  }

  test('a newcomer gets its part, from all alike', () => {
    const owners = [
      { id: 'a', numbers: range(0, 8191) },
      { id: 'b', numbers: range(8192, 16383) },
    ]
    const moves = evenShares(owners, ['c'], false)
    assert.deepEqual(sizes(owners, moves), { a: 5461, b: 5462, c: 5461 })
    assert.equal(new Set(moves.map(({ slot }) => slot)).size, moves.length)
  })

  test('one that leaves gives everything, to all alike, in ranges that lie together', () => {
    const owners = [
      { id: 'a', numbers: range(0, 5460) },
      { id: 'b', numbers: range(5461, 10_921) },
      { id: 'c', numbers: range(10_922, 16_383) },
    ]
    const moves = evenShares(owners, ['a', 'b'], true)
    assert.deepEqual(sizes(owners, moves), { a: 8192, b: 8192 })
    const changes = moves.filter(({ to }, i) => i > 0 && to !== moves[i - 1].to)
    assert.equal(changes.length, 1)
  })

  test('who has an even part already gets nothing', () => {
    const owners = [
      { id: 'a', numbers: range(0, 5) },
      { id: 'b', numbers: range(6, 11) },
    ]
    assert.deepEqual(evenShares(owners, ['b'], false), [])
  })
})

test('a map is the same text in whatever order it is told', () => {
  const node = (/** @type {string} */ id, /** @type {[number, number][]} */ ...slots) =>
    /** @type {any} */ ({ id, slots })
  const nodes = [node('b', [6, 11]), node('c'), node('a', [0, 5], [12, 13])]
  assert.equal(mapText(nodes), 'a 0-5 12-13\nb 6-11')
  assert.equal(mapText([...nodes].reverse()), mapText(nodes))
})
