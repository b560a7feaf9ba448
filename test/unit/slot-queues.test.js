import assert from 'node:assert/strict'
import test from 'node:test'
import { slotQueuesOf } from '../../lib/transport/write-retries.js'
import { seeded } from '../helpers/random.js'
import { notes, testScenes } from '../helpers/scenes.js'

/** @import { Entry } from '../../lib/transport/send-queue.js' */

const slot = 7

/** What of an entry counts here. @param {number} tick @param {number} [commands] @returns {Entry} */
const entry = (tick, commands = 1) =>
  /** @type {any} */ ({ tick: ticks[tick], from: 0, to: commands, inSlotQueue: false })
const ticks = Array.from({ length: 40 }, (_, index) => ({ index, dueMs: index * 1000 }))

/** Steps are those of slot 7, or of one behind an @. What is seen: entries that are sent or given back, and the slots with queues. */
const open = () => {
  const { note, taken } = notes()
  const say = (/** @type {string} */ what, /** @type {readonly Entry[]} */ entries) =>
    note([what, ...entries.map(({ tick }) => tick.index)].join(' '))
  const queues = slotQueuesOf({ send: (_, entries) => say('sends', entries) })
  const made = /** @type {Record<string, Entry>} */ ({})
  /** 2x3 are three commands of tick 2. @param {string} name @param {string} at */
  const entryOf = (name, at) => {
    const [tick, commands] = name.split('x').map(Number)
    made[name + at] ??= entry(tick, commands)
    return made[name + at]
  }
  const slotsIn = (/** @type {string[]} */ slots) => slots.map(Number)
  const slotAt = (at = '@7') => Number(at.slice(1))
  return {
    steps: {
      refuse: (/** @type {string} */ name, at = '@7') => queues.refuse(slotAt(at), entryOf(name, at)),
      wait: (/** @type {string} */ name, at = '@7') => queues.wait(slotAt(at), entryOf(name, at)),
      resend: (/** @type {string} */ at) => queues.resend(slotAt(at)),
      settle: (/** @type {string} */ commands) => queues.settle(slot, Number(commands)),
      drain: (/** @type {string[]} */ ...slots) => queues.drain(slotsIn(slots)),
      drained: (/** @type {string[]} */ ...slots) => queues.drained(slotsIn(slots)),
      expire: (/** @type {string} */ dueMs) => say('expired', queues.expired(Number(dueMs))),
      clear: () => say('cleared', queues.clear()),
    },
    seen: () => {
      const left = [7, 8].filter(queues.has)
      assert.equal(queues.any(), left.length > 0)
      return `${taken()} [${left}]`.trim()
    },
  }
}

testScenes(open)(`
a refused command is sent again when asked, once, and what is later waits for its outcome
  refuse 1, wait 2 -> [7]
  resend -> sends 1 [7]
  resend -> [7]
  settle 1 -> sends 2 [7]
  settle 1 -> []

one tick at a time, in order, all steps of a tick together
  refuse 1, wait 2x3, wait 2, wait 3, wait 4, resend, settle 1 -> sends 1, sends 2 2 [7]
  settle 2, settle 1 -> [7]
  settle 1 -> sends 3 [7]

a command refused twice counts once
  refuse 1, resend, refuse 1, resend, settle 1 -> sends 1, sends 1 []

nothing passes while an older command may still be answered elsewhere
  drain 7 8, drain 7, wait 2, drained 7 8 -> [7]
  drained 7 -> sends 2 [7]

an outcome or a drain of a slot that is free does nothing
  settle 1, drained 7, resend -> []

what waited too long is taken out; repeats and later ticks stay
  refuse 1, wait 2, wait 3, wait 4, expire 3000, expire 3000 -> expired 2, expired [7]
  resend, settle 1 -> sends 1, sends 3 [7]
  expire 9000, settle 1 -> expired 4 []

clear gives back all that is not under way
  refuse 1, wait 2, refuse 1 @8, resend @8, wait 3 @8 -> sends 1 [7,8]
  clear -> cleared 1 2 3 []
`)

/**
 * Commands of one slot over many ticks, two servers that answer in order and refuse at random, and the slot moving
 * from one to the other: as the queues of servers use those of slots, with what they promise (a tick begins on a server when the one
 * before has no unheld command unanswered there).
 * @param {number} seed
 */
const play = (seed) => {
  const random = seeded(seed)
  const [fifo, marks] = [/** @type {Entry[]} */ ([]), /** @type {number[]} */ ([])]
  const queues = [0, 1].map(() => ({ fifo: [...fifo], marks: [...marks], written: 0, finished: 0 }))
  let owner = 0 // what the client believes
  let truth = 0
  let executed = -1
  let settled = 0
  let waiting = /** @type {Entry[]} */ ([])
  const send = (/** @type {number} */ at, /** @type {Entry} */ one) => {
    queues[at].fifo.push(one)
    queues[at].written++
  }
  const slotQueues = slotQueuesOf({ send: (_, entries) => entries.forEach((one) => void send(owner, one)) })
  const passMarks = () => {
    for (const queue of queues)
      for (; queue.marks[0] <= queue.finished; queue.marks.shift()) slotQueues.drained([slot])
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
      if (one.inSlotQueue) slotQueues.settle(slot, 1)
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
  const commands = ticks.flatMap((_, at) => Array.from({ length: 1 + random.below(3) }, () => entry(at)))
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

test('of each chunk the oldest tick goes, and two of one chunk are as many as may wait', () => {
  const sent = /** @type {Entry[][]} */ ([])
  const queues = slotQueuesOf({ send: (_, entries) => sent.push(entries) })
  const [held, ...later] = [0, 1, 0, 1, 1].map(
    (chunk, index) => /** @type {any} */ ({ tick: { index, chunk }, from: 0, to: 1, inSlotQueue: false }),
  )
  queues.refuse(slot, held)
  queues.resend(slot)
  const full = later.map((entry) => {
    queues.wait(slot, entry)
    return queues.isFull()
  })
  assert.deepEqual(full, [false, false, true, true])
  queues.settle(slot, 1)
  const indices = () => sent.map((entries) => entries.map(({ tick }) => tick.index))
  assert.deepEqual(indices(), [[0], [1, 2]])
  queues.settle(slot, 1)
  assert.equal(indices().length, 2)
  queues.settle(slot, 1)
  assert.deepEqual(indices().slice(2), [[3]])
  queues.settle(slot, 1)
  queues.settle(slot, 1)
  assert.deepEqual([indices().slice(3), queues.any()], [[[4]], false])
})
