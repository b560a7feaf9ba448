import assert from 'node:assert/strict'
import { poolOf } from '../../lib/transport/server-queues.js'
import { jobOf, ok, repeatNamed, sceneOfQueues, tickOf, turnNamed } from '../helpers/scene-of-queues.js'
import { notes, testScenes } from '../helpers/scenes.js'

/** Two connections, 0 and 1, to one server. @param {Partial<ReturnType<typeof sceneOfQueues>['options']['sharing']>} [changes] */
const poolWith = (changes) => async () => {
  const { note, taken } = notes()
  const { connections, options } = sceneOfQueues()
  const held = { isHeld: false }
  const slotQueues = { any: () => held.isHeld, has: () => false, wait: () => assert.fail('was not expected') }
  const sharing = { ...options.sharing, slotQueues, ...changes }
  const pool = poolOf({ ...options, sharing, connections: 2, chunks: 8 })
  await pool.connect()
  const before = [0, 0]
  const turnBy = (/** @type {string} */ name) => {
    const [turn, connection] = name.split('@')
    if (connection !== 'both') return turnNamed(turn, Number(connection ?? 0))
    const [chunk, index, commands = 2] = turn.split(/[.x]/).map(Number)
    const tick = tickOf(chunk, index)
    return { tick, jobs: [jobOf(tick, { commands }), jobOf(tick, { connection: 1 })] }
  }
  const steps = {
    offer: (/** @type {string[]} */ ...turns) => {
      for (const name of turns) pool.offer(turnBy(name))
      pool.pump()
    },
    wait: (/** @type {string} */ name) => pool.offer(turnBy(name)),
    repeat: (/** @type {string} */ turn) => {
      pool.sendFirst(repeatNamed(turn))
      pool.pump()
    },
    drain: () => pool.whenDrained(() => note('drained')),
    answer: (/** @type {number} */ connection, /** @type {string} */ count) =>
      connections[connection].answer(ok.repeat(Number(count))),
    hold: () => Object.assign(held, { isHeld: true }),
    release: () => Object.assign(held, { isHeld: false }),
    end: (/** @type {number} */ connection) => connections[connection].end(),
    take: () => note(`takes ${pool.takeAll().waiting.map(({ tick }) => tick.chunk)}`),
    state: () => note([pool.isUp() ? 'up' : 'down', pool.isUnused() ? 'unused' : 'used'].join(' ')),
  }
  const seen = () => {
    const sent = connections.map(({ commands }, i) => commands - before[i])
    for (const [i, { commands }] of connections.entries()) before[i] = commands
    return [taken(), `sends ${sent.join(' and ')}`].filter(Boolean).join('; ')
  }
  return { steps, seen }
}

// 0.1x3@1 is chunk 0, index 1, three commands by connection 1; @both has the same by 0, and two by 1.
testScenes(poolWith())(`
each portion goes by its connection, a repeat too
  offer 0@1 -> sends 0 and 2
  repeat 1 -> sends 2 and 0

the next tick of a chunk waits on both connections until both have answered the one before
  offer 0.0@both 0.1@both -> sends 2 and 2
  answer 0 2 -> sends 0 and 0
  answer 1 1 -> sends 0 and 0
  answer 1 1 -> sends 2 and 2

other chunks do not wait for it
  offer 0.0@both -> sends 2 and 2
  offer 1.0@both -> sends 2 and 2

it is drained when the last of its connections is
  offer 0.0@both, drain, answer 0 2 -> sends 2 and 2
  answer 1 2 -> drained; sends 0 and 0

it is up while all of its connections are, and unused when none is and nothing waits
  state, end 0, state, end 1, state -> up used, down used, down unused; sends 0 and 0
  wait 0, state, take, state -> down used, takes 0, down unused; sends 0 and 0
`)

testScenes(poolWith({ most: { bytes: 1000, commands: 2 } }))(`
one connection whose window is full does not stop the other
  offer 0.0x3@both -> sends 2 and 2
  offer 1@1 -> sends 0 and 0
  answer 1 2 -> sends 0 and 2
`)

testScenes(poolWith({ oneSlot: true }))(`
on one server a repeat holds up every turn, and what waited is sent by all connections when it is let go
  hold, repeat 0, offer 1@1 -> sends 2 and 0
  answer 0 1, release -> sends 0 and 0
  answer 0 1 -> sends 0 and 2
`)
