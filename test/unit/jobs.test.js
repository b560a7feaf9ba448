// The accounts of a queue: numbers as bits, a job's text, and the place of each job.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { fillingOf } from '../../lib/loads/jobs/producer.js'
import { jobsOf } from '../../lib/loads/workers/stages.js'
import { bitsOf, commonNumbers, numbersIn, onesIn, unionOf, without } from '../../lib/probes/bits.js'
import { valueReader } from '../../lib/wire/values.js'
import { boundWork } from '../../lib/workloads/bind/worker.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { headBytes, jobIn, makerName } from '../../lib/workloads/queue/job.js'
import { jobsIn } from '../../lib/workloads/queue/replies.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @import { Workers } from '../../lib/workloads/declare.js' */

const setOf = (/** @type {number[]} */ ...numbers) => {
  const bits = bitsOf()
  for (const n of numbers) bits.add(n)
  return bits.bytes()
}

test('bits: a number is there once, and bytes are those of Redis', () => {
  const bits = bitsOf()
  assert.deepEqual([1, 1, 8, 100_000].map(bits.add), [true, false, true, true])
  assert.equal(bits.count(), 3)
  // SETBIT k 1 1 makes 0x40, and bit 8 is the first of the second byte.
  assert.deepEqual([...bits.bytes().subarray(0, 2)], [0x40, 0x80])
  assert.equal(bits.bytes().length, 12_501)
  assert.deepEqual(numbersIn(bits.bytes(), 5), [1, 8, 100_000])
})

test('bits: what has changed is reported once', () => {
  const bits = bitsOf()
  assert.equal(bits.changed(), null)
  bits.add(20)
  bits.add(9)
  assert.deepEqual(bits.changed(), { from: 1, bytes: Buffer.from([0x40, 0x08]) })
  assert.equal(bits.changed(), null)
  bits.add(20)
  assert.equal(bits.changed(), null)
})

test('bits: sets of different lengths', () => {
  const [one, other] = [setOf(1, 2, 50), setOf(2, 3)]
  const sets = [unionOf([one, other]), without(one, other), without(other, one), commonNumbers(other, one)]
  const numbers = sets.map((set) => numbersIn(set, 9).join())
  assert.deepEqual(numbers, ['1,2,3,50', '1,50', '3', '2'])
  assert.equal(onesIn(unionOf([])), 0)
})

describe('a job', () => {
  const maker = makerName(1_763_888_888_000, 12)

  test('says who made it, its number and when it was due', () => {
    const plan = samplePlan({ strategy: 'queue-list', quantity: 30, prefix: 'p:', valueBytes: 100 })
    const { maker: own } = /** @type {any} */ (plan).queue
    const [{ command }] = strategyOf(plan).clientOperations()
    const out = Buffer.alloc(command.most)
    const values = { score: '', minute: '', floor: '', stamp: '', due: '1763888888123456' }
    const text = out.toString('latin1', 0, command.put(4711, out, 0, values))
    assert.match(text, /^\*3\r\n\$5\r\nLPUSH\r\n\$13\r\np:\{jobs\}:list\r\n\$100\r\n/)
    const job = text.split('\r\n')[6]
    assert.equal(job.length, 100)
    assert.deepEqual(jobIn(job), { maker: own, number: 4711, dueUs: 1_763_888_888_123_456 })
    assert.equal(headBytes(own), job.length - String(job.split(':').at(-1)).length)
  })

  test('what is none is known', () => {
    const whole = `${maker}:0000000001:1763888888123456:x`
    assert.ok(jobIn(whole))
    const others = ['A.1:0000000001', `${maker}:0000000000`, `${maker}:00000000x1`]
    const texts = others.map((head) => `${head}:1763888888123456:x`)
    for (const text of ['', 'x', whole.slice(0, -2), 'a:b:c:d', ...texts])
      assert.equal(jobIn(text), null, text)
  })
})

test('each job has one place, and what was done again is counted', () => {
  const jobs = jobsOf()
  for (const number of [1, 2, 3, 3, 3]) jobs.add({ maker: 'a.1', number, dueUs: 0 })
  const account = jobs.account({
    acked: { 'a.1': setOf(1, 2, 3, 4, 5, 6, 7, 8, 9), 'b.1': setOf(1) },
    others: [{ 'a.1': setOf(3, 4) }],
    queued: { 'a.1': setOf(2, 5, 20) },
    taken: { 'a.1': setOf(5, 6) },
    passed: { 'a.1': setOf(2, 5) },
    ...{ foreign: 0, doubt: { makers: new Set(), most: 0 } },
  })
  assert.deepEqual(account, {
    produced: 11, // 20 was never acknowledged, and is there
    ...{ done: 4, done_elsewhere: 1, in_flight: 1, lost: 4, unknown: 0, unacknowledged: 1, unconfirmed: 1 },
    ...{ queued: 2, passed: 1 }, // 5 is back, and 2 was done
    duplicates: 3, // 3 twice more by us, and once by another
    examples: ['a.1:7', 'a.1:8', 'a.1:9', 'b.1:1'],
  })
  assert.equal(account.produced, account.done + account.queued + account.in_flight + account.lost)
})

