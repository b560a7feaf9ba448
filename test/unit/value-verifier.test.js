// What verification says of a value, an id without one, and of whoever was only late: a table, with clocks and masters
// made up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valueVerifierOf } from '../../lib/probes/value-verifier.js'
import { plainArgument } from '../../lib/wire/encode.js'
import { idList } from '../../lib/wire/id-list.js'
import { payloadOf } from '../helpers/payload.js'
import { rowsOf } from '../helpers/table.js'

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
      ...{ ...terms, strategy: 'sorted-set', quantity: 100, once: false, ttlS: 3, startedMs: startMs },
      ...{ writePeriodMs: 1000, prefix: '', sets: ['latest-ids'], extraSets: [], taggedItems: false },
      ...{ buckets: 1, knowsBytes: true, knowsItems: true, ...plan },
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
    at: (/** @type {number} */ ms) => (nowMs = startMs + ms),
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

const stamped = (/** @type {number} */ ms) => bytesOf(5, { stamp: true }, startMs + ms)
/** @type {Record<string, Buffer | null>} */
const values = {
  ...{ nothing: null, right: bytesOf(5), short: bytesOf(5).subarray(0, 39) },
  ...{ anything: Buffer.from('anything') },
  ...{ 'of seed 8': bytesOf(5, { seed: 8 }), 'of item 6': bytesOf(6), 'of item 101': bytesOf(101) },
  ...{ 'of 5 s': stamped(5000), 'of 4 s': stamped(4000) },
}

// What is found of item 5, the score of its id, what is counted, and the options of the judge: `master` is what the
// master has, `from` the time it is asked from which it has that.
const cases = rowsOf(`
the right bytes -> right -> 5000 -> checked
bytes of another seed -> of seed 8 -> 5000 -> checked corrupt
another item's bytes -> of item 6 -> 5000 -> checked corrupt
one byte short -> short -> 5000 -> checked corrupt
an item beyond the plan -> of item 101 -> 5000 -> unexpected -> {"id":"item:101"}
the same with --once, where numbers go on -> of item 101 -> 5000 -> checked -> {"id":"item:101","plan":{"once":true}}
a name that is none -> right -> 5000 -> unexpected -> {"id":"item:05"}
no number -> nothing -> 5000 -> unexpected -> {"id":"item:5x"}
gone, and its time is over -> nothing -> 2950 -> expired
gone too early, on the master as well -> nothing -> 5000 -> missing
not on the replica yet -> nothing -> 5990 -> lagging -> {"master":"right"}
not on the master yet either: its tick is just being written -> nothing -> 5990 -> lagging -> {"master":"right","from":4}
of one master, which had none for 200 ms: each value goes there before its id -> nothing -> 5990 -> missing -> {"plan":{"masters":1},"master":"right","from":4}
of one master, which had none for 50 ms: it may have been sent again -> nothing -> 5990 -> lagging -> {"plan":{"masters":1},"master":"right","from":3}
of several masters, gone for seconds and then written again -> nothing -> 4500 -> missing -> {"plan":{"ttlS":9},"master":"right","from":6}
late, and other bytes on the master -> nothing -> 5000 -> corrupt -> {"master":"of item 6"}
its time runs out while it is asked for -> nothing -> 3200 -> expired
undated, gone, and its writer lives -> nothing ->  -> missing -> {"plan":{"strategy":"list"}}
undated, gone, and its writer has ended -> nothing ->  -> expired -> {"plan":{"strategy":"list"},"lives":false}
undated, and written again meanwhile -> nothing ->  -> lagging -> {"plan":{"strategy":"list"},"master":"right","from":7}
of a set of items that are written once: any age -> nothing ->  -> expired -> {"plan":{"strategy":"set","once":true}}
the bytes are not known -> anything -> 5000 ->  -> {"plan":{"knowsBytes":false,"knowsItems":false}}
a stamp as new as the id -> of 5 s -> 5000 -> checked -> {"plan":{"stamp":true}}
an older stamp, newer on the master -> of 4 s -> 5000 -> checked lagging -> {"plan":{"stamp":true},"master":"of 5 s"}
an older stamp on the master too -> of 4 s -> 5000 -> checked stale -> {"plan":{"stamp":true},"master":"of 4 s"}
an older stamp in a value that is one with its id -> of 4 s -> 5000 -> checked -> {"plan":{"stamp":true},"apart":false}
`)
// Undated, perhaps over, and written again meanwhile.
for (const strategy of ['list', 'set'])
  for (const change of [{ once: true }, { writePeriodMs: 8000 }]) {
    const plan = { ...change, strategy, startedMs: startMs - 9000 }
    const name = `undated, and perhaps over: ${strategy} ${JSON.stringify(change)}`
    cases.push([name, 'nothing', '', 'expired', JSON.stringify({ plan, master: 'right' })])
  }
for (const [name, found, score, counted, options = '{}'] of cases)
  test(name, async () => {
    const { id = 'item:5', master = 'nothing', from = 1, ...rest } = JSON.parse(options)
    const dated = score !== ''
    const { see } = judging({
      ...{ ...rest, dated },
      master: (_, time) => (time >= from ? values[master] : null),
    })
    const counts = counted.split(' ').filter(Boolean)
    const shown = await see(id, values[found], dated ? Number(score) : undefined)
    assert.deepEqual(shown, Object.fromEntries(counts.map((one) => [one, 1])))
  })

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
  const { judge } = judging({ master: () => assert.fail('away') })
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
