import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { ioredisCarrier } from '../../lib/loads/bundles/open.js'
import { laneOf, outboxOf } from '../../lib/transport/lane.js'
import { askingBytes } from '../../lib/wire/encode.js'
import { portOf } from '../helpers/servers.js'

for (const delivery of /** @type {const} */ (['one', 'pipeline', 'concurrent', 'call', 'transaction']))
  test(`ASKING of a bundle reaches the server over ioredis: ${delivery}`, async (t) => {
    const names = /** @type {string[]} */ ([])
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        for (const name of String(bytes)
          .toUpperCase()
          .match(/\b(ASKING|CLIENT|INFO|INCR|AUTH|HELLO|MULTI|EXEC)\b/g) ?? []) {
          names.push(name)
          const info = 'redis_version:7.0.15\r\nloading:0\r\n'
          if (name === 'INFO') socket.write(`$${info.length}\r\n${info}\r\n`)
          else if (name === 'EXEC') socket.write('*1\r\n:1\r\n')
          else socket.write(name === 'INCR' ? ':1\r\n' : '+OK\r\n')
        }
      })
    })
    const address = `127.0.0.1:${await portOf(t, server)}`
    const carrier = ioredisCarrier({
      delivery,
      bundle: /** @type {any} */ ({ isOne: false, commands: () => [['INCR', 'a']] }),
      access: { username: undefined, password: undefined, tls: null },
      placeOf: async (to) => to,
      clock: () => performance.now(),
    })
    const outbox = outboxOf({ most: 0, put: (_, __, at) => at, clock: () => performance.now() })
    await new Promise((resolve) => {
      const lane = /** @type {typeof laneOf<any>} */ (laneOf)({
        open: (handlers) => /** @type {any} */ (carrier.dial)(address, handlers),
        decoder: carrier.decoder,
        events: {
          onReplied: () => {
            resolve(undefined)
            lane.close()
          },
          // As the router sends what ASK redirected.
          onUp: () => {
            outbox.plain(lane, askingBytes)
            carrier.send(/** @type {any} */ ({ ns: new Float64Array([1]), count: 1 }), lane, 0, 1)
          },
          onDown: () => {},
        },
        machine: machineWith(() => performance.now()),
      })
      lane.connect()
    })
    assert.ok(names.includes('ASKING'))
  })
