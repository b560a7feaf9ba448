import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valueReader } from '../../lib/wire/values.js'

const stream =
  '+OK\r\n$5\r\nhello\r\n:42\r\n$-1\r\n*-1\r\n*0\r\n-BUSY a script\r\n' +
  '*3\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n*1\r\n:7\r\n*0\r\n*2\r\n-ERR inside\r\n$2\r\nok\r\n+QUEUED\r\n'

const heard = (/** @type {number[]} */ cuts) => {
  const seen = /** @type {any[]} */ ([])
  const refused = (/** @type {string} */ line) => seen.push({ refused: line })
  const take = valueReader({ replied: (value) => seen.push(value), refused })
  const bytes = Buffer.from(stream)
  let from = 0
  for (const to of [...cuts, bytes.length]) {
    take(bytes.subarray(from, to))
    from = to
  }
  return seen
}

test('replies as values, at every split of the stream', () => {
  const whole = heard([])
  assert.deepEqual(whole.slice(0, 6), ['OK', 'hello', 42, null, null, []])
  assert.deepEqual(whole.slice(6, 8), [{ refused: 'BUSY a script' }, ['0', ['a', [7]], []]])
  const [error, ok] = whole[8]
  assert.ok(error instanceof Error && error.message === 'ERR inside')
  assert.deepEqual([ok, whole[9], whole.length], ['ok', 'QUEUED', 10])
  for (let cut = 1; cut < stream.length; cut++) assert.deepEqual(heard([cut]), whole, `cut at ${cut}`)
})