test('what a box that did not end may have done is unknown, and not lost', () => {
  const jobs = jobsOf()
  jobs.add({ maker: 'a.1', number: 1, dueUs: 0 })
  for (const [what, makers, most, expected] of /** @type {[string, string[], number, object][]} */ ([
    ['all boxes ended', [], 0, { lost: 6, unknown: 0 }],
    ['one may be at work', ['a.1', 'b.1'], Number.POSITIVE_INFINITY, { lost: 0, unknown: 6 }],
    ['one was killed before the second producer began', ['a.1'], 100, { lost: 2, unknown: 4 }],
    ['more than it can have done is lost', ['a.1', 'b.1'], 3, { lost: 3, unknown: 3 }],
  ])) {
    const { lost, unknown, produced, done } = jobs.account({
      acked: { 'a.1': setOf(1, 2, 3, 4, 5), 'b.1': setOf(1, 2) },
      ...{ others: [], queued: {}, taken: {}, passed: {}, foreign: 0 },
      doubt: { makers: new Set(makers), most },
    })
    assert.equal(produced, done + lost + unknown)
    assert.deepEqual({ lost, unknown }, expected, what)
  }
})

describe('replies of a queue', () => {
  /** @param {string} text */
  const readIn = (text, pieces = 1) => {
    const replies = /** @type {any[]} */ ([])
    const read = valueReader({
      replied: (reply) => replies.push(reply),
      refused: (line) => replies.push(new Error(line)),
    })
    const bytes = Buffer.from(text)
    const size = Math.ceil(bytes.length / pieces)
    for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size))
    return replies
  }

  test('nested, cut anywhere', () => {
    const text = '*2\r\n$1\r\na\r\n*2\r\n*0\r\n*2\r\n:5\r\n$-1\r\n+OK\r\n-ERR no\r\n*-1\r\n'
    for (const pieces of [1, 2, 7, text.length]) {
      const [nested, ok, error, nil] = readIn(text, pieces)
      assert.deepEqual(nested, ['a', [[], [5, null]]])
      assert.equal(ok, 'OK')
      assert.ok(error instanceof Error && error.message === 'ERR no')
      assert.equal(nil, null)
    }
  })

  test('jobs of each shape', () => {
    const entries = [
      ['1-1', ['job', 'x']],
      ['1-2', null],
    ]
    const one = { handle: 'x', text: 'x' }
    const entry = { handle: '1-1', text: 'x' }
    for (const [shape, reply, jobs] of /** @type {[Parameters<typeof jobsIn>[0], any, object[]][]} */ ([
      ['popped', ['key', 'x'], [one]],
      ['popped-many', ['key', ['x']], [one]],
      ['values', 'x', [one]],
      ['values', ['x'], [one]],
      ['values', null, []],
      ['entries-by-key', [['key', entries]], [entry]],
      ['claimed', ['0-0', entries, []], [entry]],
      ['ids', [['1-1', 'w', 5, 1]], [{ handle: '1-1', text: '' }]],
    ]))
      assert.deepEqual(jobsIn(shape, reply), jobs, shape)
  })
})

test('commands of a worker', () => {
  const work = { take: 3, confirm: true }
  const plan = /** @type {any} */ ({ ...samplePlan({ strategy: 'queue-list', prefix: 'p:' }), work })
  const strategy = strategyOf(plan)
  const workers = /** @type {Workers} */ (strategy.workers())
  const known = { worker: 'w.1', take: 3, waitS: 0.25, waitMs: 250, reclaimMs: 5000 }
  const lines = (/** @type {any} */ work, /** @type {string[]} */ ...texts) => {
    const jobs = texts.map((text) => ({ handle: text, text }))
    const commands = strategy.boundWork(work).commands(known, jobs)
    return commands.map((args) => args.join(' '))
  }
  const move = 'LMOVE p:{jobs}:list p:{jobs}:list:taken:w.1 RIGHT LEFT'
  assert.deepEqual(lines(workers.take), [move, move, move])
  assert.deepEqual(lines(workers.wait), [`B${move} 0.25`])
  const removed = ['x', 'y'].map((text) => `LREM p:{jobs}:list:taken:w.1 -1 ${text}`)
  assert.deepEqual(lines(workers.confirm[0], 'x', 'y'), removed)
  const { withText, commands } = boundWork(/** @type {any} */ (workers.reclaim), 'p:')
  const [[name, text, ...args]] = withText?.(known) ?? [[]]
  assert.equal(name, 'EVAL')
  // Else the server would not have it the next time either.
  assert.equal(commands(known)[0][1], createHash('sha1').update(text).digest('hex'))
  assert.match(text, /redis\.call\('LMOVE'/)
  const keys = ['p:{jobs}:list', 'p:{jobs}:list:workers', 'p:{jobs}:list:taken:w.1']
  assert.deepEqual(args.slice(0, 4), ['3', ...keys])
})

test('when a queue is full is predicted once, from what was seen until a quarter of it was', () => {
  const { filling, addSample, refused } = fillingOf()
  for (const [i, part] of [0.1, 0.2, 0.3, 0.9].entries()) addSample((i + 1) * 1000, part)
  assert.equal(filling.predicted_at_ms, 3000)
  assert.ok(Math.abs(Number(filling.predicted_ms) - 10_000) < 1e-6)
  assert.equal(filling.full_ms, null)
  refused(9800)
  refused(9900)
  assert.equal(filling.full_ms, 9800)
  // One that does not grow is never full.
  const empty = fillingOf()
  for (const atMs of [1000, 2000, 3000]) empty.addSample(atMs, 0.5)
  assert.equal(empty.filling.predicted_ms, null)
})
