import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { memoryCost } from '../../lib/measure/memory-cost.js'
import { slotCount } from '../../lib/wire/slot.js'
import { slotsUsed, slotTableBytes } from '../../lib/wire/slot-tables.js'
import { strategyOf } from '../../lib/workloads/strategy-of-plan.js'
import { samplePlan } from '../helpers/sample-plan.js'

/**
 * @param {Parameters<typeof samplePlan>[0]} settings
 * @param {{ data?: number | null, keys?: number | null, ids?: number[] | null, holders?: number[] | null, elapsedMs?: number, slotTable?: number }} end
 * @param {{ data?: number, keys?: number, ids?: number[], holders?: number[] }} [start]
 * @param {Parameters<typeof samplePlan>[1]} [facts]
 */
const memory = (settings, end, start = {}, facts = {}) => {
  const held = ({ data = 0, keys = 0, ids = [0], holders = null } = /** @type {typeof end} */ ({})) => ({
    dataBytes: data,
    keys,
    gathered: ids,
    holderBytes: holders,
  })
  const plan = samplePlan({ quantity: 10_000, ...settings }, facts)
  return memoryCost({
    plan,
    strategy: strategyOf(plan),
    before: held({ keys: 1, ...start }),
    after: held(end),
    elapsedMs: end.elapsedMs ?? 5000,
    slotTable: end.slotTable ?? 0,
  })
}
const full = { data: 4_000_000, keys: 10_002, ids: [10_000] }

describe('what an item takes', () => {
  test('what the data set grew by the items that came: keys of their own, less the set and the plan', () => {
    assert.deepEqual(memory({}, full), { memory_bytes_per_item: 400, memory_note: null })
  })
  test('by what is stored, not by what was planned', () => {
    assert.equal(memory({}, { ...full, data: 2_500_000, keys: 5002 }).memory_bytes_per_item, 500)
  })
  test('what was there and stays is nobody’s', () => {
    const before = { data: 500_000, keys: 301 }
    assert.equal(memory({}, { ...full, data: 4_500_000, keys: 10_302 }, before).memory_bytes_per_item, 400)
  })
  test('where items have no keys they are counted in what gathers them', () => {
    for (const [strategy, ids] of /** @type {[any, number[]][]} */ ([
      ['stream', [10_000]],
      ['hash-ttl', [10_000]],
    ]))
      assert.equal(memory({ strategy }, { data: 1_000_000, keys: 3, ids }).memory_bytes_per_item, 100)
    const further = { strategy: /** @type {const} */ ('actual-value'), extraSortedSets: 1 }
    const ids = [10_000, 10_000]
    assert.equal(memory(further, { data: 1_000_000, keys: 3, ids }).memory_bytes_per_item, 100)
  })
  test('written once, when a lifetime has passed', () => {
    const once = /** @type {const} */ ({ once: true, ttlS: 5 })
    assert.equal(memory(once, { ...full, elapsedMs: 5000 }).memory_bytes_per_item, 400)
    assert.match(
      String(memory(once, { ...full, elapsedMs: 4900 }).memory_note),
      /full size after 5 s; run for longer/,
    )
    const set = { ...once, strategy: /** @type {const} */ ('set') }
    assert.match(String(memory(set, { ...full, elapsedMs: 60_000 }).memory_note), /full size after 245 s/)
    assert.ok(memory(set, { ...full, elapsedMs: 245_000 }).memory_bytes_per_item)
  })
})

describe('what gathers the items is taken apart', () => {
  test('of items that have expired and are not collected yet the ids are gone', () => {
    const once = /** @type {const} */ ({ once: true, ttlS: 2 })
    // 10,000 keys of 300 B, and 8000 ids of 100 B.
    const end = { data: 3_800_000, keys: 10_002, ids: [8000], holders: [800_000] }
    assert.equal(memory(once, end, { holders: [0] }).memory_bytes_per_item, 400)
    assert.equal(memory(once, end).memory_bytes_per_item, 380)
    // A busy server collects later, and no other application wrote what it still has.
    const late = { data: 15_800_000, keys: 50_002, ids: [8000], holders: [800_000] }
    assert.equal(memory(once, late, { holders: [0] }).memory_bytes_per_item, 400)
    assert.match(String(memory(once, { ...late, keys: 70_002 }).memory_note), /another application wrote/)
  })
  test('ids of an earlier run that are replaced', () => {
    const before = { data: 120_000, ids: [10_000], holders: [120_000] }
    const end = { ...full, data: 1_700_000, holders: [120_000] }
    assert.equal(memory({ strategy: 'list' }, end, before).memory_bytes_per_item, 170)
    const entries = { data: 1_000_000, keys: 3, ids: [10_000], holders: [1_000_000] }
    const { memory_bytes_per_item: bytes, memory_note: note } = memory(
      { strategy: 'stream' },
      entries,
      entries,
    )
    assert.equal(bytes, 100)
    assert.match(String(note), /^by MEMORY USAGE/)
  })
  test('ids of a box that ended before, whose items have expired', () => {
    const third = { data: 3_000_000, keys: 6669, ids: [10_000], holders: [1_000_000] }
    const { memory_bytes_per_item: bytes } = memory({}, third, { holders: [0] })
    assert.ok(Math.abs(Number(bytes) - 400) < 1, `${bytes} B`)
    const drawn = memory({ order: 'uniform', strategy: 'list' }, third, { holders: [0] })
    assert.notEqual(drawn.memory_bytes_per_item, bytes)
  })
  test('of another box whose values are written and whose ids are not yet', () => {
    const underWay = { data: 3_666_700, keys: 10_002, ids: [6667], holders: [666_700] }
    const third = memory({ totalAgents: 3 }, underWay, { holders: [0] }, { agents: [1] })
    assert.ok(Math.abs(Number(third.memory_bytes_per_item) - 400) < 0.1, String(third.memory_bytes_per_item))
    // There is no other writer: a limit keeps no more ids.
    assert.ok(Math.abs(Number(memory({}, underWay, { holders: [0] }).memory_bytes_per_item) - 366.7) < 0.1)
  })
  test('not where the keys hold other ids than those of the items', () => {
    const before = { keys: 2, ids: [10_000], holders: [1_000_000] }
    const end = { ...full, ids: [5000], holders: [500_000] }
    assert.equal(memory({}, end, before).memory_bytes_per_item, null)
    const minutes = { ...full, holders: [1_000_000] }
    assert.equal(memory({ strategy: 'set' }, minutes, before).memory_bytes_per_item, null)
  })
})

