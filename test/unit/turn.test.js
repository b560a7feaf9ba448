import assert from 'node:assert/strict'
import test from 'node:test'
import { writtenOf } from '../../lib/loads/clients/operation.js'
import { turnOf } from '../../lib/transport/router.js'

/** Turns of so many clients, what was called, and what waits for the end of the turn. @param {number} clients */
const turns = (clients) => {
  const called = /** @type {string[]} */ ([])
  const soon = /** @type {(() => void)[]} */ ([])
  let nowMs = 0
  const turn = turnOf({
    clients,
    look: (client, atMs) => void called.push(`${client} at ${atMs}`),
    end: () => void called.push('end'),
    machine: /** @type {any} */ ({
      clock: () => ++nowMs,
      timers: { setImmediate: (/** @type {() => void} */ then) => soon.push(then) },
    }),
  })
  return { turn, called, pass: () => soon.splice(0).forEach((then) => void then()) }
}

test('clients of one turn are looked after together, once each, in the order of their replies', () => {
  const { turn, called, pass } = turns(5)
  for (const client of [3, 0, 3, 4]) turn.look(client)
  assert.deepEqual(called, [])
  pass()
  assert.deepEqual(called.splice(0), ['3 at 1', '0 at 1', '4 at 1', 'end'])
  turn.look(3)
  pass()
  assert.deepEqual(called, ['3 at 2', 'end'])
})

test('a turn of many clients goes in parts, so that the server has work meanwhile', () => {
  const { turn, called, pass } = turns(40)
  for (let client = 0; client < 40; client++) turn.look(client)
  assert.equal(called.filter((what) => what === 'end').length, 2)
  assert.equal(called.length, 2 * 17)
  pass()
  const looked = called.filter((what) => what !== 'end').map((what) => Number.parseInt(what, 10))
  assert.deepEqual(
    looked,
    Array.from({ length: 40 }, (_, client) => client),
  )
})

test('what goes wrong for one client ends the program, and is not taken for a fault of a connection', () => {
  const soon = /** @type {(() => void)[]} */ ([])
  const turn = turnOf({
    clients: 20,
    look(client) {
      if (client === 4) throw new Error('a model that fails')
    },
    end: () => {},
    machine: /** @type {any} */ ({
      clock: () => 0,
      timers: { setImmediate: (/** @type {() => void} */ then) => soon.push(then) },
    }),
  })
  for (let client = 0; client < 16; client++) turn.look(client)
  const [endOfTurn, thrown] = soon
  endOfTurn()
  assert.throws(thrown, /a model that fails/)
})

test('what a closed loop sends was due when it is written; what had to wait, or has a schedule, keeps its time', () => {
  const one = (/** @type {number} */ dueMs, /** @type {number} */ sentMs) => ({ dueMs, sentMs, firstMs: 0 })
  const loop = writtenOf({ schedule: null })
  const begun = one(5, 5)
  loop(begun, 5.2)
  assert.deepEqual(begun, { dueMs: 5.2, sentMs: 5.2, firstMs: 5.2 })
  loop(begun, 9)
  assert.deepEqual(begun, { dueMs: 5.2, sentMs: 9, firstMs: 5.2 }, 'a repeat')
  const waited = one(5, 7)
  loop(waited, 7.1)
  assert.deepEqual(waited, { dueMs: 5, sentMs: 7.1, firstMs: 7.1 })
  const scheduled = one(5, 5)
  writtenOf({ schedule: { due: () => 5, isOver: () => false } })(scheduled, 5.2)
  assert.deepEqual(scheduled, { dueMs: 5, sentMs: 5.2, firstMs: 5.2 })
})
