import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDone, isRefusal, seenWords } from '../../lib/servers/managed.js'
import { rowsOf } from '../helpers/table.js'

/** @import { Change } from '../../lib/servers/managed.js' */

const owners = (/** @type {number[]} */ ...parts) =>
  Uint16Array.from({ length: 16_384 }, (_, slot) => parts.findLastIndex((from) => slot >= from))
const before = { masters: ['a', 'b'], owners: owners(0, 8192) }

// A change, the masters and where their slots begin afterwards, and the words.
for (const [change, masters, froms, words] of rowsOf(`
move -> a b -> 0 8092 -> 100 slots have new owners
add-shard -> a b c -> 0 8192 16000 -> 3 masters instead of 2; 384 slots have new owners
remove-shard -> a -> 0 -> 1 master instead of 2; 8,192 slots have new owners
failover -> a r -> 0 8192 -> r took over from b; 8,192 slots have new owners
`))
  test(`what is seen of ${change}: ${words}`, () => {
    const now = { masters: masters.split(' '), owners: owners(...froms.split(' ').map(Number)) }
    const asked = /** @type {Change} */ (change)
    assert.deepEqual([isDone(asked, before, before), isDone(asked, before, now)], [false, true])
    assert.equal(seenWords(asked, before, now), words)
  })

test('masters in another order are no change, and slots under way no removal yet', () => {
  const turned = { masters: ['b', 'a'], owners: Uint16Array.from(before.owners, (owner) => 1 - owner) }
  for (const change of /** @type {const} */ (['move', 'add-shard', 'remove-shard', 'failover']))
    assert.equal(isDone(change, before, turned), false)
  const half = { masters: ['a', 'b'], owners: owners(0, 12_000) }
  for (const change of /** @type {const} */ (['remove-shard', 'add-shard', 'failover']))
    assert.equal(isDone(change, before, half), false)
})

for (const [refused, message] of rowsOf(`
a refusal -> NOPERM this user has no permissions to run the 'cluster|setslot' command
a refusal -> NOPERM User app has no permissions to run the 'cluster|failover' command
a refusal -> ERR unknown subcommand 'SETSLOT'. Try CLUSTER HELP.
a refusal -> ERR unknown command 'CLUSTER'
a refusal -> ERR unknown command \`migrate\`, with args beginning with:
no refusal -> ERR This instance has cluster support disabled
no refusal -> ERR I'm not the owner of hash slot 5
no refusal -> CLUSTERDOWN The cluster is down
no refusal -> READONLY You can’t write against a read only replica.
`))
  test(`${refused}: ${message}`, () => assert.equal(isRefusal(new Error(message)), refused === 'a refusal'))
