import assert from 'node:assert/strict'
import test from 'node:test'
import { togetherOf } from '../../lib/transport/reconnecting-socket.js'

/** A socket that notes what is written, and the writer of small writes. */
const scene = () => {
  const log = /** @type {string[]} */ ([])
  /** @type {Buffer[]} as the socket was given them */
  const given = []
  /** @type {any} */
  const socket = {
    writableLength: 0,
    write(/** @type {Buffer} */ bytes) {
      given.push(bytes)
      log.push(`${bytes.length}`)
    },
    cork: () => log.push('cork'),
    uncork: () => log.push('uncork'),
  }
  const state = { socket }
  return { state, socket, given, log, ...togetherOf(() => state.socket) }
}
const bytesOf = (/** @type {number} */ n, fill = 'a') => Buffer.alloc(n, fill)

test('small writes of a turn are one, in their order, and each is free at once', () => {
  const { cork, write, uncork, given, log } = scene()
  let released = 0
  for (let turn = 0; turn < 3; turn++) {
    cork()
    const reused = bytesOf(3, String(turn))
    write(reused, () => released++)
    reused.fill('x')
    write(bytesOf(2, 'b'), () => released++)
    assert.equal(released, 2 * turn + 2)
    assert.equal(given.length, turn)
    uncork()
    assert.equal(String(given[turn]), `${String(turn).repeat(3)}bb`)
  }
  assert.deepEqual(log, ['5', '5', '5'])
})

test('what is written by itself goes at once, and is held until the socket lets go of it', () => {
  const { write, given } = scene()
  const bytes = bytesOf(10)
  write(bytes, () => assert.fail('not yet'))
  assert.equal(given[0], bytes)
})

test('more than is worth copying is held back by the socket, behind what came before', () => {
  const { cork, write, uncork, given, log } = scene()
  cork()
  write(bytesOf(8000))
  write(bytesOf(200, 'b'))
  write(bytesOf(7, 'c'))
  uncork()
  assert.deepEqual(log, ['cork', '8000', '200', '7', 'uncork'])
  assert.equal(Buffer.concat(given).toString(), `${'a'.repeat(8000)}${'b'.repeat(200)}${'c'.repeat(7)}`)
  cork()
  write(bytesOf(4))
  uncork()
  assert.deepEqual(log.slice(5), ['4'])
})

test('one that is too large to be copied goes by itself when nothing follows, and is in front of what does', () => {
  const { cork, write, uncork, given, log, waitingBytes } = scene()
  const large = bytesOf(9000)
  cork()
  write(large, () => assert.fail('not yet'))
  assert.deepEqual([log.length, waitingBytes()], [0, 9000])
  uncork()
  assert.equal(given[0], large)
  assert.deepEqual([log, waitingBytes()], [['9000'], 0])
  cork()
  write(large)
  write(bytesOf(7))
  write(bytesOf(8500))
  uncork()
  assert.deepEqual(log.slice(1), ['cork', '9000', '7', '8500', 'uncork'])
})

test('a large one that was held back is let go of when the connection is lost', () => {
  const { state, cork, write, uncork, given } = scene()
  let released = 0
  cork()
  write(bytesOf(9000), () => released++)
  state.socket = null
  uncork()
  assert.deepEqual([released, given.length], [1, 0])
})

test('bytes that the system did not take are not written over', () => {
  const one = scene()
  one.socket.writableLength = 5
  const other = scene()
  for (const [{ cork, write, uncork }, fill] of /** @type {const} */ ([
    [one, '1'],
    [other, '2'],
    [one, '3'],
  ])) {
    cork()
    write(bytesOf(5, fill))
    uncork()
  }
  assert.deepEqual(one.given.map(String), ['11111', '33333'])
})

test('without a connection nothing is kept for the next one', () => {
  const { state, socket, cork, write, uncork, given } = scene()
  cork()
  write(bytesOf(3))
  state.socket = null
  write(bytesOf(3))
  uncork()
  state.socket = socket
  cork()
  write(bytesOf(2, 'z'))
  uncork()
  assert.deepEqual(given.map(String), ['zz'])
})
