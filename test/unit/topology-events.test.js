import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closed, topologyEventsOf } from '../../lib/transport/topology-events.js'

/** What is reported, and when, in a made-up time. */
const reporting = () => {
  const told = /** @type {string[]} */ ([])
  let nowMs = 0
  const topologyEvents = topologyEventsOf({
    clock: () => nowMs,
    onEvent: (kind, text) => told.push(`${nowMs} ${kind}: ${text}`),
  })
  /** The connection to a:1 is lost at a moment for this reason, or up again. @param {number} atMs @param {string} [reason] */
  const at = (atMs, reason) => {
    nowMs = atMs
    if (reason === undefined) topologyEvents.up('a:1')
    else topologyEvents.down('a:1', reason)
  }
  return { at, told, topologyEvents }
}

test('a loss that was reported has its end, also when its reason changed meanwhile', () => {
  const { at, told } = reporting()
  at(100, closed)
  at(150, 'max number of clients reached')
  at(400)
  assert.deepEqual(told, [
    '100 disconnected: a:1: closed the connection',
    '400 reconnected: a:1 after 300 ms; max number of clients reached',
  ])
})

test('a connection that comes and goes within a second is reported once', () => {
  const { at, told } = reporting()
  at(100, closed)
  at(110)
  at(300, closed)
  at(310)
  assert.deepEqual(told, ['100 disconnected: a:1: closed the connection', '110 reconnected: a:1 after 10 ms'])
})

test('events: a few a second, whatever happens', () => {
  const { at, told, topologyEvents } = reporting()
  topologyEvents.topology({ masters: ['a:1', 'b:1'], epoch: 3 })
  for (let i = 0; i < 5000; i++) topologyEvents.refused(i % 10 === 0 ? 'ASK' : 'MOVED')
  for (let i = 0; i < 1200; i++) topologyEvents.moved('a:1', 'b:1', 1)
  topologyEvents.left(new Map([['a:1', [1, 2]]]), () => 'b:1')
  topologyEvents.topology({ masters: ['b:1', 'c:1'], epoch: 9 })
  const ofMasters = ['0 new-master: c:1 is a master now', '0 master-gone: a:1 serves no slots any more']
  assert.deepEqual(told.splice(0), ofMasters)
  topologyEvents.tell()
  assert.deepEqual(told.splice(0), [
    '0 slots-moved: 1,202 slots from a:1 to b:1',
    '0 refused: commands, which are retried: ASK 500, MOVED 4,500',
    "0 epoch: the topology's epoch is 9",
  ])
  topologyEvents.tell()
  assert.deepEqual(told, [], 'once')

  for (let ms = 0; ms < 800; ms += 8) {
    at(ms + 5, 'reset')
    at(ms + 8)
  }
  assert.deepEqual(told.splice(0), ['5 disconnected: a:1: reset', '8 reconnected: a:1 after 3 ms; reset'])
  at(1800, 'reset')
  topologyEvents.tell()
  assert.deepEqual(told, ['1800 disconnected: a:1: reset'])
})

test('events: why a connection cannot be made again is reported, and is the cause of its return', () => {
  const { at, told } = reporting()
  const full = 'the server takes no more connections (ERR max number of clients reached)'
  at(0, closed)
  for (let ms = 30; ms <= 3000; ms += 30) {
    at(ms, `a:1: ${full}`)
    at(ms, closed)
  }
  at(3000)
  at(4000, closed)
  at(5000)
  assert.deepEqual(told, [
    '0 disconnected: a:1: closed the connection',
    `1020 disconnected: a:1: ${full}`,
    `3000 reconnected: a:1 after 3000 ms; ${full}`,
    '4000 disconnected: a:1: closed the connection',
    '5000 reconnected: a:1 after 1000 ms',
  ])
})
