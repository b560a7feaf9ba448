import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readsByServer } from '../../lib/transport/read-order.js'
import { idList, scoreIn } from '../../lib/wire/id-list.js'
import { slotOf, slotOfBytes } from '../../lib/wire/slot.js'
import { newestOf } from '../../lib/workloads/shapes.js'

/** @param {Iterable<string>} ids @param {Parameters<typeof idList>[0]} [options] */
const listOf = (ids, options) => {
  const list = idList(options)
  for (const id of ids) {
    const bytes = Buffer.from(id)
    list.add(bytes, 0, bytes.length)
  }
  return list
}
const texts = (/** @type {ReturnType<typeof idList>} */ list) =>
  Array.from({ length: list.count }, (_, i) => list.text(i))

test('ids of any length come back as they were, also after it was emptied', () => {
  const padding = (/** @type {number} */ i) => (i % 50 === 0 ? 'x'.repeat(i % 3000) : '')
  const ids = Array.from({ length: 20_000 }, (_, i) => `item:${padding(i)}${i}`)
  const list = listOf(ids)
  assert.deepEqual(texts(list), ids)
  list.setScore(7, 5)
  list.clear()
  assert.deepEqual([list.count, list.scoreOf(7)], [0, Number.NaN])
  const again = Buffer.from('-again-')
  assert.equal(list.add(again, 1, 6), 0)
  assert.deepEqual(texts(list), ['again'])
})

test('a unique list takes an id once', () => {
  const ids = Array.from({ length: 30_000 }, (_, i) => `item:${i % 9000}`)
  const list = listOf(ids, { unique: true })
  assert.deepEqual(texts(list), ids.slice(0, 9000))
  assert.equal(list.duplicates, 21_000)
  list.clear()
  assert.equal(list.add(Buffer.from('item:5'), 0, 6), 0)
  assert.equal(list.add(Buffer.from('item:5'), 0, 6), -1)
})

test('scores as a server writes them', () => {
  for (const text of ['0', '7', '1763712345678', '-3', '1.5', '1e21', 'inf', '-inf']) {
    const bytes = Buffer.from(`x${text}y`)
    const expected = { inf: Number.NaN, '-inf': Number.NaN }[text] ?? Number(text)
    assert.equal(scoreIn(bytes, 1, bytes.length - 1), expected, text)
  }
})

test('the newest over all sets, newest first', () => {
  const list = listOf(['a', 'b', 'c', 'd', 'e'])
  for (const [i, score] of [3, 9, 1, 9, 5].entries()) list.setScore(i, score)
  const names = (/** @type {number} */ limit) =>
    Array.from(newestOf(list, limit) ?? [], (i) => list.text(i)).join('')
  assert.equal(newestOf(list, 0), null)
  assert.equal(newestOf(list, 5), null)
  assert.deepEqual([names(1), names(3), names(4)], ['b', 'bde', 'bdea'])
  assert.equal(Array.from(newestOf(listOf(['x', 'y', 'z']), 2) ?? [], String).join(), '0,1')
})

test('the slot of bytes is that of the text', () => {
  const keys = ['', '{', '{}', 'a{}b', '{a}', 'a{b}c', 'a{b', '}{a}', 'a{b{c}d}', 'item:1{123}', 'é{ü}']
  for (let n = 0; n < 2000; n++) keys.push(`item:${n}`)
  for (const key of keys) {
    const bytes = Buffer.from(`--${key}--`)
    assert.equal(slotOfBytes(bytes, 2, bytes.length - 2), slotOf(key), key)
  }
})

const serverOf = (/** @type {number} */ slot) => ['a', 'b', 'c'][Math.floor((slot * 3) / 16_384)]
const places = (/** @type {number} */ n) => Uint32Array.from({ length: n }, (_, i) => i)

test('every id goes to its server once, with many in a command only where the slot is the same', () => {
  const list = listOf(Array.from({ length: 5000 }, (_, i) => (i < 3000 ? `item:${i}{tag}` : `item:${i}`)))
  for (const many of [false, true]) {
    const shares = readsByServer({ list, places: places(5000), cluster: true, many, serverOf })
    const all = [...shares].flatMap(([server, share]) =>
      [...share.places].map((place) => ({ server, place })),
    )
    const sorted = all.map(({ place }) => place).sort((a, b) => a - b)
    assert.deepEqual(sorted, [...places(5000)])
    for (const { server, place } of all) assert.equal(server, serverOf(slotOf(list.text(place))))
    for (const { places: own, cuts } of shares.values()) {
      assert.equal(cuts === null, !many)
      if (!cuts) continue
      assert.deepEqual([cuts[0], cuts.at(-1)], [0, own.length])
      for (let c = 0; c + 1 < cuts.length; c++) {
        /** @type {Set<number>} */
        const slots = new Set(Array.from(own.subarray(cuts[c], cuts[c + 1]), (at) => slotOf(list.text(at))))
        assert.equal(slots.size, 1)
        assert.ok(cuts[c + 1] - cuts[c] <= 1000)
      }
    }
  }
})

test('one server takes them in their order, cut evenly', () => {
  const list = listOf(Array.from({ length: 1001 }, (_, i) => `item:${i}`))
  const asked = { list, places: places(1001), cluster: false, many: true }
  const shares = readsByServer({ ...asked, serverOf: () => 'only' })
  assert.deepEqual([...(shares.get('only')?.cuts ?? [])], [0, 500, 1001])
})
