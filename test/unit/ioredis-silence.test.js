// Connections of a library of ioredis' form, of which a class is not asked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentConnectionsOf } from '../../lib/transport/ioredis.js'

test('each node of a cluster of iovalkey is listened to as one of ioredis is', () => {
  const nodes = [7001, 7002].map((port) => ({
    stream: { bytesRead: 100, destroy() {} },
    commandQueue: { length: 1 },
    options: { host: '127.0.0.1', port },
  }))
  let now = 0
  const connections = silentConnectionsOf(/** @type {any} */ ({ nodes: () => nodes }), () => now)
  const seen = () =>
    connections()
      .map(({ address, silentMs }) => `${address} ${silentMs()}`)
      .join()
  assert.equal(seen(), '127.0.0.1:7001 0,127.0.0.1:7002 0')
  now = 3000
  nodes[1].stream.bytesRead = 200
  assert.equal(seen(), '127.0.0.1:7001 3000,127.0.0.1:7002 0')
})
