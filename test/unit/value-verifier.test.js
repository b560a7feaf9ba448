// What verification says of a value, an id without one, and of whoever was only late: a table, with clocks and masters
// made up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valueVerifierOf } from '../../lib/measure/value-verifier.js'
import { plainArgument } from '../../lib/wire/encode.js'
import { idList } from '../../lib/wire/id-list.js'
import { payloadOf } from '../helpers/payload.js'

const startMs = 1_790_000_000_000
const terms = { payload: /** @type {const} */ ('random'), valueBytes: 40, seed: 7, stamp: false }
const noHoles = { score: '', minute: '', floor: '', stamp: String(startMs + 5000), due: '' }

/** @param {number} n @param {Partial<typeof terms>} [change] @param {number} [stampMs] */
const bytesOf = (n, change = {}, stampMs = startMs + 5000) =>
  Buffer.from(plainArgument(payloadOf({ ...terms, ...change })(n), { ...noHoles, stamp: String(stampMs) }))

/**
 * A judge at 6 s after the start of a plan with a ttl of 3 s; `master` says what it has when it is asked.
 * @param {object} [options]
 * @param {Record<string, any>} [options.plan]
 * @param {boolean} [options.dated]
 * @param {(id: string, time: number) => Buffer | null} [options.master]
 * @param {boolean} [options.lives] the writer gives signs of life
 * @param {boolean} [options.apart] ids and values are kept apart
 */
const judging = ({ plan = {}, dated = true, master = () => null, lives = true, apart = true } = {}) => {
  let nowMs = startMs + 6000
  let asked = 0
  const judge = valueVerifierOf({
    plan: /** @type {any} */ ({
      ...terms,
      strategy: 'sorted-set',
      quantity: 100,
      once: false,
      ttlS: 3,
      startedMs: startMs,
      writePeriodMs: 1000,
      prefix: '',
      sets: ['latest-ids'],
      extraSets: [],
      taggedItems: false,
      buckets: 1,
      knowsBytes: true,
      knowsItems: true,
      ...plan,
    }),
    reader: /** @type {any} */ ({ dated }),
    nowAt: () => nowMs,
    readAtMaster: apart ? async (id, sink) => sink(master(id, ++asked)) : null,
    wasRewritten: async () => lives,
    sleep: async (ms) => {
      nowMs += ms
    },
  })
  const list = idList()
  return {
    judge,
    asked: () => asked,
    at: (/** @type {number} */ ms) => {
      nowMs = startMs + ms
    },
    /** @param {string} id @param {Buffer | null} value @param {number} [scoreMs] after the start */
    async see(id, value, scoreMs) {
      const bytes = Buffer.from(id)
      const i = list.add(bytes, 0, bytes.length)
      if (scoreMs !== undefined) list.setScore(i, startMs + scoreMs)
      const sink = judge.inspect(list, 'server')
      if (value) sink.value(i, value, 0, value.length)
      else sink.nil(i)
      await judge.settle()
      return Object.fromEntries(Object.entries(judge.counts).filter(([, n]) => n > 0))
    },
  }
}

