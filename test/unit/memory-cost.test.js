import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryCost } from '../../lib/probes/memory-cost.js'
import { slotCount } from '../../lib/wire/slot.js'
import { slotsUsed, slotTableBytes } from '../../lib/wire/slot-tables.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { fieldsIn, rowsOf } from '../helpers/table.js'

/**
 * @param {Parameters<typeof samplePlan>[0]} settings
 * @param {{ data?: number | null, keys?: number | null, ids?: number[] | null, holders?: number[] | null, strange?: { keys: number, bytes: number } | null, elapsedMs?: number, slotTable?: number }} end
 * @param {{ data?: number, keys?: number, ids?: number[], holders?: number[], strange?: { keys: number, bytes: number } }} [start]
 * @param {Parameters<typeof samplePlan>[1]} [facts]
 */
const memory = (settings, end, start = {}, facts = {}) => {
  const held = (
    { data = 0, keys = 0, ids = [0], holders = null, strange = null } = /** @type {typeof end} */ ({}),
  ) => ({
    ...{ dataBytes: data, keys, gathered: ids, holderBytes: holders, strange },
  })
  const plan = samplePlan({ quantity: 10_000, ...settings }, facts)
  const [before, after] = [held({ keys: 1, ...start }), held(end)]
  const { elapsedMs = 5000, slotTable = 0 } = end
  return memoryCost({ plan, strategy: strategyOf(plan), before, after, elapsedMs, slotTable })
}
const full = { data: 4_000_000, keys: 10_002, ids: [10_000] }
/** What masters hold at the end; `full` begins with what a full data set has. @param {string} text */
const endIn = (text) => ({ ...(text.startsWith('full') && full), ...fieldsIn(text) })