describe('or why that cannot be told', () => {
  /** @type {[string, Parameters<typeof memory>, RegExp][]} */
  const cases = [
    [
      'ids of an earlier run',
      [{}, full, { keys: 2, ids: [5000] }],
      /^5,000 ids of an earlier run were there/,
    ],
    [
      'keys of others',
      [{}, full, { keys: 5000 }],
      /^4,998 keys were there before the first write; wait until they expire, or remove them \(/,
    ],
    ['the same items, still there', [{}, full, { keys: 10_002 }], /^no items came: they were there before/],
    [
      'few items',
      [{ quantity: 20 }, { data: 9000, keys: 22 }],
      /^memory grew by 9\.00 kB; it takes 100 kB to tell the items/,
    ],
    [
      'items that die before they come again',
      [{ ttlS: 1, periodMs: 2000 }, full],
      /^--ttl is shorter than --period/,
    ],
    [
      'items that expired before the end',
      [{}, { ...full, keys: 12 }],
      /^only 10 of 10,000 items had not expired at the end$/,
    ],
    [
      'keys that another application writes meanwhile',
      [{}, { data: 40_000_000, keys: 20_002 }],
      /^20,000 items came, and this plan has 10,000 at most: another application wrote meanwhile$/,
    ],
    [
      'a list that another application fills meanwhile',
      [{}, { ...full, data: 14_000_000, keys: 10_003 }],
      /^14\.0 MB came, and these items take about 2\.77 MB: another application wrote meanwhile$/,
    ],
    ['a server that is silent', [{}, { ...full, ids: null }, { ids: undefined }], /^a master did not say/],
  ]
  for (const [name, args, reason] of cases)
    test(name, () => {
      const [settings, end, ...rest] = args
      const known =
        end.ids === null
          ? memoryCost({
              plan: samplePlan({ quantity: 10_000 }),
              strategy: strategyOf(samplePlan({ quantity: 10_000 })),
              before: { dataBytes: null, keys: null, gathered: null },
              after: { dataBytes: 4e6, keys: 10_002, gathered: [10_000] },
              elapsedMs: 5000,
              slotTable: 0,
            })
          : memory(settings, end, ...rest)
      assert.equal(known.memory_bytes_per_item, null)
      assert.match(String(known.memory_note), reason)
    })
})

test('a run that takes a lease and finds an earlier plan has no keys of others before it', () => {
  const { memory_bytes_per_item: perItem } = memory({}, { ...full, keys: 10_003 }, { keys: 2 })
  assert.equal(perItem, 400)
})

test('a cluster of Redis 8 takes a table for each slot, and says how much of an item that is', () => {
  const facts = { cluster: true, masters: 3 }
  const { memory_note: note } = memory({}, { ...full, slotTable: 2680 }, {}, facts)
  assert.match(String(note), /^2\.01 kB of it are tables of 7,485 slots, 2\.68 kB each/)
  assert.equal(memory({}, { ...full, slotTable: 0 }, {}, facts).memory_note, null)
  assert.equal(
    memory({ strategy: 'stream' }, { ...full, data: 1e6, slotTable: 2680 }, {}, facts).memory_note,
    null,
  )
  assert.equal(Math.round(slotsUsed(slotCount, 1e6)), slotCount)
  assert.deepEqual(
    ['6.2.14', '7.0.15', '8.2.3', 'valkey 8.0.1', 'valkey 9.1.2', 'unknown'].map(slotTableBytes),
    [0, 0, 2680, 220, 360, 0],
  )
})
