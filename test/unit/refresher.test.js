import assert from 'node:assert/strict'
import test from 'node:test'
import { refresherOf } from '../../lib/transport/refresher.js'
import { closed, topologyEventsOf } from '../../lib/transport/topology-events.js'

test('a thousand errors ask once, and those that come soon after it once more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let nowMs = 1000
  let asked = 0
  /** @type {number[]} */
  const learned = []
  /** @type {(n: number) => void} */
  let answer = () => {}
  const refresher = refresherOf({
    ask: () => {
      asked++
      return new Promise((resolve) => {
        answer = resolve
      })
    },
    learn: (n) => learned.push(n),
    clock: () => nowMs,
    timers: /** @type {any} */ (globalThis),
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  for (let i = 0; i < 1000; i++) refresher.request()
  assert.equal(asked, 1)
  answer(1)
  await settle()
  for (let i = 0; i < 1000; i++) refresher.request()
  assert.equal(asked, 1)
  nowMs += 500
  t.mock.timers.tick(500)
  assert.equal(asked, 2)
  refresher.close()
  answer(2)
  await settle()
  assert.deepEqual(learned, [1], 'what comes after the end is not learned')
  refresher.request()
  assert.equal(asked, 2)
})

test('a question that fails leaves the way free for the next', async () => {
  let asked = 0
  let nowMs = 0
  const refresher = refresherOf({
    ask: async () => {
      asked++
      throw new Error('away')
    },
    learn: () => assert.fail('nothing was learned'),
    clock: () => nowMs,
    timers: /** @type {any} */ (globalThis),
  })
  refresher.request()
  await new Promise((resolve) => setImmediate(resolve))
  nowMs = 10_000
  refresher.request()
  assert.equal(asked, 2)
})

test('events: a few a second, whatever happens', () => {
  let nowMs = 0
  /** @type {string[]} */
  const told = []
  const topologyEvents = topologyEventsOf({
    onEvent: (kind, text) => told.push(`${kind}: ${text}`),
    clock: () => nowMs,
  })
  const masters = ['a:1', 'b:1']
  topologyEvents.topology({ masters, epoch: 3 })
  for (let i = 0; i < 5000; i++) topologyEvents.refused(i % 10 === 0 ? 'ASK' : 'MOVED')
  for (let i = 0; i < 1200; i++) topologyEvents.moved('a:1', 'b:1', 1)
  topologyEvents.left(new Map([['a:1', [1, 2]]]), () => 'b:1')
  topologyEvents.topology({ masters: ['b:1', 'c:1'], epoch: 9 })
  assert.deepEqual(told.splice(0), [
    'new-master: c:1 is a master now',
    'master-gone: a:1 serves no slots any more',
  ])
  topologyEvents.tell()
  assert.deepEqual(told.splice(0), [
    'slots-moved: 1,202 slots from a:1 to b:1',
    'refused: and retried: ASK 500, MOVED 4,500',
    "epoch: the topology's epoch is 9",
  ])
  topologyEvents.tell()
  assert.deepEqual(told, [], 'once')

  for (let i = 0; i < 100; i++) {
    nowMs += 5
    topologyEvents.down('a:1', 'reset')
    nowMs += 3
    topologyEvents.up('a:1')
  }
  assert.deepEqual(told.splice(0), ['disconnected: a:1: reset', 'reconnected: a:1 after 3 ms; reset'])
  nowMs += 1000
  topologyEvents.down('a:1', 'reset')
  topologyEvents.tell()
  assert.deepEqual(told, ['disconnected: a:1: reset'])
})

test('events: why a connection cannot be made again is told, and is the cause of its return', () => {
  let nowMs = 0
  /** @type {string[]} */
  const told = []
  const topologyEvents = topologyEventsOf({
    onEvent: (kind, text) => told.push(`${kind}: ${text}`),
    clock: () => nowMs,
  })
  topologyEvents.down('a:1', closed)
  for (let i = 0; i < 100; i++) {
    nowMs += 30
    topologyEvents.down(
      'a:1',
      'a:1: the server takes no more connections (ERR max number of clients reached)',
    )
    topologyEvents.down('a:1', closed)
  }
  topologyEvents.up('a:1')
  nowMs += 1000
  topologyEvents.down('a:1', closed)
  nowMs += 1000
  topologyEvents.up('a:1')
  assert.deepEqual(told, [
    'disconnected: a:1: closed the connection',
    'disconnected: a:1: the server takes no more connections (ERR max number of clients reached)',
    'reconnected: a:1 after 3000 ms; the server takes no more connections (ERR max number of clients reached)',
    'disconnected: a:1: closed the connection',
    'reconnected: a:1 after 1000 ms',
  ])
})
