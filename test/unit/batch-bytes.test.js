import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
import { cutOf, estimateBytes, lowerBound, withBytes, writeBytes } from '../../lib/transport/batch-bytes.js'
import { batchOf } from '../../lib/transport/tick-batches.js'
import { eachStep, gatherStep, once } from '../../lib/workloads/bind/writer.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { oldest, time } from '../../lib/workloads/declare.js'
import { valuesAt, wireOf } from '../helpers/commands.js'
import { seeded } from '../helpers/random.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @import { Batch } from '../../lib/transport/tick-batches.js' */
/** @import { Hole, TickValues } from '../../lib/wire/encode.js' */
/** @import { Step } from '../../lib/workloads/bind/writer.js' */

const score = /** @type {Hole} */ (time.hole)
const floor = /** @type {Hole} */ (oldest.hole)
const zeros = valuesAt(0)
zeros.floor = '0'.repeat(13)

const sparePool = () => {
  const free = /** @type {Buffer[]} */ ([])
  const pool = {
    out: 0,
    take: () => {
      pool.out++
      return free.pop() ?? Buffer.alloc(writeBytes, '~')
    },
    give: (/** @type {Buffer} */ buffer) => {
      pool.out--
      free.push(buffer.fill('~'))
    },
  }
  return pool
}

/** @param {Batch} batch @param {number} from @param {number} to @param {TickValues} values */
const expected = (batch, from, to, values) =>
  Buffer.concat(Array.from({ length: to - from }, (_, i) => wireOf(batch.args(from + i), values)))

const stamped = samplePlan({ quantity: 900, stamp: true, valueBytes: 64, maxMembers: 100 })
const stamping = strategyOf(stamped).steps()
const large = gatherStep(
  3,
  (n) => `k${n % 5}`,
  (key, ns) => ['SADD', key, score, Buffer.alloc(70_000), ...ns],
)
const twoHoles = eachStep((n) => ['X', `k:${n}`, score, ['(', floor], { hole: 'minute', width: 8 }])
const everySize = eachStep((n) => ['SET', `k:${n}`, score, Buffer.alloc((n * 7919) % 30_000)])
/** @type {[string, Step, number, boolean?][]} */
const samples = [
  ['SETEX with a stamp', stamping[0], 900],
  ['SETEX in slot order', stamping[0], 900, true],
  ['ZADD of many', stamping[1], 900],
  ['two holes a command', twoHoles, 300],
  ['no hole', eachStep((n) => ['DEL', n]), 50],
  ['commands above a write', large, 20],
  ['commands of every size', everySize, 60],
]
/** @param {Step} step @param {number} count */
const batchIn = (step, count, cluster = false) =>
  batchOf(step, { first: 1, count }, { cluster, values: zeros })

/**
 * Several queues play the batch as the driver does: each in order of the ticks, at its own speed; some leave out
 * ticks, some repeat old ones, and sockets let go of their bytes late.
 * @param {Batch} batch
 * @param {number} seed
 */
const play = (batch, seed) => {
  const random = seeded(seed)
  const spare = sparePool()
  let epochMs = 1_790_000_000_000 - random.below(2000)
  const ticks = Array.from({ length: 12 }, () => {
    epochMs += random.pick([0, 1, 9, 10, 100, 1000, 61_000, 10_000_000])
    return valuesAt(epochMs)
  })
  const middles = Array.from({ length: 3 }, () => random.below(batch.count + 1)).sort((a, b) => a - b)
  const edges = [0, ...middles, batch.count]
  const queues = edges.slice(1).map((to, i) => ({ from: edges[i], to, next: 0 }))
  let underWay = /** @type {{ bytes: Buffer, was: Buffer, release: (() => void) | null }[]} */ ([])
  const settle = (/** @type {number} */ share) =>
    (underWay = underWay.filter(({ bytes, was, release }) => {
      if (!random.chance(share)) return true
      assert.ok(bytes.equals(was), `seed ${seed}: bytes that a socket holds are not touched`)
      release?.()
      return false
    }))
  /** @param {number} from @param {number} to @param {TickValues} values @param {boolean} again */
  const send = (from, to, values, again) => {
    for (let at = from; at < to; ) {
      const most = writeBytes * (1 + random.below(8))
      const cut = cutOf(batch, at, to, values, spare, again, most)
      assert.ok(cut.to > at && cut.to <= to)
      assert.ok(cut.bytes.length <= most || cut.to === at + 1, `a cut of ${cut.bytes.length} bytes`)
      const should = expected(batch, at, cut.to, values)
      assert.ok(cut.bytes.equals(should), `seed ${seed}: commands ${at} to ${cut.to}${again ? ' again' : ''}`)
      underWay.push({ bytes: cut.bytes, was: Buffer.from(cut.bytes), release: cut.release })
      if (random.chance(0.5)) settle(0.7)
      at = cut.to
    }
  }
  while (queues.some(({ next }) => next < ticks.length)) {
    const queue = random.pick(queues.filter(({ next }) => next < ticks.length))
    const { from, to } = queue
    const values = ticks[queue.next++]
    const middle = from + random.below(to - from + 1)
    // Whole, in two parts in any order, its beginning only (the rest is dropped), or not at all.
    const whole = [from, to]
    const first = [from, middle]
    const rest = [middle, to]
    for (const [a, b] of random.pick([[whole], [whole], [rest, first], [first], []]))
      send(a, b, values, false)
    if (random.chance(0.3) && from < to) {
      const a = from + random.below(to - from)
      send(a, Math.min(to, a + 1 + random.below(5)), ticks[random.below(queue.next)], true)
    }
    settle(random.next())
  }
  settle(1)
  assert.equal(spare.out, 0, 'every lent buffer came back')
  assert.deepEqual(batch.encodedBytes?.busy ?? [], [], 'no range stays busy')
}

