import assert from 'node:assert/strict'
import test from 'node:test'
import { unansweredOf } from '../../lib/transport/connection.js'
import { entryOf } from '../../lib/transport/send-queue.js'
import { jobOf, ok, tickOf, values } from '../helpers/scene-of-queues.js'
import { valuesOf } from '../helpers/table.js'

const toTest = () => {
  const events = /** @type {string[]} */ ([])
  const unanswered = unansweredOf({
    onAnswered: ({ tick, from }, n) => events.push(`${tick.chunk}: ${from} to ${from + n}`),
    onRefused: ({ tick }, command, line) => events.push(`${tick.chunk}: ${command} ${line}`),
  })
  const decode = unanswered.decoder()
  return {
    unanswered,
    events,
    answer: (/** @type {string} */ text) => decode(Buffer.from(text)),
    /** @param {number} chunk @param {number} lead */
    send: (chunk, lead) => {
      const tick = tickOf(chunk)
      const entry = entryOf(tick, jobOf(tick, { commands: 3 }).encoded, values, 0, 3, false)
      unanswered.add({ ...entry, lead }, 100)
    },
    owed: () => [unanswered.commands(), unanswered.bytes()],
  }
}

test('answers settle commands in the order in which they were sent, over the ends of entries', () => {
  const { send, answer, events, owed } = toTest()
  send(0, 0)
  send(1, 0)
  assert.deepEqual(owed(), [6, 200])
  answer(ok + ok)
  assert.deepEqual([...events], ['0: 0 to 2'])
  answer(ok + ok)
  assert.deepEqual(owed(), [2, 100])
  answer(`-LOADING wait\r\n${ok}`)
  assert.deepEqual(events, ['0: 0 to 2', '0: 2 to 3', '1: 0 to 1', '1: 1 LOADING wait', '1: 2 to 3'])
  assert.deepEqual(owed(), [0, 0])
})

test('the answer to ASKING is not the command’s, whether it is accepted or refused', () => {
  const { send, answer, events, owed } = toTest()
  send(0, 1)
  answer(ok)
  assert.deepEqual([events.length, ...owed()], [0, 3, 100])
  answer(ok + ok + ok)
  assert.deepEqual([...events], ['0: 0 to 3'])
  send(1, 1)
  answer('-ERR unknown command\r\n-MOVED 1 127.0.0.1:7001\r\n')
  assert.deepEqual(events.slice(1), ['1: 0 MOVED 1 127.0.0.1:7001'])
  assert.deepEqual(owed(), [2, 100])
})

test('a server that answers more than it was asked is not understood', () => {
  const { send, answer } = toTest()
  send(0, 0)
  assert.throws(() => answer(ok + ok + ok + ok), /more than it was asked/)
})

test('a lost connection gives back what it owes, with the first command that has no answer', () => {
  const { unanswered, send, answer, owed } = toTest()
  send(0, 0)
  send(1, 1)
  answer(ok)
  const all = unanswered.takeAll()
  assert.deepEqual(valuesOf(all, 'from', 'to'), [1, 3, 0, 3])
  assert.deepEqual(owed(), [0, 0])
})

test('replies are handed out with their commands where they are asked for, and ASKING has none', () => {
  const replies = /** @type {unknown[]} */ ([])
  const events = /** @type {string[]} */ ([])
  const unanswered = unansweredOf({
    onAnswered: ({ from }, n) => events.push(`${from} to ${from + n}`),
    onRefused: (_, command, line) => events.push(`${command} ${line}`),
    onReply: (_, reply) => replies.push(reply),
  })
  const tick = tickOf(0)
  const entry = entryOf(tick, jobOf(tick, { commands: 7 }).encoded, values, 0, 7, false)
  unanswered.add({ ...entry, lead: 1 }, 100)
  const decode = unanswered.decoder()
  const long = 'x'.repeat(40)
  const text = `${ok}:-3\r\n$-1\r\n-WRONGTYPE no\r\n$4\r\n12.5\r\n*2\r\n:1\r\n-ERR inside\r\n$40\r\n${long}\r\n+OK\r\n`
  for (const byte of Buffer.from(text)) decode(Buffer.from([byte]))
  assert.deepEqual(replies, [-3, null, '12.5', undefined, '', 'OK'])
  assert.deepEqual(events.length, 7)
  assert.equal(events[2], '2 WRONGTYPE no')
  assert.deepEqual([unanswered.commands(), unanswered.bytes()], [0, 0])
})
