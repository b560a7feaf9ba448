import assert from 'node:assert/strict'
import test from 'node:test'
import { noValues } from '../../lib/wire/encode.js'
import { slotOf } from '../../lib/wire/slot.js'
import { clientCommandOf, keyBytesOf } from '../../lib/workloads/bind/client.js'
import { each, familyOf, fixed, modulo, n } from '../../lib/workloads/declare.js'

const wide = fixed('wide', 6, (i, out, at, width) => {
  out.write(String(i % 1_000_000).padStart(width, '0'), at, 'latin1')
})
const numbers = [0, 1, 9, 10, 99, 100, 12_345, 999_999, 1_000_000, 4_294_967_295, 12_345_678_901]

for (const [name, parts] of /** @type {const} */ ([
  ['a number', ['key:', n]],
  ['a number in a hash tag', ['{user:', n, '}:cart']],
  ['a part of a number', ['set:', modulo('part', 7), ':all']],
  ['two numbers', [n, ':', modulo('part', 13)]],
  ['no variable', ['latest-ids']],
  ['a fixed width', ['page:', wide]],
]))
  test(`the slot of a key with ${name} is that of its bytes`, () => {
    const command = each('GET', [familyOf('key', 'string', [...parts])])
    for (const prefix of ['', 'team{a}:', 'x'.repeat(200), '€'.repeat(100)]) {
      const keyOf = keyBytesOf(command, prefix)
      const { slotOf: own, put, most } = clientCommandOf(command, prefix)
      for (const i of numbers) {
        assert.equal(own(i), slotOf(keyOf(i)), String(keyOf(i)))
        const out = Buffer.alloc(most)
        const text = out.toString('utf8', 0, put(i, out, 0, noValues))
        assert.equal(text, `*2\r\n$3\r\nGET\r\n$${keyOf(i).length}\r\n${keyOf(i)}\r\n`)
      }
    }
  })
