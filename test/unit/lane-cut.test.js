import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { dial } from '../../lib/servers/dial.js'
import { laneOf } from '../../lib/transport/lane.js'

test('a lane that was given up takes nothing more', async () => {
  const server = net.createServer((s) => s.on('error', () => {}).on('data', () => s.write('+OK\r\n')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const drained = /** @type {string[]} */ ([])
  const down = new Promise((resolve) => {
    const lane = laneOf({
      open: (handlers) => dial({ host: '127.0.0.1', port }, {}, handlers),
      events: {
        onUp() {
          lane.giveUp('TIMEOUT')
          // Another connection's replies are read in the same turn, and the client has room.
          if (lane.isUp()) {
            lane.push('never written', 1, 0)
            lane.write(Buffer.from('PING\r\n'))
          }
        },
        onDown() {
          drained.push(...lane.drain())
          lane.close()
          resolve(undefined)
        },
      },
      machine: machineWith(() => performance.now()),
    })
    lane.connect()
  })
  await down
  server.close()
  assert.deepEqual(drained, [])
})
