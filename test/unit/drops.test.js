// What a driver drops when a server is slower than the rate.
import assert from 'node:assert/strict'
import test from 'node:test'
import { underWayOf } from '../../lib/transport/pool.js'
import { sceneOfDriver } from '../helpers/scene-of-driver.js'

/** @typedef {import('../../lib/transport/connection.js').Tick} Tick */

/** A driver whose servers take a few commands, and answer nothing. @param {{ masters: number, items: number }} size */
const openDriver = (size) => sceneOfDriver({ ...size, settings: { pipeline: 3 } })

test('a batch that waits for the window of another is not dropped when its next is due', async () => {
  const { driver, ledger, offer } = await openDriver({ masters: 1, items: 20 })
  offer(0, 1)
  offer(1, 2)
  offer(1, 3)
  assert.equal(ledger.whole.dropped, 0)
  offer(0, 4)
  driver.abandon()
  const { dropped, unsettled } = ledger.whole
  assert.ok(dropped > 0 && dropped <= 20, `${dropped}`)
  assert.equal(dropped + unsettled, 80)
})

test('the unsent rest of a batch is dropped as a whole, in however many ranges of slots it lies', async () => {
  const { driver, ledger, offer } = await openDriver({ masters: 2, items: 40 })
  offer(0, 1)
  offer(0, 2)
  driver.abandon()
  const { offered, dropped, unsettled } = ledger.whole
  assert.ok(dropped > 10, `${dropped}`)
  assert.equal(offered, 80)
  assert.equal(dropped + unsettled, offered)
  assert.ok(ledger.isBalanced())
})

test('of the ticks of a chunk only the oldest may go, in whatever order they come', () => {
  let free = 0
  const underWay = underWayOf(2, () => {
    free++
  })
  const [second, first, other] = /** @type {Tick[]} */ ([
    { index: 5, chunk: 0 },
    { index: 3, chunk: 0 },
    { index: 4, chunk: 1 },
  ])
  underWay.begin(second)
  underWay.begin(other)
  underWay.begin(first)
  underWay.begin(first)
  assert.deepEqual(
    [first, second, other].map((tick) => underWay.mustWait(tick)),
    [false, true, false],
  )
  underWay.end(first)
  assert.equal(underWay.mustWait(second), true)
  assert.equal(free, 0)
  underWay.end(first)
  assert.equal(underWay.mustWait(second), false)
  assert.equal(free, 1)
})
