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
  const holds = slotQueuesOf({ send: (_, entries) => sent.push(entries.map(({ tick }) => tick.index)) })
  return { holds, sent }
}

test('a refused command is sent again when asked, and what is later waits for its outcome', () => {
  const { holds, sent } = holding()
  assert.equal(holds.any(), false)
  holds.refuse(slot, entry(1))
  assert.ok(holds.any() && holds.has(slot) && !holds.has(8))
  holds.wait(slot, entry(2))
  assert.deepEqual(sent, [])
  holds.resend(slot)
  assert.deepEqual(sent, [[1]])
  holds.resend(slot)
  assert.deepEqual(sent, [[1]], 'once')
  holds.settle(slot, 1)
  assert.deepEqual(sent, [[1], [2]])
  holds.settle(slot, 1)
  assert.equal(holds.any(), false)
})

test('one tick at a time, in order, all steps of a tick together', () => {
  const { holds, sent } = holding()
  holds.refuse(slot, entry(1))
  for (const later of [entry(2, 3), entry(2), entry(3), entry(4)]) holds.wait(slot, later)
  holds.resend(slot)
  holds.settle(slot, 1)
  assert.deepEqual(sent, [[1], [2, 2]])
  holds.settle(slot, 2)
  holds.settle(slot, 1)
  assert.equal(sent.length, 2, 'three of four commands have their outcome')
  holds.settle(slot, 1)
  assert.deepEqual(sent, [[1], [2, 2], [3]])
})

test('a command refused twice counts once', () => {
  const { holds } = holding()
  const one = entry(1)
  holds.refuse(slot, one)
  holds.resend(slot)
  holds.refuse(slot, one)
  holds.resend(slot)
  holds.settle(slot, 1)
  assert.equal(holds.has(slot), false)
})

test('nothing passes while an older command may still be answered elsewhere', () => {
  const { holds, sent } = holding()
  holds.drain([slot, 8])
  holds.drain([slot])
  holds.wait(slot, entry(2))
  holds.drained([slot, 8])
  assert.ok(holds.has(slot) && !holds.has(8))
  assert.deepEqual(sent, [])
  holds.drained([slot])
  assert.deepEqual(sent, [[2]])
})

test('an outcome or a drain of a slot that is free does nothing', () => {
  const { holds } = holding()
  holds.settle(slot, 1)
  holds.drained([slot])
  holds.resend(slot)
  assert.equal(holds.any(), false)
})

test('what waited too long is taken out; repeats and later ticks stay', () => {
  const { holds, sent } = holding()
  holds.refuse(slot, entry(1))
  for (const tick of [2, 3, 4]) holds.wait(slot, entry(tick))
  assert.deepEqual(
    holds.expired(3000).map(({ tick }) => tick.index),
    [2],
  )
  assert.deepEqual(holds.expired(3000), [])
  holds.resend(slot)
  holds.settle(slot, 1)
  assert.deepEqual(sent, [[1], [3]])
  assert.deepEqual(
    holds.expired(9000).map(({ tick }) => tick.index),
    [4],
  )
  holds.settle(slot, 1)
  assert.equal(holds.any(), false)
})

test('clear gives back all that is not under way', () => {
  const { holds } = holding()
  holds.refuse(slot, entry(1))
  holds.wait(slot, entry(2))
  holds.refuse(8, entry(1))
  holds.resend(8)
  holds.wait(8, entry(3))
  assert.deepEqual(
    holds
      .clear()
      .map(({ tick }) => tick.index)
      .sort(),
    [1, 2, 3],
  )
  assert.equal(holds.any(), false)
})

/**
 * Commands of one slot over many ticks, two servers that answer in order and refuse at random, and the slot moving
 * from one to the other: as the lanes use holds, with what the lanes promise (a tick begins on a server when the one
 * before has no unheld command unanswered there).
 * @param {number} seed
 */
const play = (seed) => {
  const random = seeded(seed)
  const lanes = [0, 1].map(() => ({
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
    lanes[at].fifo.push(one)
    lanes[at].written++
  }
  const holds = slotQueuesOf({
    send: (_, entries) => {
      for (const one of entries) send(owner, one)
    },
  })
  const passMarks = () => {
    for (const lane of lanes) {
      while (lane.marks.length > 0 && lane.marks[0] <= lane.finished) {
        lane.marks.shift()
        holds.drained([slot])
      }
    }
  }
  const begin = () => {
    const [first] = waiting
    if (!first) return
    const unanswered = lanes[owner].fifo.some((one) => one.tick !== first.tick)
    if (!holds.has(slot) && unanswered) return
    waiting.shift()
    if (holds.has(slot)) holds.wait(slot, first)
    else send(owner, first)
  }
  const answerOne = (/** @type {number} */ at) => {
    const lane = lanes[at]
    const one = lane.fifo.shift()
    if (!one) return
    lane.finished++
    const later = random.chance(0.15)
    if (at === truth && !later) {
      assert.ok(one.tick.index >= executed, `seed ${seed}: tick ${one.tick.index} after tick ${executed}`)
      executed = one.tick.index
      settled++
      if (one.held) holds.settle(slot, 1)
      return
    }
    if (at !== truth && owner === at) {
      owner = 1 - at
      if (lane.fifo.length > 0) {
        holds.drain([slot])
        lane.marks.push(lane.written)
      }
    }
    holds.refuse(slot, one)
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
      if (random.chance(0.8)) holds.resend(slot)
      passMarks()
    }
  }
  passMarks()
  assert.equal(holds.any(), false, `seed ${seed}: nothing is left`)
}

test('whatever is refused and wherever the slot goes, no tick is executed after a later one', () => {
  for (let seed = 1; seed <= 400; seed++) play(seed)
})
