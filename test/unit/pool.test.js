import assert from 'node:assert/strict'
import test from 'node:test'
import { poolOf } from '../../lib/transport/pool.js'
import { entryOf } from '../../lib/transport/send-queue.js'
import { jobOf, ok, sceneOfQueues, tickOf, turnOf, values } from '../helpers/scene-of-queues.js'

/** Two connections to one server. @param {Partial<ReturnType<typeof sceneOfQueues>['options']>} [changes] */
const poolToTest = async (changes = {}) => {
  const { connections, done, options } = sceneOfQueues()
  const pool = poolOf({ ...options, ...changes, connections: 2, chunks: 8 })
  await pool.connect()
  return {
    pool,
    connections,
    done,
    bytes: () => connections.map(({ bytes }) => bytes),
    /** A tick that goes by both connections. @param {number} chunk @param {number} index @param {number} [commands] by the first */
    both: (chunk, index, commands = 2) => {
      const tick = tickOf(chunk, index)
      const jobs = [jobOf(tick, { commands }), jobOf(tick, { connection: 1 })]
      return { tick, jobs }
    },
  }
}

test('each portion goes by its connection', async () => {
  const { pool, connections, bytes } = await poolToTest()
  pool.offer(turnOf(0, 0, { connection: 1 }))
  pool.pump()
  const [none, some] = bytes()
  assert.equal(none, 0)
  assert.ok(some > 0)
  const { tick, jobs } = turnOf(1)
  pool.sendFirst({ ...entryOf(tick, jobs[0].encoded, values, 0, 2, true), held: true })
  pool.pump()
  assert.deepEqual(bytes(), [some, some], 'a repeat goes by the connection of its portion')
  assert.equal(connections.length, 2)
})

test('the next tick of a chunk waits on both connections until both have answered the one before', async () => {
  const { pool, connections, bytes, both } = await poolToTest()
  const [first, second] = connections
  pool.offer(both(0, 0))
  pool.offer(both(0, 1))
  pool.pump()
  const sent = bytes()
  assert.ok(sent[0] > 0 && sent[0] === sent[1])
  first.answer(ok + ok)
  assert.deepEqual(bytes(), sent, 'the other connection has not answered')
  second.answer(ok)
  assert.deepEqual(bytes(), sent, 'it still owes one')
  second.answer(ok)
  assert.deepEqual(
    bytes(),
    sent.map((n) => 2 * n),
    'the answer on one connection lets the other go on too',
  )
})

test('other chunks do not wait for it, and one connection whose window is full does not stop the other', async () => {
  const { pool, bytes, both } = await poolToTest({ windowCommands: 2 })
  pool.offer(both(0, 0, 3))
  pool.pump()
  const [, sent] = bytes()
  pool.offer(turnOf(1, 0, { connection: 1 }))
  pool.pump()
  assert.equal(bytes()[1], sent, 'two commands fill its window')

  const wide = await poolToTest()
  wide.pool.offer(wide.both(0, 0))
  wide.pool.pump()
  const before = wide.bytes()
  wide.pool.offer(wide.both(1, 0))
  wide.pool.pump()
  assert.deepEqual(
    wide.bytes(),
    before.map((n) => 2 * n),
  )
})

test('what one connection was holding up for all is sent by all when it is let go', async () => {
  let isHeld = true
  const slotQueues = { any: () => isHeld, has: () => false, wait: () => assert.fail('was not expected') }
  const { pool, connections, bytes } = await poolToTest({ oneSlot: true, slotQueues })
  const { tick, jobs } = turnOf(0)
  pool.sendFirst({ ...entryOf(tick, jobs[0].encoded, values, 0, 2, true), held: true })
  pool.offer(turnOf(1, 0, { connection: 1 }))
  pool.pump()
  assert.equal(bytes()[1], 0, 'on one server a repeat holds up every turn')
  connections[0].answer(ok)
  isHeld = false
  connections[0].answer(ok)
  assert.ok(bytes()[1] > 0)
})

test('it is drained when the last of its connections is', async () => {
  const { pool, connections, both } = await poolToTest()
  let drained = 0
  pool.offer(both(0, 0))
  pool.pump()
  pool.whenDrained(() => drained++)
  connections[0].answer(ok + ok)
  assert.equal(drained, 0)
  connections[1].answer(ok + ok)
  assert.equal(drained, 1)
})

test('it is up while all of its connections are, and unused when none is and nothing waits', async () => {
  const { pool, connections } = await poolToTest()
  assert.deepEqual([pool.isUp(), pool.isUnused()], [true, false])
  connections[0].end()
  assert.deepEqual([pool.isUp(), pool.isUnused()], [false, false])
  connections[1].end()
  assert.deepEqual([pool.isUp(), pool.isUnused()], [false, true])
  pool.offer(turnOf(0))
  assert.deepEqual([pool.isUnused(), pool.shares()], [false, 1])
  assert.deepEqual(
    pool.takeAll().shares.map(({ tick }) => tick.chunk),
    [0],
  )
  assert.equal(pool.isUnused(), true)
  pool.close()
})
