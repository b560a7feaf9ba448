// What a driver drops when a server is slower than the rate: nothing that it has begun.
import assert from 'node:assert/strict'
import test from 'node:test'
import { underWayOf } from '../../lib/transport/server-queues.js'
import { sceneOfDriver } from '../helpers/scene-of-driver.js'

/** @import { Tick } from '../../lib/transport/send-queue.js' */

/** A driver whose servers take a few commands, and answer nothing. @param {{ masters: number, items: number }} size */
const openDriver = (size) => sceneOfDriver({ ...size, settings: { pipeline: 3 } })

test('a batch that was begun is finished, however many of its later ones are due', async () => {
  const { driver, ledger, offer } = await openDriver({ masters: 2, items: 40 })
  offer(0, 1)
  assert.equal(driver.hasRoom(), true, 'the rest of one batch waits at each server')
  offer(0, 2)
  assert.equal(driver.hasRoom(), false, 'two wait')
  for (const dueMs of [1000, 2000, 4000]) offer(1, dueMs)
  driver.watch()
  assert.equal(ledger.whole.dropped, 0)
  driver.abandon()
  const { offered, unsettled } = ledger.whole
  assert.equal(unsettled, offered)
  assert.ok(ledger.isBalanced())
})

test('the rest of a batch that was begun is not dropped, however long it has waited', async () => {
  const { driver, ledger, offer } = await openDriver({ masters: 2, items: 40 })
  offer(0, 1)
  offer(1, 60_000)
  driver.watch()
  driver.abandon()
  assert.deepEqual([ledger.whole.dropped, ledger.whole.unsettled], [0, 80])
})

test('a batch that was begun at one server is not dropped at another, and one that was not is dropped as a whole', async () => {
  const { driver, ledger, offer, server, addresses } = await openDriver({ masters: 2, items: 40 })
  const [first] = addresses
  offer(0, 1)
  offer(1, 2)
  // The first server answers the oldest batch, and gets the next; the other has not answered.
  const sent = server(first).sent.length
  while (server(first).sent.length === sent) server(first).answer(':1\r\n')
  offer(0, 9000)
  driver.watch()
  const { dropped } = ledger.whole
  assert.ok(dropped % 40 === 0, `${dropped} of batches of 40 items`)
  driver.abandon()
  assert.ok(ledger.isBalanced())
})

test('a pause of this process is noticed by the answers that waited for it, and ticks may wait longer after it', async () => {
  const limitAfter = async (/** @type {number} */ pausedMs) => {
    const { driver, offer, server, addresses } = await openDriver({ masters: 1, items: 40 })
    offer(0, 1)
    offer(1, 1 + pausedMs)
    server(addresses[0]).answer('+OK\r\n')
    const limitMs = driver.waitLimitMs()
    driver.abandon()
    return limitMs
  }
  assert.deepEqual([await limitAfter(200), await limitAfter(2000)], [1000, 5000])
})

test('of the ticks of a chunk only the oldest may go, in whatever order they come', () => {
  let free = 0
  const underWay = underWayOf(2, () => void free++)
  const ticks = [3, 5, 4].map((index) => /** @type {Tick} */ ({ index, chunk: index === 4 ? 1 : 0 }))
  const [first, second, other] = ticks
  for (const tick of [second, other, first, first]) underWay.begin(tick)
  const waiting = ticks.map((tick) => underWay.mustWait(tick))
  assert.deepEqual(waiting, [false, true, false])
  underWay.end(first)
  assert.deepEqual([underWay.mustWait(second), free], [true, 0])
  underWay.end(first)
  assert.deepEqual([underWay.mustWait(second), free], [false, 1])
})
