import assert from 'node:assert/strict'
import test from 'node:test'
import { deflateSync, inflateSync } from 'node:zlib'
import * as hdr from 'hdr-histogram-js'
import { Histogram } from '../../lib/probes/histogram.js'
import { seeded } from '../helpers/random.js'

const percents = [0.1, 10, 50, 90, 99, 99.9, 99.99, 100]
const highestField = { from: 24, to: 32 }

const byLibrary = () => hdr.build({ bitBucketSize: 64, numberOfSignificantValueDigits: 3 })

/** @param {Histogram} own */
const readByLibrary = (own) => {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(0x1c849314)
  const counts = deflateSync(own.encode())
  head.writeUInt32BE(counts.length, 4)
  return hdr.decodeFromCompressedBase64(Buffer.concat([head, counts]).toString('base64'), 64)
}

/** @param {hdr.Histogram} theirs */
const encodedByLibrary = (theirs) =>
  inflateSync(Buffer.from(hdr.encodeIntoCompressedBase64(theirs), 'base64').subarray(8))

/** But for the highest value that it has room for. @param {Uint8Array} encoded */
const countsOf = (encoded) => Buffer.from(encoded).fill(0, highestField.from, highestField.to).toString('hex')

/** @param {Histogram} own @param {hdr.Histogram} theirs */
const assertSame = (own, theirs) => {
  assert.equal(own.totalCount, theirs.totalCount)
  // The library forgets the last digits when it adds up histograms of different lengths.
  assert.ok(own.maxValue >= theirs.maxValue && own.maxValue <= theirs.maxValue * 1.001)
  assert.ok(Math.abs(own.mean - theirs.mean) <= 1e-12 * theirs.mean)
  assert.deepEqual(
    own.atPercents(percents),
    percents.map((percent) => theirs.getValueAtPercentile(percent)),
  )
  assert.equal(countsOf(own.encode()), countsOf(encodedByLibrary(theirs)))
}

test('the same as the library of HdrHistogram: recorded, added, encoded, decoded and cleared', () => {
  const random = seeded(3)
  const value = (/** @type {number} */ digits) => Math.floor(10 ** (random.next() * digits))
  for (let round = 0; round < 40; round++) {
    const [own, other] = [new Histogram(), new Histogram()]
    const [theirs, theirOther] = [byLibrary(), byLibrary()]
    const digits = round % 4 === 0 ? 15 : 6
    for (let i = random.below(200); i > 0; i--) {
      const [one, count] = [value(digits), random.below(50)]
      own.record(one, count)
      theirs.recordValueWithCount(one, count)
    }
    for (let i = 0; i < 20; i++) {
      const one = value(7)
      other.record(one, 1)
      theirOther.recordValueWithCount(one, 1)
    }
    assertSame(own, theirs)
    assertSame(Histogram.decode(own.encode()), readByLibrary(own))
    own.add(other)
    theirs.add(theirOther)
    assertSame(own, theirs)
    own.reset()
    theirs.reset()
    assertSame(own, theirs)
    own.record(77, 2)
    theirs.recordValueWithCount(77, 2)
    assertSame(own, theirs)
  }
})

test('each value that was recorded, by the upper end of its bucket', () => {
  const one = new Histogram()
  for (const [value, count] of [
    [2049, 3],
    [5, 1],
    [2048, 2],
  ])
    one.record(value, count)
  /** @type {number[][]} */
  const found = []
  one.forEach((value, count) => {
    found.push([value, count])
  })
  assert.deepEqual(found, [
    [5, 1],
    [2049, 5],
  ])
  one.free()
  assert.equal(one.totalCount, 0)
  one.record(1e6, 1)
  assert.equal(one.maxValue, 1e6)
})

test('what is not an encoded histogram is refused', () => {
  const one = new Histogram()
  one.record(1000, 1)
  const good = one.encode()
  const changed = (/** @type {number} */ at, /** @type {number} */ byte) => {
    const bytes = Uint8Array.from(good)
    bytes[at] = byte
    return bytes
  }
  for (const bytes of [
    new Uint8Array(),
    good.subarray(0, 39),
    good.subarray(0, -1),
    changed(0, 0),
    changed(15, 2),
    changed(23, 2),
    // So many empty places that no value is there.
    Uint8Array.from([...changed(7, 4).subarray(0, 40), 0xff, 0xff, 0xff, 0x7f]),
  ])
    assert.throws(() => Histogram.decode(bytes), /no encoded histogram/)
})
