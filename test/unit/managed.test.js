import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDone, isRefusal, seenWords } from '../../lib/servers/managed.js'

/** @import { Change } from '../../lib/servers/managed.js' */

describe('what is seen', () => {
  const owners = (/** @type {number[]} */ ...parts) =>
    Uint16Array.from({ length: 16_384 }, (_, slot) => parts.findLastIndex((from) => slot >= from))
  const before = { masters: ['a', 'b'], owners: owners(0, 8192) }
  /** @type {[Change, string, { masters: string[], owners: Uint16Array }, string][]} */
  const seen = [
    ['move', 'slots moved', { masters: ['a', 'b'], owners: owners(0, 8092) }, '100 slots have new owners'],
    [
      'add-shard',
      'a third master',
      { masters: ['a', 'b', 'c'], owners: owners(0, 8192, 16_000) },
      '3 masters instead of 2; 384 slots have new owners',
    ],
    [
      'remove-shard',
      'one master',
      { masters: ['a'], owners: owners(0) },
      '1 master instead of 2; 8,192 slots have new owners',
    ],
    [
      'failover',
      'another master',
      { masters: ['a', 'r'], owners: owners(0, 8192) },
      'r took over from b; 8,192 slots have new owners',
    ],
  ]
  for (const [change, what, now, words] of seen)
    test(`${change}: ${what}`, () => {
      assert.equal(isDone(change, before, before), false)
      assert.equal(isDone(change, before, now), true)
      assert.equal(seenWords(change, before, now), words)
    })

  test('the same masters in another order are no change', () => {
    const turned = { masters: ['b', 'a'], owners: Uint16Array.from(before.owners, (owner) => 1 - owner) }
    for (const change of /** @type {const} */ (['move', 'add-shard', 'remove-shard', 'failover']))
      assert.equal(isDone(change, before, turned), false)
  })

  test('slots under way are no removal yet', () => {
    const half = { masters: ['a', 'b'], owners: owners(0, 12_000) }
    assert.equal(isDone('remove-shard', before, half), false)
    assert.equal(isDone('add-shard', before, half), false)
    assert.equal(isDone('failover', before, half), false)
  })
})

for (const [message, refused] of [
  ["NOPERM this user has no permissions to run the 'cluster|setslot' command", true],
  ["NOPERM User app has no permissions to run the 'cluster|failover' command", true],
  ["ERR unknown subcommand 'SETSLOT'. Try CLUSTER HELP.", true],
  ["ERR unknown command 'CLUSTER'", true],
  ['ERR unknown command `migrate`, with args beginning with: ', true],
  ['ERR This instance has cluster support disabled', false],
  ["ERR I'm not the owner of hash slot 5", false],
  ['CLUSTERDOWN The cluster is down', false],
  ['READONLY You can’t write against a read only replica.', false],
])
  test(`${refused ? 'a refusal' : 'no refusal'}: ${message}`, () =>
    assert.equal(isRefusal(new Error(String(message))), refused))
