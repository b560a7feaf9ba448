import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askingCommand, clientConnection } from '../../lib/loads/clients/connection.js'
import { noTally } from '../../lib/wire/decode.js'
import { valuesOf } from '../helpers/table.js'

/** A connection whose server says what the test wants. */
const scene = () => {
  const events = /** @type {string[]} */ ([])
  const state = { nowMs: 0, destroyed: false }
  /** @type {(bytes: Buffer) => void} */
  let onBytes = () => {}
  /** @type {() => void} */
  let open = () => {}
  const socket = /** @type {any} */ ({
    write: () => true,
    writableLength: 0,
    get destroyed() {
      return state.destroyed
    },
    destroy: () => {
      state.destroyed = true
    },
  })
  const connection = clientConnection({
    client: 0,
    address: 'a:1',
    room: 4,
    tally: noTally(),
    open: (handlers) => {
      onBytes = handlers.onBytes
      return new Promise((resolve) => {
        open = () => resolve(socket)
      })
    },
    events: {
      onAnswered: (_, from, count) =>
        events.push(`answered ${connection.ns[from & connection.mask]} + ${count}`),
      onRefused: (_, place, line) => events.push(`refused ${connection.operationAt(place).n}: ${line}`),
      onRead: () => {},
      onUp: () => {},
      onDown: () => events.push('down'),
      onRenewed: (_, tookMs) => events.push(`renewed in ${tookMs} ms`),
    },
    clock: () => state.nowMs,
    random: () => 1,
  })
  const connected = async () => {
    const ready = connection.connect()
    open()
    await ready
  }
  return {
    state,
    events,
    connection,
    connected,
    open: () => open(),
    push: (/** @type {number} */ n, measured = true) => connection.push(0, n, 0, state.nowMs, measured, 0, 0),
    answers: (/** @type {string} */ text) => onBytes(Buffer.from(text)),
  }
}

test('it is silent for as long as it owes answers, not for as long as it had nothing to do', async () => {
  const { state, connection, connected, push, answers } = scene()
  await connected()
  state.nowMs = 9000
  assert.equal(connection.silentMs(), 0)
  push(1)
  assert.equal(connection.silentMs(), 0)
  state.nowMs = 10_000
  push(2)
  assert.equal(connection.silentMs(), 1000)
  answers('+OK\r\n')
  assert.equal(connection.silentMs(), 0)
})

test('ASKING has a reply of its own, which settles no operation, also when it is refused', async () => {
  const { events, connection, connected, push, answers } = scene()
  await connected()
  push(1)
  connection.push(askingCommand, 0, 0, 0, false, 0, 0)
  push(2)
  connection.push(askingCommand, 0, 0, 0, false, 0, 0)
  push(3)
  answers('+OK\r\n+OK\r\n+OK\r\n-LOADING it is\r\n-ASK 1 b:1\r\n')
  assert.deepEqual(events, ['answered 1 + 1', 'answered 2 + 1', 'refused 3: ASK 1 b:1'])
  assert.equal(connection.inFlight(), 0)
})

test('what a lost connection owes comes back as it was sent', async () => {
  const { connection, connected, push } = scene()
  await connected()
  push(1, false)
  connection.push(askingCommand, 0, 0, 0, false, 0, 0)
  push(2)
  assert.deepEqual(valuesOf(connection.drain(), 'n', 'measured'), [1, false, 2, true])
  assert.deepEqual([connection.drain(), connection.inFlight()], [[], 0])
})

test('one that opens after the end is closed', async () => {
  const { state, connection, open } = scene()
  const ready = connection.connect()
  connection.close()
  open()
  await ready
  assert.deepEqual([connection.isUp(), state.destroyed], [false, true])
})

test('a connection that is renewed takes nothing new, is closed when all that it owes has come, and made anew', async () => {
  const { state, events, connection, connected, open, push, answers } = scene()
  await connected()
  push(1)
  assert.equal(connection.renew(), true)
  assert.equal(connection.renew(), false, 'once')
  assert.deepEqual([connection.isUp(), state.destroyed], [false, false])
  state.nowMs = 5
  answers('+OK\r\n')
  assert.deepEqual(events, ['answered 1 + 1'])
  assert.equal(state.destroyed, true)
  state.destroyed = false
  state.nowMs = 8
  open()
  await new Promise(setImmediate)
  assert.equal(connection.isUp(), true)
  assert.deepEqual(events.slice(1), ['renewed in 3 ms'])
  assert.equal(connection.renew(), true)
  assert.equal(state.destroyed, true, 'at once, where it owes nothing')
})
