import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconnectingSocketOf } from '../../lib/transport/reconnecting-socket.js'

/** A link whose connections open, fail and end as the test says; timers go off when it says so. */
const scene = () => {
  const state = { nowMs: 0, opens: 0, reads: '', owes: false }
  const events = /** @type {string[]} */ ([])
  const waits = /** @type {number[]} */ ([])
  /** @type {(() => void)[]} */
  const timers = []
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
      return (chunk) => {
        state.reads += `${mine}:${chunk} `
      }
    },
    onRead: () => events.push('read'),
    onUp: () => events.push('up'),
    onDown: (error) => events.push(`down ${error?.message ?? ''}`),
    owes: () => state.owes,
    onRenewed: (tookMs) => events.push(`renewed in ${tookMs} ms`),
    clock: () => state.nowMs,
    random: () => 1,
    timers: /** @type {any} */ ({
      setTimeout: (/** @type {() => void} */ then, /** @type {number} */ ms) => {
        waits.push(ms)
        return timers.push(then)
      },
      clearTimeout: (/** @type {number | undefined} */ id) => {
        if (id !== undefined) timers[id - 1] = () => {}
      },
    }),
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const socket = () => {
    const made = /** @type {any} */ ({
      destroyed: false,
      destroy: () => {
        made.destroyed = true
        last.onClose()
      },
    })
    return made
  }
  return {
    state,
    events,
    waits,
    link,
    opens: async (made = socket()) => {
      last.resolve(made)
      await settle()
      return made
    },
    fails: async () => {
      last.reject(new Error('refused'))
      await settle()
    },
    ends: () => last.onClose(new Error('reset')),
    answers: (/** @type {string} */ text) => last.onBytes(Buffer.from(text)),
    later: () => timers.at(-1)?.(),
    made: socket,
  }
}

test('one that is refused or lost is made again, after waits that double up to a second and begin anew', async () => {
  const { link, events, waits, opens, fails, ends, later } = scene()
  link.connect()
  for (let i = 0; i < 7; i++) {
    await fails()
    later()
  }
  assert.deepEqual(waits, [50, 100, 200, 400, 800, 1000, 1000])
  await opens()
  assert.equal(link.isUp(), true)
  ends()
  assert.equal(link.isUp(), false)
  assert.equal(waits.at(-1), 50)
  assert.deepEqual(events, [...Array(7).fill('down refused'), 'up', 'down reset'])
})

test('each connection has a decoder of its own', async () => {
  const { link, state, opens, ends, answers, later } = scene()
  link.connect()
  await opens()
  answers('a')
  ends()
  later()
  await opens()
  answers('b')
  assert.equal(state.reads, '1:a 2:b ')
})

test('it is asked for once at a time, and not at all after the end', async () => {
  const { link, state, opens, ends, later, events } = scene()
  link.connect()
  link.connect()
  assert.equal(state.opens, 1)
  await opens()
  link.connect()
  assert.equal(state.opens, 1)
  ends()
  link.close()
  later()
  assert.equal(state.opens, 1)
  assert.deepEqual(events, ['up', 'down reset'])
})

test('one that opens after the end is closed, and one that was lost as it opened is not up', async () => {
  const late = scene()
  late.link.connect()
  late.link.close()
  const socket = await late.opens()
  assert.deepEqual([socket.destroyed, late.link.isUp(), late.waits], [true, false, []])

  const brief = scene()
  brief.link.connect()
  const made = brief.made()
  made.destroy()
  await brief.opens(made)
  assert.deepEqual([brief.link.isUp(), brief.waits, brief.events], [false, [50], ['down ']])
})

test('silence counts from the first byte owed, or the last that came', async () => {
  const { link, state, opens, answers } = scene()
  link.connect()
  await opens()
  state.nowMs = 5000
  link.owesFrom(state.nowMs)
  state.nowMs = 6000
  assert.deepEqual([link.silentMs(true), link.silentMs(false)], [1000, 0])
  answers('x')
  assert.equal(link.silentMs(true), 0)
})

test('one to be renewed takes nothing new, is closed when it owes nothing, and is up again as another', async () => {
  const { link, state, events, opens, answers } = scene()
  link.connect()
  assert.equal(link.renew(), false, 'there is nothing to renew yet')
  const first = await opens()
  state.owes = true
  assert.equal(link.renew(), true)
  assert.equal(link.isUp(), false)
  assert.equal(link.renew(), false, 'once at a time')
  answers('a')
  assert.deepEqual([first.destroyed, state.opens], [false, 1], 'it still owes')
  state.owes = false
  state.nowMs = 100
  answers('b')
  assert.deepEqual([first.destroyed, state.opens, link.isUp()], [true, 2, false])
  state.nowMs = 107
  await opens()
  assert.equal(link.isUp(), true)
  assert.deepEqual(events, ['up', 'read', 'read', 'renewed in 7 ms'])
})

test('one that owes nothing is renewed at once, and one whose successor is refused is down', async () => {
  const { link, state, events, waits, opens, fails, later } = scene()
  link.connect()
  const first = await opens()
  link.renew()
  assert.deepEqual([first.destroyed, state.opens], [true, 2])
  await fails()
  assert.deepEqual([events, waits], [['up', 'down refused'], [50]])
  later()
  await opens()
  assert.deepEqual(events, ['up', 'down refused', 'up'])
})

test('one that is lost while it is to be renewed is made again as any other', async () => {
  const { link, state, events, opens, ends, later } = scene()
  link.connect()
  await opens()
  state.owes = true
  link.renew()
  ends()
  assert.equal(link.isUp(), false)
  later()
  await opens()
  assert.equal(link.isUp(), true)
  assert.deepEqual(events, ['up', 'down reset', 'up'])
})