/** @type {{ name: string, id?: string, value: Buffer | null, scoreMs?: number, options?: Parameters<typeof judging>[0], counts: Record<string, number> }[]} */
const cases = [
  { name: 'the right bytes', value: bytesOf(5), scoreMs: 5000, counts: { checked: 1 } },
  {
    name: 'bytes of another seed',
    value: bytesOf(5, { seed: 8 }),
    scoreMs: 5000,
    counts: { checked: 1, corrupt: 1 },
  },
  { name: "another item's bytes", value: bytesOf(6), scoreMs: 5000, counts: { checked: 1, corrupt: 1 } },
  {
    name: 'one byte short',
    value: bytesOf(5).subarray(0, 39),
    scoreMs: 5000,
    counts: { checked: 1, corrupt: 1 },
  },
  {
    name: 'an item beyond the plan',
    id: 'item:101',
    value: bytesOf(101),
    scoreMs: 5000,
    counts: { unexpected: 1 },
  },
  {
    name: 'the same with --once, where numbers go on',
    id: 'item:101',
    value: bytesOf(101),
    scoreMs: 5000,
    options: { plan: { once: true } },
    counts: { checked: 1 },
  },
  { name: 'a name that is none', id: 'item:05', value: bytesOf(5), scoreMs: 5000, counts: { unexpected: 1 } },
  { name: 'no number', id: 'item:5x', value: null, scoreMs: 5000, counts: { unexpected: 1 } },
  { name: 'gone, and its time is over', value: null, scoreMs: 2950, counts: { expired: 1 } },
  ...[{ once: true }, { writePeriodMs: 8000 }].flatMap((plan) =>
    ['list', 'set'].map((strategy) => ({
      name: `undated, and perhaps over: ${strategy} ${JSON.stringify(plan)}`,
      value: null,
      options: {
        plan: { ...plan, strategy, startedMs: startMs - 9000 },
        dated: false,
        // Written again meanwhile.
        master: () => bytesOf(5),
      },
      counts: /** @type {Record<string, number>} */ ({ expired: 1 }),
    })),
  ),
  { name: 'gone too early, on the master as well', value: null, scoreMs: 5000, counts: { missing: 1 } },
  {
    name: 'not on the replica yet',
    value: null,
    scoreMs: 5990,
    options: { master: () => bytesOf(5) },
    counts: { lagging: 1 },
  },
  {
    name: 'not on the master yet either: its tick is just being written',
    value: null,
    scoreMs: 5990,
    options: { master: (_, time) => (time > 3 ? bytesOf(5) : null) },
    counts: { lagging: 1 },
  },
  {
    name: 'of one master, which had none for 200 ms: each value goes there before its id',
    value: null,
    scoreMs: 5990,
    options: { plan: { masters: 1 }, master: (_, time) => (time > 3 ? bytesOf(5) : null) },
    counts: { missing: 1 },
  },
  {
    name: 'of one master, which had none for 50 ms: it may have been sent again',
    value: null,
    scoreMs: 5990,
    options: { plan: { masters: 1 }, master: (_, time) => (time > 2 ? bytesOf(5) : null) },
    counts: { lagging: 1 },
  },
  {
    name: 'of several masters, gone for seconds and then written again',
    value: null,
    scoreMs: 4500,
    options: { plan: { ttlS: 9 }, master: (_, time) => (time > 5 ? bytesOf(5) : null) },
    counts: { missing: 1 },
  },
  {
    name: 'late, and other bytes on the master',
    value: null,
    scoreMs: 5000,
    options: { master: () => bytesOf(6) },
    counts: { corrupt: 1 },
  },
  { name: 'its time runs out while it is asked for', value: null, scoreMs: 3200, counts: { expired: 1 } },
  {
    name: 'undated, gone, and its writer lives',
    value: null,
    options: { dated: false, plan: { strategy: 'list' } },
    counts: { missing: 1 },
  },
  {
    name: 'undated, gone, and its writer has ended',
    value: null,
    options: { dated: false, plan: { strategy: 'list' }, lives: false },
    counts: { expired: 1 },
  },
  {
    name: 'undated, and written again meanwhile',
    value: null,
    options: {
      dated: false,
      plan: { strategy: 'list' },
      master: (_, time) => (time > 6 ? bytesOf(5) : null),
    },
    counts: { lagging: 1 },
  },
  {
    name: 'of a set of items that are written once: any age',
    value: null,
    options: { dated: false, plan: { strategy: 'set', once: true } },
    counts: { expired: 1 },
  },
  {
    name: 'nobody knows the bytes',
    value: Buffer.from('anything'),
    scoreMs: 5000,
    options: { plan: { knowsBytes: false, knowsItems: false } },
    counts: {},
  },
  {
    name: 'a stamp as new as the id',
    value: bytesOf(5, { stamp: true }, startMs + 5000),
    scoreMs: 5000,
    options: { plan: { stamp: true } },
    counts: { checked: 1 },
  },
  {
    name: 'an older stamp, newer on the master',
    value: bytesOf(5, { stamp: true }, startMs + 4000),
    scoreMs: 5000,
    options: { plan: { stamp: true }, master: () => bytesOf(5, { stamp: true }, startMs + 5000) },
    counts: { checked: 1, lagging: 1 },
  },
  {
    name: 'an older stamp on the master too',
    value: bytesOf(5, { stamp: true }, startMs + 4000),
    scoreMs: 5000,
    options: { plan: { stamp: true }, master: () => bytesOf(5, { stamp: true }, startMs + 4000) },
    counts: { checked: 1, stale: 1 },
  },
  {
    name: 'an older stamp in a value that is one with its id',
    value: bytesOf(5, { stamp: true }, startMs + 4000),
    scoreMs: 5000,
    options: { plan: { stamp: true }, apart: false },
    counts: { checked: 1 },
  },
]
for (const { name, id = 'item:5', value, scoreMs, options, counts } of cases)
  test(name, async () => assert.deepEqual(await judging(options).see(id, value, scoreMs), counts))

test('undated items are not judged before a plan had the time to write them anew', async () => {
  const { see, at } = judging({ dated: false, plan: { strategy: 'list' } })
  at(2500)
  assert.deepEqual(await see('item:5', bytesOf(5, { seed: 8 })), {})
  at(3500)
  assert.deepEqual(await see('item:6', bytesOf(5, { seed: 8 })), { checked: 1, corrupt: 1 })
})

test('an item that is its own value names itself', async () => {
  const { judge } = judging({ plan: { strategy: 'actual-value' } })
  const sink = judge.inspect(idList(), 'server')
  for (const value of [bytesOf(5), bytesOf(100), bytesOf(101), bytesOf(5, { seed: 9 })])
    sink.value(-1, value, 0, 40)
  const { checked, corrupt, unexpected } = judge.counts
  assert.deepEqual({ checked, corrupt, unexpected }, { checked: 3, corrupt: 1, unexpected: 1 })
})

test('a master that cannot be asked leaves it unjudged, and too many are not all asked for', async () => {
  const { judge } = judging({
    master: () => {
      throw new Error('away')
    },
  })
  const list = idList()
  const id = Buffer.from('item:5')
  const sink = judge.inspect(list, 'server')
  for (let i = 0; i < 10_500; i++) {
    list.setScore(list.add(id, 0, id.length), startMs + 5000)
    sink.nil(i)
  }
  await judge.settle()
  assert.equal(judge.counts.unjudged, 10_500)
})
