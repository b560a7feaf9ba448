import assert from 'node:assert/strict'
import { createConnection, createServer } from 'node:net'
import { test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { readQueueOf } from '../../lib/transport/read-queue.js'
import { valuesJob } from '../../lib/transport/socket-reader.js'
import { idList } from '../../lib/wire/id-list.js'

/** @import { TestContext } from 'node:test' */
/** @import { AddressInfo } from 'node:net' */

/** Answers ASKING with OK, and GET with the key in capitals. @param {TestContext} t */
const answering = async (t) => {
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      for (const [, asking, key] of String(chunk).matchAll(/(ASKING)\r\n|GET\r\n\$\d+\r\n(.+)\r\n/g))
        socket.write(asking ? '+OK\r\n' : `$${key.length}\r\n${key.toUpperCase()}\r\n`)
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(() => server.close())
  return /** @type {AddressInfo} */ (server.address()).port
}

test('replies behind an ASKING are counted with their own, and what follows gets what is its', async (t) => {
  const port = await answering(t)
  const queue = readQueueOf({
    address: `127.0.0.1:${port}`,
    readOnly: false,
    limits: { maxUnansweredBytes: 1 << 16 },
    machine: machineWith(() => performance.now()),
    onState: () => {},
    open: ({ onBytes, onClose }) =>
      new Promise((resolve) => {
        const socket = createConnection(port, '127.0.0.1', () => resolve(socket))
        socket.on('data', onBytes).on('close', () => onClose())
      }),
  })
  t.after(() => queue.close())
  queue.connect()
  const list = idList()
  for (let n = 0; n < 12; n++) list.add(Buffer.from(`item:${n}`), 0, Buffer.byteLength(`item:${n}`))
  const job = (/** @type {number[]} */ places, /** @type {boolean} */ asking) =>
    new Promise((resolve, reject) => {
      const found = /** @type {string[]} */ ([])
      const values = {
        value: (
          /** @type {number} */ i,
          /** @type {Buffer} */ bytes,
          /** @type {number} */ from,
          /** @type {number} */ to,
        ) => found.push(`${i} ${bytes.toString('latin1', from, to)}`),
        nil: () => reject(new Error('nil')),
      }
      queue.submit(
        valuesJob(
          {
            list,
            command: { name: 'GET', after: [], many: true },
            asking,
            values,
            sizes: { mean: () => 8, seen: () => {} },
          },
          { places: Uint32Array.from(places), cuts: null },
          {
            onRefused: (_, line) => reject(new Error(line)),
            onClosed: () => reject(new Error('closed')),
            onDone: () => resolve(found),
          },
        ),
      )
    })
  const asked = [[0, 1, 2], [3, 4], [5], [11, 6]]
  const told = await Promise.all(asked.map((places, at) => job(places, at % 2 === 0)))
  const itsOwn = asked.map((places) => places.map((n) => `${n} ITEM:${n}`))
  assert.deepEqual(told, itsOwn)
  assert.equal(queue.silentMs(), 0)
})
