import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconnectingSocketOf, renewalsOf } from '../../lib/transport/reconnecting-socket.js'
import { reconnectsOf } from '../../lib/transport/reconnects.js'
import { notes, testScenes } from '../helpers/scenes.js'

/** Links whose connections open, fail and end as the test says; timers go off when it says so. */
const scene = () => {
  const { note, taken } = notes()
  const state = { nowMs: 0, opens: 0, owes: false }
  const timers = /** @type {(() => void)[]} */ ([])
  /** @type {{ resolve: (socket: any) => void, reject: (error: Error) => void, onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }} */
  let last
  const link = reconnectingSocketOf({
    open: (handlers) =>
      new Promise((resolve, reject) => {
        state.opens++
        last = { ...handlers, resolve, reject }
      }),
    decoder: () => {
      const mine = state.opens + 1
      return (chunk) => note(`reads ${chunk} of ${mine}`)
    },
    onRead: () => note('read'),
    onUp: () => note('up'),
    onDown: (error) => note(`down ${error?.message ?? ''}`.trim()),
    hasUnanswered: () => state.owes,
    onRenewed: (tookMs) => note(`renewed in ${tookMs} ms`),
    machine: {
      clock: () => state.nowMs,
      random: () => 1,
      timers: /** @type {any} */ ({
        setTimeout: (/** @type {() => void} */ then, /** @type {number} */ ms) => {
          note(`waits ${ms}`)
          return timers.push(then)
        },
        clearTimeout: (/** @type {number | undefined} */ id) => {
          if (id !== undefined) timers[id - 1] = () => {}
        },
      }),
    },
  })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const opens = (how = '') => {
    const destroy = () => {
      note('closed')
      last.onClose()
    }
    const socket = { destroyed: how === 'lost', destroy }
    if (socket.destroyed) destroy()
    last.resolve(socket)
    return settled()
  }
  const steps = {
    opens,
    connect: () => void link.connect(),
    close: link.close,
    renew: () => note(link.renew() ? 'begins' : 'no'),
    fails: () => {
      last.reject(new Error('refused'))
      return settled()
    },
    ends: () => last.onClose(new Error('reset')),
    answers: (/** @type {string} */ text) => last.onBytes(Buffer.from(text)),
    later: () => void timers.at(-1)?.(),
    owing: (/** @type {string} */ does) => (state.owes = does === 'yes'),
    at: (/** @type {string} */ ms) => (state.nowMs = Number(ms)),
    owes: () => link.owesFrom(state.nowMs),
    silent: () => note(`silent ${link.silentMs(true)}, without owing ${link.silentMs(false)}`),
  }
  const seen = () => {
    const is = (link.isUp() ? 'up' : 'down') + (link.isRenewing() ? ', renewing' : '')
    return `${taken()} [${state.opens} ${is}]`.trim()
  }
  return { state, link, steps, seen }
}

