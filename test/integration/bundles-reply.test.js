// Bundles over ioredis from a server that answers with bytes that are no reply.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { ioredisCarrier } from '../../lib/loads/bundles/open.js'
import { laneOf } from '../../lib/transport/lane.js'
import { portOf } from '../helpers/servers.js'

/** @import { TestContext } from 'node:test' */

/** Answers each command with what is next, the set-up of a connection as a server does. @param {TestContext} t @param {string} answer */
const serverOf = async (t, answer) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      for (const name of String(bytes)
        .toUpperCase()
        .match(/\b(CLIENT|INFO|INCR|AUTH|HELLO)\b/g) ?? []) {
        const info = 'redis_version:7.0.15\r\nloading:0\r\n'
        if (name === 'INFO') socket.write(`$${info.length}\r\n${info}\r\n`)
        else socket.write(name === 'INCR' ? answer : '+OK\r\n')
      }
    })
  })
  return `127.0.0.1:${await portOf(t, server)}`
}

/** @param {TestContext} t @param {string} answer @param {boolean} ends the connection: waited for */
const answered = async (t, answer, ends) => {
  const address = await serverOf(t, answer)
  const carrier = ioredisCarrier({
    delivery: 'pipeline',
    bundle: /** @type {any} */ ({ isOne: false, commands: () => [['INCR', 'a']] }),
    access: { username: undefined, password: undefined, tls: null },
    placeOf: async (to) => to,
    clock: () => performance.now(),
  })
  const bundle = /** @type {any} */ ({ ns: new Float64Array([1]), count: 1 })
  return new Promise((resolve, reject) => {
    const seen = { acked: 0, ended: false }
    const lane = /** @type {typeof laneOf<any>} */ (laneOf)({
      open: (handlers) => /** @type {NonNullable<typeof carrier.dial>} */ (carrier.dial)(address, handlers),
      decoder: carrier.decoder,
      events: {
        onReplied(one, results) {
          carrier.replied?.(one, results)
          seen.acked = carrier.outcome.acked()
          if (!ends) setTimeout(end, 100)
        },
        onUp: () => carrier.send(bundle, lane, 0, 0),
        onDown(_, error) {
          if (lane.drain().length === 0 && !ends && !seen.acked) reject(error)
          seen.ended = true
          if (ends) end()
        },
      },
      machine: machineWith(() => performance.now()),
    })
    const end = () => {
      resolve({ ...seen })
      lane.close()
    }
    lane.connect()
  })
}

test('what is a reply is one', async (t) => {
  assert.deepEqual(await answered(t, ':1\r\n', false), { acked: 1, ended: false })
})

for (const garbage of [':1\rX:2\r\n', ':1x\r\n', '$3x\r\nabc\r\n', '?1\r\n'])
  test(`${JSON.stringify(garbage)} ends the connection, and is no answer`, async (t) => {
    assert.deepEqual(await answered(t, garbage, true), { acked: 0, ended: true })
  })
