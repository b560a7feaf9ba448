import assert from 'node:assert/strict'
import { test } from 'node:test'
import { topologyEventsOf } from '../../lib/transport/topology-events.js'

const address = '127.0.0.1:7001'

/** What is reported of connections that are lost and come back at these moments. @param {[atMs: number, reason: string | null][]} steps reason: null when it is up */
const eventsOf = (steps) => {
  let nowMs = 0
  const events = /** @type {string[]} */ ([])
  const topologyEvents = topologyEventsOf({
    clock: () => nowMs,
    onEvent: (kind, text) => events.push(`${nowMs} ${kind}: ${text}`),
  })
  for (const [atMs, reason] of steps) {
    nowMs = atMs
    if (reason === null) topologyEvents.up(address)
    else topologyEvents.down(address, reason)
  }
  return events
}

test('a loss that was reported has its end, also when its reason changed meanwhile', () =>
  assert.deepEqual(
    eventsOf([
      [100, 'closed the connection'],
      [150, 'max number of clients reached'],
      [400, null],
    ]),
    [
      `100 disconnected: ${address}: closed the connection`,
      `400 reconnected: ${address} after 300 ms; max number of clients reached`,
    ],
  ))

test('a connection that comes and goes within a second is reported once', () =>
  assert.deepEqual(
    eventsOf([
      [100, 'closed the connection'],
      [110, null],
      [300, 'closed the connection'],
      [310, null],
    ]),
    [`100 disconnected: ${address}: closed the connection`, `110 reconnected: ${address} after 10 ms`],
  ))
