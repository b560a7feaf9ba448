// Helpers that say a type once where it cannot be known: each must hold what it says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { errorOf, TargetError } from '../../lib/base/errors.js'
import { certain, entryOf, keysOf } from '../../lib/base/typed.js'
import { ledgerOf } from '../../lib/probes/ledger.js'
import { itemsIn, operationsIn, operationsOf } from '../../lib/probes/operations.js'
import { portOf } from '../../lib/servers/address.js'
import { listIn } from '../../lib/servers/lists.js'

test('what must be there is given back, also where it is false; what is not there is an internal error', () => {
  for (const value of [0, '', false]) assert.equal(certain(value), value)
  for (const value of [null, undefined]) assert.throws(() => certain(value), TypeError)
})

test('an entry is one of the table, or none', () => {
  assert.deepEqual([entryOf({ a: 1 }, 'a'), entryOf({ a: 1 }, 'b')], [1, undefined])
  for (const name of ['constructor', 'toString']) assert.equal(entryOf({ a: 1 }, name), undefined)
  assert.deepEqual(keysOf({ a: 1, b: 2 }), ['a', 'b'])
})

test('whatever was thrown is read as an error', () => {
  const own = new TargetError('gone')
  assert.equal(errorOf(own), own)
  const foreign = runInNewContext("Object.assign(new Error('full'), { code: 'ENOSPC' })")
  assert.equal(foreign instanceof Error, false)
  assert.equal(errorOf(foreign), foreign)
  assert.equal(errorOf('a text').message, 'a text')
  assert.equal(errorOf(undefined).message, 'undefined')
})

test('a ledger of the other kind is refused', () => {
  const items = { ledger: ledgerOf({ agents: [{ agent: 1 }] }) }
  const operations = { ledger: operationsOf({ isMeasured: () => true }) }
  assert.equal(itemsIn(items), items.ledger)
  assert.equal(operationsIn(operations), operations.ledger)
  assert.throws(() => itemsIn(operations), /a ledger of operations/)
  assert.throws(() => operationsIn(items), /a ledger of items/)
})

test('a reply that is no list names its command', () => {
  assert.deepEqual(listIn('SCAN', ['0', []]), ['0', []])
  assert.throws(() => listIn('SCAN', 'OK'), /^TargetError: SCAN: the server does not answer as Redis does$/)
})

test('a server without a port has none', () => {
  const at = (/** @type {unknown} */ address) => portOf(/** @type {any} */ ({ address: () => address }))
  assert.equal(at({ port: 7 }), 7)
  for (const none of [null, '/tmp/socket']) assert.throws(() => at(none), /listens on no port/)
})
