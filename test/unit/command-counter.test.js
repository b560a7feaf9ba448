import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandBytes } from '../../lib/wire/encode.js'
import { commandCounter } from '../../scripts/bench/command-counter.js'

test('commands are counted when they end, wherever what is read is cut', () => {
  const commands = [
    ['SETEX', 'item:1', '60', '*3\r\n$5\r\n'],
    ['ZADD', 'latest-ids', ...Array.from({ length: 24 }, (_, i) => String(i))],
    ['PING'],
    ['SET', 'a', ''],
    ['SET', 'a', '\u00e4'.repeat(5000)],
  ]
  const bytes = commandBytes(commands)
  const ends = commands.map((_, i) => commandBytes(commands.slice(0, i + 1)).length)
  for (let at = 0; at <= bytes.length; at++) {
    const count = commandCounter()
    assert.equal(count(bytes.subarray(0, at)), ends.filter((end) => end <= at).length, `cut at ${at}`)
    const before = ends.filter((end) => end <= at).length
    assert.equal(count(bytes.subarray(at)), commands.length - before, `after a cut at ${at}`)
  }
  const count = commandCounter()
  let all = 0
  for (const byte of bytes) all += count(Buffer.of(byte))
  assert.equal(all, commands.length)
})
