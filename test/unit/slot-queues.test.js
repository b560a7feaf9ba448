import assert from 'node:assert/strict'
import test from 'node:test'
import { slotQueuesOf } from '../../lib/transport/slot-queues.js'
import { seeded } from '../helpers/random.js'

/** @typedef {import('../../lib/transport/connection.js').Entry} Entry */

const slot = 7

/** What of an entry counts here. @param {number} tick @param {number} [commands] @returns {Entry} */
const entry = (tick, commands = 1) =>
  /** @type {any} */ ({ tick: ticks[tick], from: 0, to: commands, held: false })
const ticks = Array.from({ length: 40 }, (_, index) => ({ index, dueMs: index * 1000 }))

const holding = () => {
  /** @type {number[][]} ticks of what was sent, a list a call */
  const sent = []
  const slotQueues = slotQueuesOf({ send: (_, entries) => sent.push(entries.map(({ tick }) => tick.index)) })
  return { slotQueues, sent }
}

test('a refused command is sent again when asked, and what is later waits for its outcome', () => {
  const { slotQueues, sent } = holding()
  assert.equal(slotQueues.any(), false)
  slotQueues.refuse(slot, entry(1))
  assert.ok(slotQueues.any() && slotQueues.has(slot) && !slotQueues.has(8))
  slotQueues.wait(slot, entry(2))
  assert.deepEqual(sent, [])
  slotQueues.resend(slot)
  assert.deepEqual(sent, [[1]])
  slotQueues.resend(slot)
  assert.deepEqual(sent, [[1]], 'once')
  slotQueues.settle(slot, 1)
  assert.deepEqual(sent, [[1], [2]])
  slotQueues.settle(slot, 1)
  assert.equal(slotQueues.any(), false)
})

test('one tick at a time, in order, all steps of a tick together', () => {
  const { slotQueues, sent } = holding()
  slotQueues.refuse(slot, entry(1))
  for (const later of [entry(2, 3), entry(2), entry(3), entry(4)]) slotQueues.wait(slot, later)
  slotQueues.resend(slot)
  slotQueues.settle(slot, 1)
  assert.deepEqual(sent, [[1], [2, 2]])
  slotQueues.settle(slot, 2)
  slotQueues.settle(slot, 1)
  assert.equal(sent.length, 2, 'three of four commands have their outcome')
  slotQueues.settle(slot, 1)
  assert.deepEqual(sent, [[1], [2, 2], [3]])
})

test('a command refused twice counts once', () => {
  const { slotQueues } = holding()
  const one = entry(1)
  slotQueues.refuse(slot, one)
  slotQueues.resend(slot)
  slotQueues.refuse(slot, one)
  slotQueues.resend(slot)
  slotQueues.settle(slot, 1)
  assert.equal(slotQueues.has(slot), false)
})

test('nothing passes while an older command may still be answered elsewhere', () => {
  const { slotQueues, sent } = holding()
  slotQueues.drain([slot, 8])
  slotQueues.drain([slot])
  slotQueues.wait(slot, entry(2))
  slotQueues.drained([slot, 8])
  assert.ok(slotQueues.has(slot) && !slotQueues.has(8))
  assert.deepEqual(sent, [])
  slotQueues.drained([slot])
  assert.deepEqual(sent, [[2]])
})

test('an outcome or a drain of a slot that is free does nothing', () => {
  const { slotQueues } = holding()
  slotQueues.settle(slot, 1)
  slotQueues.drained([slot])
  slotQueues.resend(slot)
  assert.equal(slotQueues.any(), false)
})

test('what waited too long is taken out; repeats and later ticks stay', () => {
  const { slotQueues, sent } = holding()
  slotQueues.refuse(slot, entry(1))
  for (const tick of [2, 3, 4]) slotQueues.wait(slot, entry(tick))
  assert.deepEqual(
    slotQueues.expired(3000).map(({ tick }) => tick.index),
    [2],
  )
  assert.deepEqual(slotQueues.expired(3000), [])
  slotQueues.resend(slot)
  slotQueues.settle(slot, 1)
  assert.deepEqual(sent, [[1], [3]])
  assert.deepEqual(
    slotQueues.expired(9000).map(({ tick }) => tick.index),
    [4],
  )
  slotQueues.settle(slot, 1)
  assert.equal(slotQueues.any(), false)
})

