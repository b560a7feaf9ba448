import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durableOf } from '../../lib/transport/durable.js'
import { sendQueueOf } from '../../lib/transport/send-queue.js'
import { underWayOf } from '../../lib/transport/server-queues.js'
import { ok, repeatNamed, sceneOfQueues, turnNamed } from '../helpers/scene-of-queues.js'
import { notes, testScenes } from '../helpers/scenes.js'

/** @import { Sharing } from '../../lib/transport/send-queue.js' */

/** A queue to a server that answers what the test says. @param {Partial<Sharing>} [changes] */
const queueWith = (changes) => async () => {
  const { note, taken } = notes()
  const { connections, done, sent, options } = sceneOfQueues()
  const sharing = { ...options.sharing, ...changes }
  const queue = sendQueueOf({ ...options, sharing, underWay: underWayOf(8, () => {}) })
  await queue.connect()
  const [connection] = connections
  const before = { sent: 0, bytes: 0 }
  const steps = {
    offer: (/** @type {string[]} */ ...turns) => {
      for (const name of turns) queue.offer(turnNamed(name))
      queue.pump()
    },
    repeat: (/** @type {string} */ turn, /** @type {string} */ asking) => {
      queue.sendFirst(repeatNamed(turn, asking ? 1 : 0))
      queue.pump()
    },
    drain: () => queue.whenDrained(() => note('drained')),
    answer: (/** @type {string} */ count) => connection.answer(ok.repeat(Number(count))),
    has: (/** @type {string} */ replicas) => connection.answer(`:${replicas}\r\n`),
    refuse: () => connection.answer('-NOREPLICAS Not enough\r\n'),
    bytes: () => {
      note(`${connection.bytes - before.bytes} bytes`)
      before.bytes = connection.bytes
    },
  }
  const seen = () => {
    const commands = sent() - before.sent
    before.sent += commands
    if (commands > 0) note(`sends ${commands}`)
    for (const what of done.splice(0)) note(`done ${what.replace(': ', 'x')}`)
    return taken() || 'nothing'
  }
  return { steps, seen }
}

// Turns are named by chunk, index, commands and bytes of a value, as in 0.1x4/500.
testScenes(queueWith())(`
a queue is drained when the last of what was sent before has its answer, and not one answer earlier
  drain -> drained
  offer 0 1, drain, offer 2 -> sends 6
  answer 3 -> done 0x2, done 1x1
  answer 1 -> drained, done 1x1

at the limit nothing more is written, and more goes as answers come
  offer 0/500 1/500 2/500 -> sends 2
  answer 1 -> done 0x1
  answer 1 -> sends 2, done 0x1

what is answered of a write makes room, and more goes when half of the limit is free
  offer 0x4/250 1 -> sends 4
  answer 2 -> done 0x2
  answer 1 -> sends 2, done 0x1
  answer 3 -> done 0x1, done 1x2

a repeat does not wait until half of the limit is free
  offer 0/350, repeat 1 -> sends 4

a tick waits until the one before of the same chunk has its answers
  offer 0.0 0.1 -> sends 2
  answer 1 -> done 0x1
  answer 1 -> sends 2, done 0x1

a command that another server is asked for goes behind the 16 bytes of ASKING, whose answer is not its own
  repeat 0x1, bytes, answer 1 -> 32 bytes, sends 1, done 0x1
  repeat 0x1 asking, bytes -> 48 bytes, sends 1
  answer 1 -> nothing
  answer 1 -> done 0x1
`)

testScenes(queueWith({ most: { bytes: 1 << 20, commands: 3 } }))(`
a repeat that is longer than a write goes in several
  repeat 0x2/50000 -> sends 2
  answer 2 -> done 0x1, done 0x1

with a limit of 3 commands 3 are under way at most, of however many ticks they are
  offer 0 1x4 -> sends 3
  answer 1 -> sends 1, done 0x1
  answer 3 -> sends 2, done 0x1, done 1x1, done 1x1

a repeat counts in the limit of commands too
  repeat 0x5 -> sends 3
  answer 3 -> sends 2, done 0x3
  answer 2 -> done 0x2
`)

testScenes(queueWith({ durable: durableOf({ wait: '1', maxBehindMs: 100 }) ?? assert.fail() }))(`
a write counts when the reply behind it names enough replicas
  offer 0 1 -> sends 4
  answer 2 -> nothing
  has 1 -> done 0x2
  answer 1, answer 1 -> nothing
  has 2 -> done 1x2

a write that too few replicas have is not kept, and the next tick of its chunk goes
  offer 0.0 0.1 -> sends 2
  answer 2, has 0 -> sends 2, done 0x2 not kept
  answer 2, has 1 -> done 0x2

the command that waits is refused: what it waited for is not known to be kept
  offer 0 -> sends 2
  answer 2, refuse -> done 0x2 not kept
`)

for (const [wait, command, kept, unkept] of /** @type {const} */ ([
  ['1', 'WAIT 1 100', 1, 0],
  ['3', 'WAIT 3 100', 4, 2],
  ['aof', 'WAITAOF 1 0 100', [1, 0], [0, 1]],
  ['aof:1', 'WAITAOF 1 1 100', [1, 1], [1, 0]],
]))
  test(`--wait ${wait} sends ${command}`, () => {
    const { bytes, isKept } = durableOf({ wait, maxBehindMs: 99.5 }) ?? assert.fail()
    const words = String(bytes).match(/^[^*$\r\n][^\r\n]*/gm)
    assert.equal(words?.join(' '), command)
    const replies = /** @type {any[]} */ ([kept, unkept])
    assert.deepEqual(replies.map(isKept), [true, false])
  })