for (const [name, step, count, cluster] of samples)
  for (const kept of [true, false])
    test(`${name}, ${kept ? 'kept' : 'not kept'}: every cut is what fresh encoding gives`, () => {
      for (let seed = 1; seed <= 3; seed++) play(withBytes(batchIn(step, count, cluster), zeros, kept), seed)
    })

const small = eachStep((n) => ['SET', `k:${n}`, score])
const smallBatch = (/** @type {number} */ count) => withBytes(batchIn(small, count), zeros, true)

test('a kept batch is sent in place; bytes that a socket holds are encoded beside it', () => {
  const spare = sparePool()
  const batch = smallBatch(100)
  const [one, two, three] = [1, 2, 3].map((n) => valuesAt(1_790_000_000_000 + n))
  const first = cutOf(batch, 0, 100, one, spare, false)
  assert.equal(first.bytes.buffer, batch.encodedBytes?.bytes.buffer)
  const second = cutOf(batch, 50, 60, two, spare, false)
  assert.notEqual(second.bytes.buffer, batch.encodedBytes?.bytes.buffer)
  assert.ok(first.bytes.equals(expected(batch, 0, 100, one)))
  first.release?.()
  second.release?.()
  const third = cutOf(batch, 50, 60, three, spare, false)
  assert.equal(third.bytes.buffer, batch.encodedBytes?.bytes.buffer, 'free again')
  assert.ok(third.bytes.equals(expected(batch, 50, 60, three)))
})

test('a repeat carries its own tick and leaves the batch alone', () => {
  const spare = sparePool()
  const batch = smallBatch(10)
  const [old, now] = [valuesAt(1_790_000_000_000), valuesAt(1_790_000_001_000)]
  cutOf(batch, 0, 10, now, spare, false).release?.()
  const again = cutOf(batch, 2, 3, old, spare, true)
  assert.ok(again.bytes.equals(expected(batch, 2, 3, old)))
  assert.ok(batch.encodedBytes?.bytes.equals(expected(batch, 0, 10, now)))
})

test('thousands of single repeats take their own size, not a write buffer each', () => {
  const spare = sparePool()
  const batch = smallBatch(10)
  const cuts = Array.from({ length: 10 }, (_, i) => cutOf(batch, i, i + 1, zeros, spare, true))
  const bytes = cuts.reduce((sum, { bytes }) => sum + bytes.buffer.byteLength, 0)
  assert.equal(bytes, batch.encodedBytes?.bytes.length)
})

test('cuts are as large as 64 kB allow', () => {
  const batch = smallBatch(10_000)
  const { encodedBytes } = batch
  assert.ok(encodedBytes)
  for (const again of [false, true])
    for (let at = 0; at < batch.count; ) {
      const cut = cutOf(batch, at, batch.count, zeros, sparePool(), again)
      const next = cut.to < batch.count ? encodedBytes.offsets[cut.to + 1] : Number.POSITIVE_INFINITY
      assert.ok(next - encodedBytes.offsets[at] > writeBytes, 'one more command would not fit')
      at = cut.to
      cut.release?.()
    }
})

test('the estimate of equal commands is exact, and of none nothing', () => {
  const batch = smallBatch(9)
  assert.equal(estimateBytes(batch), batch.encodedBytes?.bytes.length)
  const nothing = once([], () => [])
  assert.equal(estimateBytes(batchIn(nothing, 0)), 0)
})

test('lowerBound against a search from the left', () => {
  const random = seeded(3)
  for (let i = 0; i < 500; i++) {
    const sorted = Uint32Array.from({ length: random.below(20) }, () => random.below(20)).sort()
    const value = random.below(22)
    const from = random.below(sorted.length + 1)
    const to = from + random.below(sorted.length - from + 1)
    let place = from
    while (place < to && sorted[place] < value) place++
    assert.equal(lowerBound(sorted, value, from, to), place)
  }
})

test('V8 optimizes the loop that puts digits, and not what is done behind it', () => {
  const play = `
    import { batchOf } from './lib/transport/tick-batches.js'
    import { cutOf, withBytes } from './lib/transport/batch-bytes.js'
    import { time } from './lib/workloads/declare.js'
    import { gatherStep } from './lib/workloads/bind/writer.js'
    import { valuesAt } from './test/helpers/commands.js'
    const zadd = gatherStep(5000, () => 'ids', (_, ns) => ['ZADD', 'ids', ...ns.flatMap((n) => [time.hole, n])])
    const zeros = valuesAt(0)
    const batch = withBytes(batchOf(zadd, { first: 0, count: 100_000 }, { cluster: false, values: zeros }), zeros, true)
    for (let tick = 1; tick <= 10; tick++)
      for (let from = 0; from < batch.count; ) {
        const cut = cutOf(batch, from, batch.count, valuesAt(tick * 1e11), null, false)
        cut.release()
        from = cut.to
      }`
  const args = ['--trace-opt', '--input-type=module', '--eval', play]
  const lines = execFileSync(process.execPath, args, { encoding: 'utf8' }).split('\n')
  const whileTheyRun = lines.filter((line) => line.includes(' OSR'))
  assert.notEqual(whileTheyRun.length, 0)
  assert.ok(!whileTheyRun.some((line) => line.includes(' patch ')))
})
