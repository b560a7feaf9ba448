import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { groupIn, isDone, isRefusal, providerCommand, seenWords } from '../../lib/target/managed.js'

/** @import { Change } from '../../lib/target/managed.js' */

const zone = 'abc123.use1.cache.amazonaws.com'
const endpoint = `clustercfg.my-cache.${zone}`
const resharded = 'aws elasticache modify-replication-group-shard-configuration --replication-group-id'

for (const [host, group] of [
  [endpoint, 'my-cache'],
  [`my-group-001.abc123.clustercfg.use1.cache.amazonaws.com`, 'my-group-001'],
  [`my-cache.abc123.clustercfg.use1.cache.amazonaws.com`, 'my-cache'],
  [`my-cache-0002-001.my-cache.${zone}`, 'my-cache'],
  ['my-cache-001.abc123.0001.use1.cache.amazonaws.com', 'my-cache'],
  ['clustercfg.my-cache.abc123.cnn1.cache.amazonaws.com.cn', 'my-cache'],
  ['10.0.0.1', null],
  ['cache.example.net', null],
])
  test(`the group in ${host}`, () => assert.equal(groupIn(String(host)), group))

/** Masters of which the second shard by its slots is the third by its name. */
const named = ['0001', '0003', '0002'].map((id) => `my-cache-${id}-001.my-cache.${zone}`)
const bare = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
const groupUnknown = 'GROUP stands for the id of the replication group'

describe('the line to type', () => {
  /** @type {[Change, string, string[], number | null, string, string[]][]} */
  const lines = [
    ['move', endpoint, bare, null, `${resharded} my-cache --node-group-count 3 --apply-immediately`, []],
    ['add-shard', endpoint, bare, null, `${resharded} my-cache --node-group-count 4 --apply-immediately`, []],
    [
      'remove-shard',
      endpoint,
      bare,
      3,
      `${resharded} my-cache --node-group-count 2 --node-groups-to-remove 0003 --apply-immediately`,
      ['0003 is the shard by the order of slots: compare its id'],
    ],
    [
      'remove-shard',
      'an-alias.example.net',
      named,
      2,
      `${resharded} my-cache --node-group-count 2 --node-groups-to-remove 0003 --apply-immediately`,
      [],
    ],
    [
      'failover',
      endpoint,
      named,
      3,
      'aws elasticache test-failover --replication-group-id my-cache --node-group-id 0002',
      [],
    ],
    [
      'add-shard',
      '10.0.0.1',
      bare,
      null,
      `${resharded} GROUP --node-group-count 4 --apply-immediately`,
      [groupUnknown],
    ],
    [
      'failover',
      '10.0.0.1',
      bare,
      1,
      'aws elasticache test-failover --replication-group-id GROUP --node-group-id 0001',
      [groupUnknown, '0001 is the shard by the order of slots: compare its id'],
    ],
  ]
  for (const [change, host, masters, shard, line, unknown] of lines)
    test(`${change} at ${host}, shard ${shard}`, () =>
      assert.deepEqual(providerCommand(change, { host, masters, shard }), { line, unknown }))
})

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
