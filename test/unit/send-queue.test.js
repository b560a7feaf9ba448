import assert from 'node:assert/strict'
import test from 'node:test'
import { underWayOf } from '../../lib/transport/pool.js'
import { entryOf, sendQueueOf } from '../../lib/transport/send-queue.js'
import { askingBytes } from '../../lib/wire/encode.js'
import { ok, sceneOfQueues, turnOf, values } from '../helpers/scene-of-queues.js'

/** A queue to a server that answers what the test says. @param {{ windowBytes?: number, windowCommands?: number }} [window] */
const queueToTest = async (window = {}) => {
  const { connections, done, sent, options } = sceneOfQueues()
  const queue = sendQueueOf({ ...options, ...window, underWay: underWayOf(8, () => {}) })
  await queue.connect()
  const [connection] = connections
  return { queue, done, sent, bytes: () => connection.bytes, answer: connection.answer }
}

test('a queue is drained when the last of what was sent before has its answer, and not one answer earlier', async () => {
  const { queue, answer } = await queueToTest()
  let drained = 0
  const note = () => {
    drained++
  }
  queue.whenDrained(note)
  assert.equal(drained, 1, 'nothing is under way')
  queue.offer(turnOf(0))
  queue.offer(turnOf(1))
  queue.pump()
  queue.whenDrained(note)
  assert.equal(drained, 1)
  queue.offer(turnOf(2))
  queue.pump()
  for (let n = 1; n <= 3; n++) {
    answer(ok)
    assert.equal(drained, 1, `after ${n} of 4 answers`)
  }
  answer(ok)
  assert.equal(drained, 2, 'what was sent later is not waited for')
})

test('a full window is written no further, and opens as answers come', async () => {
  const { queue, bytes, answer, done } = await queueToTest()
  for (const chunk of [0, 1, 2]) queue.offer(turnOf(chunk, 0, { valueBytes: 500 }))
  queue.pump()
  const first = bytes()
  assert.ok(first > 1000 && first < 1200, `${first} bytes of the first turn`)
  assert.ok(queue.isShut())
  answer(ok)
  assert.equal(bytes(), first, 'half of it is still under way')
  answer(ok)
  assert.equal(bytes(), 2 * first)
  assert.deepEqual(done, ['0: 1', '0: 1'])
})

test('a tick waits until the one before of the same chunk has its answers', async () => {
  const { queue, answer, bytes } = await queueToTest()
  queue.offer(turnOf(0, 0))
  queue.offer(turnOf(0, 1))
  queue.pump()
  const first = bytes()
  answer(ok)
  assert.equal(bytes(), first)
  answer(ok)
  assert.equal(bytes(), 2 * first)
})

test('a repeat that is longer than a write goes in several', async () => {
  const { queue, answer, done } = await queueToTest({ windowBytes: 1 << 20 })
  const { tick, jobs } = turnOf(0, 0, { valueBytes: 50_000 })
  queue.sendFirst({ ...entryOf(tick, jobs[0].encoded, values, 0, 2, true), held: true })
  queue.pump()
  answer(ok + ok)
  assert.deepEqual(done, ['0: 1', '0: 1'])
})

test('a window of 3 commands has 3 under way at most, of however many turns they are', async () => {
  const { queue, sent, answer } = await queueToTest({ windowBytes: 1 << 20, windowCommands: 3 })
  queue.offer(turnOf(0))
  queue.offer(turnOf(1, 0, { commands: 4 }))
  queue.pump()
  assert.equal(sent(), 3)
  assert.ok(queue.isShut())
  answer(ok)
  assert.equal(sent(), 4, 'one answer makes room for one command')
  answer(ok + ok + ok)
  assert.equal(sent(), 6)
  assert.equal(queue.isShut(), false, 'two of three are under way')
})

test('a repeat takes its place in the window of commands too', async () => {
  const { queue, sent, answer, done } = await queueToTest({ windowBytes: 1 << 20, windowCommands: 3 })
  const { tick, jobs } = turnOf(0, 0, { commands: 5 })
  queue.sendFirst({ ...entryOf(tick, jobs[0].encoded, values, 0, 5, true), held: true })
  queue.pump()
  assert.equal(sent(), 3)
  answer(ok + ok + ok)
  assert.equal(sent(), 5, 'its rest follows')
  answer(ok + ok)
  assert.deepEqual(done, ['0: 3', '0: 2'])
})

test('a command that another server is asked for goes behind ASKING, whose answer is not its own', async () => {
  const { queue, bytes, answer, done } = await queueToTest()
  const { tick, jobs } = turnOf(0)
  const one = { ...entryOf(tick, jobs[0].encoded, values, 0, 1, true), held: true }
  queue.sendFirst({ ...one })
  queue.pump()
  const plain = bytes()
  answer(ok)
  queue.sendFirst({ ...one, lead: 1 })
  queue.pump()
  assert.equal(bytes() - 2 * plain, askingBytes.length)
  answer(ok)
  assert.deepEqual(done, ['0: 1'])
  answer(ok)
  assert.deepEqual(done, ['0: 1', '0: 1'])
})
