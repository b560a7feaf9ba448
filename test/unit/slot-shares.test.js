import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { evenShares, mapText, slotsIn } from '../../lib/servers/reshard.js'

/** Owners of slots, from the first of each to one before the next. @param {Record<string, number>} firsts */
const ownersOf = ({ end, ...firsts }) => {
  const [ids, bounds] = [Object.keys(firsts), [...Object.values(firsts), end]]
  const numbers = (/** @type {number} */ at) =>
    Array.from({ length: bounds[at + 1] - bounds[at] }, (_, i) => bounds[at] + i)
  return ids.map((id, at) => ({ id, numbers: numbers(at) }))
}

const good = { 0: [0], '0-2,5': [0, 1, 2, 5], 16383: [16383], ' 3 , 7-8 ': [3, 7, 8] }
const bad = ['16384', '5-4', '0-16384', 'a', '', '1,,2']
for (const [text, slots] of [
  ...Object.entries(good),
  ...bad.map((one) => /** @type {const} */ ([one, null])),
])
  test(`slots in '${text}'`, () => assert.deepEqual(slotsIn(text), slots))

describe('even shares', () => {
  /** How many each owns when these moves are done. @param {{ id: string, numbers: number[] }[]} owners @param {ReturnType<typeof evenShares>} moves */
  const sizes = (owners, moves) => {
    const owner = new Map(owners.flatMap(({ id, numbers }) => numbers.map((slot) => [slot, id])))
    for (const { slot, to } of moves) owner.set(slot, to)
    const counts = /** @type {Record<string, number>} */ ({})
    for (const id of owner.values()) counts[id] = (counts[id] ?? 0) + 1
    return counts
  }

  test('a newcomer gets its part, from all alike', () => {
    const owners = ownersOf({ a: 0, b: 8192, end: 16_384 })
    const moves = evenShares(owners, ['c'], false)
    assert.deepEqual(sizes(owners, moves), { a: 5461, b: 5462, c: 5461 })
    assert.equal(new Set(moves.map(({ slot }) => slot)).size, moves.length)
  })

  test('one that leaves gives everything, to all alike, in ranges that lie together', () => {
    const owners = ownersOf({ a: 0, b: 5461, c: 10_922, end: 16_384 })
    const moves = evenShares(owners, ['a', 'b'], true)
    assert.deepEqual(sizes(owners, moves), { a: 8192, b: 8192 })
    assert.equal(moves.filter(({ to }, i) => i > 0 && to !== moves[i - 1].to).length, 1)
  })

  test('who has an even part already gets nothing', () => {
    assert.deepEqual(evenShares(ownersOf({ a: 0, b: 6, end: 12 }), ['b'], false), [])
  })
})

test('a map is the same text in whatever order it is told', () => {
  const node = (/** @type {string} */ id, /** @type {[number, number][]} */ ...slots) =>
    /** @type {any} */ ({ id, slots })
  const nodes = [node('b', [6, 11]), node('c'), node('a', [0, 5], [12, 13])]
  assert.equal(mapText(nodes), 'a 0-5 12-13\nb 6-11')
  assert.equal(mapText([...nodes].reverse()), mapText(nodes))
})
