import assert from 'node:assert/strict'
import test from 'node:test'
import { stampBytes } from '../../lib/traffic/payload.js'
import { plainArgument } from '../../lib/wire/encode.js'
import { valuesAt } from '../helpers/commands.js'
import { payloadOf } from '../helpers/payload.js'

/** @typedef {'random' | 'sparse' | 'zero'} Payload */

const values = valuesAt(1_790_000_000_123)
const payloads = /** @type {Payload[]} */ (['random', 'sparse', 'zero'])

/** @param {Partial<Parameters<typeof payloadOf>[0]>} plan @returns {(n: number) => Buffer} */
const bytesOf = (plan) => {
  const value = payloadOf({ payload: 'random', valueBytes: 128, seed: 1, stamp: false, ...plan })
  return (n) => Buffer.from(plainArgument(value(n), values))
}

for (const payload of payloads) {
  for (const stamp of [false, true])
    test(`${payload}${stamp ? ' with a stamp' : ''}: exactly as many bytes as asked for`, () => {
      const sizes = [...Array.from({ length: 40 }, (_, i) => i + 1), 128, 257, 10_000, 2_000_000]
      for (const valueBytes of sizes.filter((size) => !stamp || size >= stampBytes))
        for (const bytes of [1, 35, 300_000].map(bytesOf({ payload, valueBytes, stamp }))) {
          assert.equal(bytes.length, valueBytes)
          if (stamp) assert.equal(bytes.toString('latin1', 0, stampBytes), values.stamp)
        }
    })

  test(`${payload}: a function of seed and item, whatever was asked for before`, () => {
    const [one, same] = [bytesOf({ payload, seed: 7 }), bytesOf({ payload, seed: 7 })]
    for (const n of [1, 2, 35, 299_999, 35]) assert.deepEqual(one(n), same(n))
    assert.deepEqual(one(35), bytesOf({ payload, seed: 7 })(35))
  })
}

test('another seed gives other random values', () => {
  const [one, other] = [bytesOf({ seed: 1 }), bytesOf({ seed: 2 })]
  for (let n = 1; n < 100; n++) assert.notDeepEqual(one(n), other(n))
})

test('the ends of the range of seeds make values', () => {
  for (const seed of [0, 4_294_967_295]) {
    const of = bytesOf({ seed })
    const letters = new Set(of(1).subarray(8))
    assert.ok(letters.size > 30, `seed ${seed}: ${letters.size} different letters`)
  }
})

// 64 letters: three tell 262,144 items apart, four are the first to hold 300,000.
for (const [payload, valueBytes, stamp] of /** @type {const} */ ([
  ['random', 128, false],
  ['random', 4, false],
  ['random', stampBytes + 4, true],
  ['sparse', 4, false],
  ['sparse', 128, false],
]))
  test(`${payload}, ${valueBytes} bytes${stamp ? ' with a stamp' : ''}: no two items alike`, () => {
    const of = bytesOf({ payload, valueBytes, stamp })
    const seen = new Set()
    // The first ones, and those around 64 to the third: another digit.
    for (const from of [0, 64 ** 3 - 10_000])
      for (let n = from + 1; n <= from + 20_000; n++) seen.add(of(n).toString('latin1'))
    assert.equal(seen.size, 40_000)
  })

test('random values do not repeat inside, nor follow from their neighbours', () => {
  const of = bytesOf({})
  const pairs = new Set()
  for (let n = 1; n <= 2000; n++) pairs.add(of(n).toString('latin1', 8, 24))
  assert.ok(pairs.size > 1990, `${pairs.size} of 2000 beginnings are different`)
})

test('sparse values differ in their first four bytes only', () => {
  const of = bytesOf({ payload: 'sparse', valueBytes: 64 })
  const rest = of(1).subarray(4)
  for (const n of [2, 64, 65, 4096, 300_000]) {
    assert.deepEqual(of(n).subarray(4), rest)
    assert.notDeepEqual(of(n).subarray(0, 4), of(1).subarray(0, 4))
  }
})

test('zero values are zeros', () =>
  assert.deepEqual(bytesOf({ payload: 'zero', valueBytes: 20 })(5), Buffer.alloc(20)))