// Settings, what the masters hold at the end and before the first write; bytes of an item (~ to a tenth), / a pattern of the note.
for (const [name, settings, end, start, bytes, note] of rowsOf(String.raw`
keys of their own, less the set and the plan: the data set's growth by the items that came -> - -> full -> - -> 400 -> null
by what is stored, not by what was planned -> - -> full data=2500000 keys=5002 -> - -> 500 -> null
what was there and stays counts for no item -> - -> full data=4500000 keys=10302 -> data=500000 keys=301 -> 400 -> null
a lease and an earlier plan are no keys of others -> - -> full keys=10003 -> keys=2 -> 400 -> null
items of a stream are counted in it -> strategy="stream" -> data=1000000 keys=3 ids=[10000] -> - -> 100 -> null
items of a hash are counted in it -> strategy="hash-ttl" -> data=1000000 keys=3 ids=[10000] -> - -> 100 -> null
items of two sorted sets are counted in both -> strategy="actual-value" extraSortedSets=1 -> data=1000000 keys=3 ids=[10000,10000] -> - -> 100 -> null
written once, a lifetime has passed -> once=true ttlS=5 -> full elapsedMs=5000 -> - -> 400 -> null
written once, no lifetime has passed -> once=true ttlS=5 -> full elapsedMs=4900 -> - -> null -> full size after 5 s; run for longer
written once into sets, no minutes have passed -> once=true ttlS=5 strategy="set" -> full elapsedMs=60000 -> - -> null -> full size after 245 s
written once into sets, their minutes have passed -> once=true ttlS=5 strategy="set" -> full elapsedMs=245000 -> - -> ~400.1 -> null
10,000 keys of 300 B and 8000 ids of 100 B: expired items that are not collected have no ids -> once=true ttlS=2 -> data=3800000 keys=10002 ids=[8000] holders=[800000] -> holders=[0] -> 400 -> null
the same without MEMORY USAGE before -> once=true ttlS=2 -> data=3800000 keys=10002 ids=[8000] holders=[800000] -> - -> 380 -> null
a busy server collects later, and no other application wrote what it still has -> once=true ttlS=2 -> data=15800000 keys=50002 ids=[8000] holders=[800000] -> holders=[0] -> 400 -> null
no server collects as late -> once=true ttlS=2 -> data=15800000 keys=70002 ids=[8000] holders=[800000] -> - -> null -> another application wrote
ids of an earlier run that are replaced -> strategy="list" -> full data=1700000 holders=[120000] -> data=120000 ids=[10000] holders=[120000] -> 170 -> null
entries of an earlier run that are replaced -> strategy="stream" -> data=1000000 keys=3 ids=[10000] holders=[1000000] -> data=1000000 keys=3 ids=[10000] holders=[1000000] -> 100 -> ^by MEMORY USAGE
ids of a box that ended before, whose items have expired -> - -> data=3000000 keys=6669 ids=[10000] holders=[1000000] -> holders=[0] -> ~400.0 -> null
no box ended before items that are drawn -> order="uniform" strategy="list" -> data=3000000 keys=6669 ids=[10000] holders=[1000000] -> holders=[0] -> ~450.0 -> null
without another writer a limit keeps no more ids than were written -> - -> data=3666700 keys=10002 ids=[6667] holders=[666700] -> holders=[0] -> ~366.7 -> null
the keys hold other ids than those of the items -> - -> full ids=[5000] holders=[500000] -> keys=2 ids=[10000] holders=[1000000] -> null -> .
sets of minutes hold other ids than those of the items -> strategy="set" -> full holders=[1000000] -> keys=2 ids=[10000] holders=[1000000] -> null -> .
ids of an earlier run -> - -> full -> keys=2 ids=[5000] -> null -> ^5,000 ids of an earlier run were there
keys of others -> - -> full -> keys=5000 -> null -> ^4,998 keys were there before the first write; wait until they expire, or remove them \(
the same items, still there -> - -> full -> keys=10002 -> null -> ^no items came: they were there before
none was stored -> - -> full keys=2 -> keys=2 -> null -> ^no items came$
a queue that workers have drained -> strategy="queue-list" durationMs=5000 -> full keys=2 ids=[0] -> - -> null -> ^the queue was no longer at the end
few items -> quantity=20 -> data=9000 keys=22 -> - -> null -> ^memory grew by 9\.00 kB; it takes 100 kB to tell the items
items that die before they come again -> ttlS=1 periodMs=2000 -> full -> - -> null -> ^--ttl is shorter than --period
items that expired before the end -> - -> full keys=12 -> - -> null -> ^only 10 of 10,000 items had not expired at the end$
keys that another application writes meanwhile -> - -> data=40000000 keys=20002 -> - -> null -> ^20,000 items came, and this plan has 10,000 at most: another application wrote meanwhile$
a few large keys that another application writes meanwhile -> - -> full data=5000000 keys=10102 strange={"keys":100,"bytes":1000000} -> strange={"keys":0,"bytes":0} -> null -> ^another application wrote meanwhile: about 100 keys of 1\.00 MB in all are not of this plan
keys of others that were there before, estimated twice -> - -> full strange={"keys":140,"bytes":1400000} -> keys=101 strange={"keys":100,"bytes":1000000} -> ~404.0 -> null
small keys of others are no part that shows -> - -> full strange={"keys":100,"bytes":60000} -> strange={"keys":0,"bytes":0} -> 400 -> null
a list that another application fills meanwhile -> - -> full data=14000000 keys=10003 -> - -> null -> ^14\.0 MB came, and these items take about 2\.77 MB: another application wrote meanwhile$
a server that is silent -> - -> full -> data=null keys=null ids=null -> null -> ^a master did not say
`))
  test(`bytes of an item: ${name}`, () => {
    const found = memory(fieldsIn(settings), endIn(end), fieldsIn(start))
    const shown = bytes.startsWith('~')
      ? `~${found.memory_bytes_per_item?.toFixed(1)}`
      : String(found.memory_bytes_per_item)
    assert.equal(shown, bytes)
    if (note === 'null') assert.equal(found.memory_note, null)
    else assert.match(String(found.memory_note), new RegExp(note))
  })

test('values of another box are written and their ids are not yet', () => {
  const underWay = { data: 3_666_700, keys: 10_002, ids: [6667], holders: [666_700] }
  const third = memory({ totalAgents: 3 }, underWay, { holders: [0] }, { agents: [1] })
  assert.equal(third.memory_bytes_per_item?.toFixed(1), '400.0')
})

test('a cluster of Redis 8 takes a table for each slot, and says how much of an item that is', () => {
  const noteOf = (/** @type {object} */ settings, /** @type {object} */ end) =>
    memory(settings, { ...full, ...end }, {}, { cluster: true, masters: 3 }).memory_note
  const tables = /^2\.01 kB of it are tables of 7,485 slots, 2\.68 kB each/
  assert.match(String(noteOf({}, { slotTable: 2680 })), tables)
  assert.equal(noteOf({}, { slotTable: 0 }), null)
  assert.equal(noteOf({ strategy: 'stream' }, { data: 1e6, slotTable: 2680 }), null)
  assert.equal(Math.round(slotsUsed(slotCount, 1e6)), slotCount)
  const versions = ['6.2.14', '7.0.15', '8.2.3', 'valkey 8.0.1', 'valkey 9.1.2', 'unknown']
  assert.deepEqual(versions.map(slotTableBytes), [0, 0, 2680, 220, 360, 0])
})