// Behind each row: what happened, how many connections were asked for, and whether the link is up.
testScenes(scene)(`
one that is refused or lost is made again, after waits that double up to a second and begin anew
  connect, fails, later, fails, later -> down refused, waits 50, down refused, waits 100 [3 down]
  fails, later, fails, later -> down refused, waits 200, down refused, waits 400 [5 down]
  fails, later, fails, later -> down refused, waits 800, down refused, waits 1000 [7 down]
  fails, later, opens -> down refused, waits 1000, up [8 up]
  ends -> down reset, waits 50 [8 down]

each connection has a decoder of its own
  connect, opens, answers a, ends, later, opens, answers b -> up, reads a of 1, read, down reset, waits 50, up, reads b of 2, read [2 up]

it is asked for once at a time, and not at all after the end
  connect, connect -> [1 down]
  opens, connect -> up [1 up]
  ends, close, later -> down reset, waits 50 [1 down]

one that opens after the end is closed
  connect, close, opens -> closed, down [1 down]

one that was lost as it opened is not up
  connect, opens lost -> closed, down, waits 50 [1 down]

silence counts from the first byte owed, or the last that came
  connect, opens, at 5000, owes, at 6000, silent -> up, silent 1000, without owing 0 [1 up]
  answers x, silent -> reads x of 1, read, silent 0, without owing 0 [1 up]

one to be renewed takes nothing new, is closed when it owes nothing, and is up again as another
  connect, renew -> no [1 down]
  opens, owing yes, renew, renew -> up, begins, no [1 down, renewing]
  answers a -> reads a of 1, read [1 down, renewing]
  owing no, at 100, answers b -> reads b of 1, closed, read [2 down, renewing]
  at 107, opens -> renewed in 7 ms [2 up]

one that owes nothing is renewed at once, and one whose successor is refused is down
  connect, opens, renew -> up, closed, begins [2 down, renewing]
  fails -> down refused, waits 50 [2 down]
  later, opens -> up [3 up]

one that is lost while it is to be renewed is made again as any other
  connect, opens, owing yes, renew, ends -> up, begins, down reset, waits 50 [1 down]
  later, opens -> up [2 up]
`)

/** The same with its first connection up. */
const upScene = async () => {
  const all = scene()
  all.link.connect()
  await all.steps.opens()
  return { ...all, opens: all.steps.opens }
}

test('a client is renewed on all nodes, and not again before it is whole; then it is the turn of another', async () => {
  const [a, b, c] = [await upScene(), await upScene(), scene()]
  const [one, other] = [[a.link, b.link, c.link], [(await upScene()).link]]
  const renew = renewalsOf(2, (client) => [one, other][client])
  assert.equal(renew()?.length, 2, 'the third was never up')
  assert.deepEqual([a.state.opens, b.state.opens, c.state.opens], [2, 2, 0])
  await a.opens()
  assert.deepEqual([renew()?.length, other[0].isRenewing()], [1, true])
  assert.equal(renew(), null, 'one of the first is still being made')
  assert.equal(a.state.opens, 2)
  await b.opens()
  assert.equal(renew()?.length, 2)
  assert.deepEqual([a.state.opens, b.state.opens], [3, 3])
})

test('a client is counted as renewed when it is open again on all nodes', async () => {
  const [a, b, c, d] = await Promise.all([upScene(), upScene(), upScene(), upScene()])
  const clients = [
    [a, b],
    [c, d],
  ]
  let nowMs = 0
  let next = () => {}
  const timers = /** @type {any} */ ({
    setTimeout: (/** @type {() => void} */ then) => (next = then),
  })
  const renew = renewalsOf(2, (client) => clients[client].map(({ link }) => link))
  const { start, counts } = reconnectsOf({ hz: 1000, renew, clock: () => nowMs, timers })
  const counted = () => Object.values(counts())
  const due = (/** @type {number} */ n) => {
    nowMs += n
    next()
  }
  start()
  due(2)
  assert.deepEqual(counted(), [2, 0, 0])
  await Promise.all([a.opens(), c.opens(), d.opens()])
  assert.deepEqual(counted(), [2, 0, 1], 'the first is still closed on its second node')
  due(2)
  assert.deepEqual(counted(), [4, 1, 1], 'the second was open, and is closed again')
  await b.opens()
  assert.deepEqual(counted(), [4, 1, 2])
  await Promise.all([c.opens(), d.steps.fails()])
  assert.deepEqual(counted(), [4, 1, 2])
  d.steps.later()
  await d.opens()
  assert.deepEqual(counted(), [4, 1, 3], 'one that was refused at first')
  c.steps.ends()
  assert.deepEqual(counted(), [4, 1, 3], 'lost afterwards')
  due(1)
  assert.deepEqual(counted(), [5, 1, 3])
  await Promise.all([a.opens(), b.opens()])
  assert.deepEqual(counted(), [5, 1, 4])
})