test('clear gives back all that is not under way', () => {
  const { slotQueues } = holding()
  slotQueues.refuse(slot, entry(1))
  slotQueues.wait(slot, entry(2))
  slotQueues.refuse(8, entry(1))
  slotQueues.resend(8)
  slotQueues.wait(8, entry(3))
  assert.deepEqual(
    slotQueues
      .clear()
      .map(({ tick }) => tick.index)
      .sort(),
    [1, 2, 3],
  )
  assert.equal(slotQueues.any(), false)
})

/**
 * Commands of one slot over many ticks, two servers that answer in order and refuse at random, and the slot moving
 * from one to the other: as the queues of servers use those of slots, with what they promise (a tick begins on a server when the one
 * before has no unheld command unanswered there).
 * @param {number} seed
 */
const play = (seed) => {
  const random = seeded(seed)
  const queues = [0, 1].map(() => ({
    fifo: /** @type {Entry[]} */ ([]),
    written: 0,
    finished: 0,
    marks: /** @type {number[]} */ ([]),
  }))
  let owner = 0 // what the client believes
  let truth = 0
  let executed = -1
  let settled = 0
  let waiting = /** @type {Entry[]} */ ([])
  const send = (/** @type {number} */ at, /** @type {Entry} */ one) => {
    queues[at].fifo.push(one)
    queues[at].written++
  }
  const slotQueues = slotQueuesOf({
    send: (_, entries) => {
      for (const one of entries) send(owner, one)
    },
  })
  const passMarks = () => {
    for (const queue of queues) {
      while (queue.marks.length > 0 && queue.marks[0] <= queue.finished) {
        queue.marks.shift()
        slotQueues.drained([slot])
      }
    }
  }
  const begin = () => {
    const [first] = waiting
    if (!first) return
    const unanswered = queues[owner].fifo.some((one) => one.tick !== first.tick)
    if (!slotQueues.has(slot) && unanswered) return
    waiting.shift()
    if (slotQueues.has(slot)) slotQueues.wait(slot, first)
    else send(owner, first)
  }
  const answerOne = (/** @type {number} */ at) => {
    const queue = queues[at]
    const one = queue.fifo.shift()
    if (!one) return
    queue.finished++
    const later = random.chance(0.15)
    if (at === truth && !later) {
      assert.ok(one.tick.index >= executed, `seed ${seed}: tick ${one.tick.index} after tick ${executed}`)
      executed = one.tick.index
      settled++
      if (one.held) slotQueues.settle(slot, 1)
      return
    }
    if (at !== truth && owner === at) {
      owner = 1 - at
      if (queue.fifo.length > 0) {
        slotQueues.drain([slot])
        queue.marks.push(queue.written)
      }
    }
    slotQueues.refuse(slot, one)
  }
  const commands = ticks.flatMap((_, index) =>
    Array.from({ length: 1 + random.below(3) }, () => entry(index)),
  )
  waiting = [...commands]
  for (let step = 0; settled < commands.length; step++) {
    assert.ok(step < 100_000, `seed ${seed}: it ends`)
    if (random.chance(0.5)) begin()
    if (random.chance(0.02)) truth = 1 - truth
    if (random.chance(0.6)) {
      // A read: some answers, then everything that it settled.
      for (let n = random.below(5); n > 0; n--) answerOne(random.below(2))
      if (random.chance(0.8)) slotQueues.resend(slot)
      passMarks()
    }
  }
  passMarks()
  assert.equal(slotQueues.any(), false, `seed ${seed}: nothing is left`)
}

test('whatever is refused and wherever the slot goes, no tick is executed after a later one', () => {
  for (let seed = 1; seed <= 400; seed++) play(seed)
})
