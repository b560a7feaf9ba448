import assert from 'node:assert/strict'
import test from 'node:test'
import { tickValues } from '../../lib/plan/tick-values.js'
import { batchOf } from '../../lib/transport/batch.js'
import { entryOf, laneOf } from '../../lib/transport/lane.js'
import { underWayOf } from '../../lib/transport/pool.js'
import { tapeOf } from '../../lib/transport/tape.js'
import { each } from '../../lib/workloads/step.js'

/** @typedef {import('../../lib/transport/connection.js').Tick} Tick */

const values = tickValues(1_790_000_000_000, 60)
const ok = '+OK\r\n'

/** A lane to a server that answers what the test says. */
const laneToTest = async (windowBytes = 1000) => {
  const done = /** @type {string[]} */ ([])
  let bytes = 0
  /** @type {(chunk: Buffer) => void} */
  let deliver = () => {}
  const socket = /** @type {any} */ ({
    destroyed: false,
    writableLength: 0,
    cork() {},
    uncork() {},
    destroy() {},
    write: (/** @type {Buffer} */ chunk) => {
      bytes += chunk.length
    },
  })
  const never = () => assert.fail('was not expected')
  const lane = laneOf({
    address: '127.0.0.1:1',
    windowBytes,
    windowCommands: Number.POSITIVE_INFINITY,
    underWay: underWayOf(8, () => {}),
    oneSlot: false,
    open: async ({ onBytes }) => {
      deliver = onBytes
      return socket
    },
    spare: { take: () => Buffer.alloc(65_536), give: () => {} },
    holds: { any: () => false, has: () => false, wait: never },
    clock: () => 0,
    random: () => 0.5,
    events: {
      onAnswered: (entry, n) => done.push(`${entry.tick.chunk}: ${n}`),
      onRefused: never,
      onRead: () => {},
      onBegun: () => {},
      onLost: never,
      onSent: () => {},
      onState: () => {},
    },
  })
  await lane.connect()
  return {
    lane,
    done,
    bytes: () => bytes,
    answer: (/** @type {string} */ text) => deliver(Buffer.from(text)),
  }
}

/** @param {number} chunk @param {number} [index] @param {number} [valueBytes] @returns {import('../../lib/transport/lane.js').Turn} */
const turnOf = (chunk, index = 0, valueBytes = 1) => {
  const step = each((n) => ['SET', `item:${n}`, 'x'.repeat(valueBytes)])
  const tape = tapeOf(batchOf(step, { first: 1, count: 2 }, { cluster: false, values }), values, true)
  const tick = /** @type {Tick} */ (
    /** @type {unknown} */ ({ index, chunk, dueMs: 0, firstMs: null, values, account: {} })
  )
  return { tick, jobs: [{ tape, values, ranges: [0, 2], at: 0 }], begun: false }
}

test('a lane is drained when the last of what was sent before has its answer, and not one answer earlier', async () => {
  const { lane, answer } = await laneToTest()
  let drained = 0
  const note = () => {
    drained++
  }
  lane.whenDrained(note)
  assert.equal(drained, 1, 'nothing is under way')
  lane.offer(turnOf(0))
  lane.offer(turnOf(1))
  lane.pump()
  lane.whenDrained(note)
  assert.equal(drained, 1)
  lane.offer(turnOf(2))
  lane.pump()
  for (let n = 1; n <= 3; n++) {
    answer(ok)
    assert.equal(drained, 1, `after ${n} of 4 answers`)
  }
  answer(ok)
  assert.equal(drained, 2, 'what was sent later is not waited for')
})

test('a full window is written no further, and opens as answers come', async () => {
  const { lane, bytes, answer, done } = await laneToTest()
  for (const chunk of [0, 1, 2]) lane.offer(turnOf(chunk, 0, 500))
  lane.pump()
  const first = bytes()
  assert.ok(first > 1000 && first < 1200, `${first} bytes of the first turn`)
  assert.ok(lane.isShut())
  answer(ok)
  assert.equal(bytes(), first, 'half of it is still under way')
  answer(ok)
  assert.equal(bytes(), 2 * first)
  assert.deepEqual(done, ['0: 1', '0: 1'])
})

test('a tick waits until the one before of the same chunk has its answers', async () => {
  const { lane, answer, bytes } = await laneToTest()
  lane.offer(turnOf(0, 0))
  lane.offer(turnOf(0, 1))
  lane.pump()
  const first = bytes()
  answer(ok)
  assert.equal(bytes(), first)
  answer(ok)
  assert.equal(bytes(), 2 * first)
})

test('a repeat that is longer than a write goes in several', async () => {
  const { lane, answer, done } = await laneToTest(1 << 20)
  const { tick, jobs } = turnOf(0, 0, 50_000)
  lane.sendFirst({ ...entryOf(tick, jobs[0].tape, values, 0, 2, true), held: true })
  lane.pump()
  answer(ok + ok)
  assert.deepEqual(done, ['0: 1', '0: 1'])
})
