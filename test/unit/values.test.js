import assert from 'node:assert/strict'
import { test } from 'node:test'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { replyReader } from '../../lib/wire/values.js'

/** What a stream of replies says, as plain data. */
const recorder = () => {
  const replies = /** @type {unknown[]} */ ([])
  let told = /** @type {unknown[]} */ ([])
  const read = replyReader({
    sink: () => ({
      open: (count, depth) => told.push(['open', count, depth]),
      bulk: (bytes, from, to) => told.push(bytes.toString('latin1', from, to)),
      number: (n) => told.push(n),
      nil: () => told.push(null),
      error: (line) => told.push(['error', line]),
    }),
    replied: () => {
      replies.push(told)
      told = []
    },
  })
  return { read, replies }
}

/** Every chunk in the same buffer, which is overwritten afterwards, as a socket's is. @param {Buffer} stream @param {number[]} cuts */
const readIn = (stream, cuts) => {
  const { read, replies } = recorder()
  const shared = Buffer.alloc(stream.length)
  let from = 0
  for (const to of [...cuts, stream.length]) {
    const chunk = shared.subarray(0, to - from)
    stream.copy(chunk, 0, from, to)
    read(chunk)
    chunk.fill(0x58)
    from = to
  }
  return replies
}

// A reply, and what is said of it.
const replies = /** @type {[string, unknown[]][]} */ ([
  ['$5\r\nhello\r\n', ['hello']],
  ['$-1\r\n', [null]],
  ['$0\r\n\r\n', ['']],
  [':-42\r\n', [-42]],
  [':1763712345678\r\n', [1_763_712_345_678]],
  ['+OK\r\n', ['OK']],
  ['-MOVED 5 127.0.0.1:7001\r\n', [['error', 'MOVED 5 127.0.0.1:7001']]],
  ['*0\r\n', [['open', 0, 0]]],
  ['*-1\r\n', [null]],
  ['*3\r\n$2\r\nab\r\n$-1\r\n$4\r\n\r\n\r\n\r\n', [['open', 3, 0], 'ab', null, '\r\n\r\n']],
  ['*2\r\n-ERR inside\r\n:7\r\n', [['open', 2, 0], ['error', 'ERR inside'], 7]],
  [`$300\r\n${'x'.repeat(300)}\r\n`, ['x'.repeat(300)]],
  [
    '*2\r\n*2\r\n$3\r\n1-0\r\n*4\r\n$2\r\nid\r\n$6\r\nitem:1\r\n$5\r\nvalue\r\n$1\r\nv\r\n*2\r\n$3\r\n2-0\r\n*0\r\n',
    [
      ...[['open', 2, 0], ['open', 2, 1], '1-0', ['open', 4, 2], 'id', 'item:1', 'value', 'v'],
      ...[['open', 2, 1], '2-0', ['open', 0, 2]],
    ],
  ],
])
const stream = Buffer.from(replies.map(([text]) => text).join(''))
const expected = replies.map(([, said]) => said)

test('every kind of reply, in one piece', () => {
  assert.deepEqual(readIn(stream, []), expected)
})

test('the same at every split in two, and byte by byte', () => {
  for (let at = 1; at < stream.length; at++)
    assert.deepEqual(readIn(stream, [at]), expected, `split at ${at}`)
  const all = Array.from({ length: stream.length - 1 }, (_, i) => i + 1)
  assert.deepEqual(readIn(stream, all), expected)
})

test('random values of 16 bytes to 1 MB at random splits', () => {
  for (let seed = 1; seed <= 8; seed++) {
    const random = xoroshiro128plus(seed)
    const below = (/** @type {number} */ n) => (random.next() >>> 0) % n
    const values = Array.from({ length: 30 }, () => {
      const value = Buffer.alloc(Math.floor(16 * 2 ** (below(1600) / 100)))
      for (let i = 0; i < value.length; i += 1 + (i % 7)) value[i] = below(256)
      return value
    })
    const parts = values.flatMap((value) => [Buffer.from(`$${value.length}\r\n`), value, Buffer.from('\r\n')])
    const whole = Buffer.concat(parts)
    const cuts = [...new Set(Array.from({ length: 1 + below(400) }, () => 1 + below(whole.length - 1)))]
    cuts.sort((a, b) => a - b)
    const replies = readIn(whole, cuts)
    assert.equal(replies.length, values.length)
    for (const [i, value] of values.entries()) {
      const [text] = /** @type {string[]} */ (replies[i])
      assert.ok(Buffer.from(text, 'latin1').equals(value), `seed ${seed}`)
    }
  }
})

test('arrays that are deeper than any answer are refused', () => {
  assert.throws(() => readIn(Buffer.from('*1\r\n'.repeat(40)), []), { code: 'PROTOCOL' })
})
