import assert from 'node:assert/strict'
import test from 'node:test'
import { unansweredOf } from '../../lib/transport/connection.js'
import { entryOf } from '../../lib/transport/send-queue.js'
import { jobOf, ok, tickOf, values } from '../helpers/scene-of-queues.js'
import { notes, testScenes } from '../helpers/scenes.js'

const entryFor = (
  /** @type {number} */ chunk,
  /** @type {number} */ commands,
  /** @type {number} */ lead,
) => {
  const tick = tickOf(chunk)
  return { ...entryOf(tick, jobOf(tick, { commands }).encoded, values, 0, commands, false), lead }
}

const open = () => {
  const { note, taken } = notes()
  const unanswered = unansweredOf({
    onAnswered: ({ tick, from }, n) => note(`chunk ${tick.chunk}: ${from} to ${from + n}`),
    onRefused: ({ tick }, command, line) => note(`chunk ${tick.chunk}: ${command} ${line}`),
  })
  const decode = unanswered.decoder()
  const steps = {
    send: (/** @type {string} */ chunk, /** @type {string} */ asking) =>
      unanswered.add(entryFor(Number(chunk), 3, asking ? 1 : 0), 100),
    ok: (/** @type {string} */ count) => decode(Buffer.from(ok.repeat(Number(count)))),
    refuse: (/** @type {string[]} */ ...words) => decode(Buffer.from(`-${words.join(' ')}\r\n`)),
    lose: () => {
      for (const { from, to } of unanswered.takeAll()) note(`${from} to ${to} lost`)
    },
    excess: (/** @type {string} */ count) => assert.throws(() => steps.ok(count), /more than it was asked/),
  }
  return { steps, seen: () => `${taken()} [owes ${unanswered.commands()}, ${unanswered.bytes()} B]`.trim() }
}

testScenes(
  `
answers settle commands in the order in which they were sent, over the ends of entries
  send 0, send 1 -> [owes 6, 200 B]
  ok 2 -> chunk 0: 0 to 2 [owes 4, 200 B]
  ok 2 -> chunk 0: 2 to 3, chunk 1: 0 to 1 [owes 2, 100 B]
  refuse LOADING wait, ok 1 -> chunk 1: 1 LOADING wait, chunk 1: 2 to 3 [owes 0, 0 B]

the answer to ASKING is not the command’s, whether it is accepted or refused
  send 0 asking, ok 1 -> [owes 3, 100 B]
  ok 3 -> chunk 0: 0 to 3 [owes 0, 0 B]
  send 1 asking, refuse ERR unknown command -> [owes 3, 100 B]
  refuse MOVED 1 127.0.0.1:7001 -> chunk 1: 0 MOVED 1 127.0.0.1:7001 [owes 2, 100 B]

a server that answers more than it was asked is not understood
  send 0, excess 4 -> chunk 0: 0 to 3 [owes 0, 0 B]

a lost connection gives back what it owes, with the first command that has no answer
  send 0, send 1 asking, ok 1 -> chunk 0: 0 to 1 [owes 5, 200 B]
  lose -> 1 to 3 lost, 0 to 3 lost [owes 0, 0 B]
`,
  open,
)

test('replies are handed out with their commands where they are asked for, and ASKING has none', () => {
  const replies = /** @type {unknown[]} */ ([])
  const events = /** @type {string[]} */ ([])
  const unanswered = unansweredOf({
    onAnswered: ({ from }, n) => events.push(`${from} to ${from + n}`),
    onRefused: (_, command, line) => events.push(`${command} ${line}`),
    onReply: (_, reply) => replies.push(reply),
  })
  unanswered.add(entryFor(0, 7, 1), 100)
  const decode = unanswered.decoder()
  const long = 'x'.repeat(40)
  const text = `${ok}:-3\r\n$-1\r\n-WRONGTYPE no\r\n$4\r\n12.5\r\n*2\r\n:1\r\n-ERR inside\r\n$40\r\n${long}\r\n+OK\r\n`
  for (const byte of Buffer.from(text)) decode(Buffer.from([byte]))
  assert.deepEqual(replies, [-3, null, '12.5', undefined, '', 'OK'])
  assert.deepEqual(events.length, 7)
  assert.equal(events[2], '2 WRONGTYPE no')
  assert.deepEqual([unanswered.commands(), unanswered.bytes()], [0, 0])
})
