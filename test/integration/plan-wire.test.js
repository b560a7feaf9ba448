// What `plan` knows of the wire before anything is sent, against the bytes of real runs through a proxy.
import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { before, describe, test } from 'node:test'
import { run, startLocalServers } from 'millrace'
import { sumOfParts, wireOf } from '../../lib/answers/plan/wire.js'
import { portOf, suiteScope } from '../helpers/servers.js'

/**
 * @import { LocalServers } from 'millrace'
 * @import { Scope } from '../helpers/servers.js'
 */

/** Forwards to a server and counts each connection's bytes. @param {Scope} scope @param {number} port */
const countingProxy = async (scope, port) => {
  /** @type {{ in: number, out: number }[]} */
  const connections = []
  const server = createServer((client) => {
    const counts = { in: 0, out: 0 }
    connections.push(counts)
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to, way] of /** @type {const} */ ([
      [client, upstream, 'in'],
      [upstream, client, 'out'],
    ])) {
      from.on('data', (bytes) => {
        counts[way] += bytes.length
        to.write(bytes)
      })
      from.on('close', () => to.destroy())
      from.on('error', () => to.destroy())
    }
  })
  return { port: await portOf(scope, server), connections }
}

describe('bytes of an interval', () => {
  /** @type {LocalServers} */
  let servers
  /** @type {Awaited<ReturnType<typeof countingProxy>>} */
  let proxy
  const scope = suiteScope()
  before(async () => {
    servers = await startLocalServers()
    scope.after(() => servers.close())
    proxy = await countingProxy(scope, Number(new URL(servers.options.url).port))
  })

  /** Bytes of the connection that carried the items. @param {object} options @param {number} intervals */
  const carried = async (options, intervals) => {
    const url = new URL(servers.options.url)
    url.port = String(proxy.port)
    proxy.connections.length = 0
    const result = /** @type {any} */ (
      await run({ url: url.href, period: '200ms', intervals, ttl: '600s', ...options })
    )
    assert.equal(result.items.acked, intervals * result.plan.quantity)
    const [items] = proxy.connections.toSorted((a, b) => b.in - a.in)
    return { plan: result.plan, ...items }
  }

  for (const [strategy, options] of /** @type {const} */ ([
    ['sorted-set', { quantity: 3000, chunks: 2, maxMembers: 400, valueSize: '100' }],
    ['list', { quantity: 3000, chunks: 2, maxMembers: 400, valueSize: 'lognormal:p50=100B,p99=2kB' }],
    ['actual-value', { quantity: 1500, chunks: 1, valueSize: '40' }],
  ]))
    test(`${strategy}: as the encoder says, to the byte, both ways`, async () => {
      const prefix = `${strategy}:`
      // The first run makes everything; what two and five intervals differ by is that of three.
      await carried({ strategy, prefix, ...options }, 1)
      const short = await carried({ strategy, prefix, ...options }, 2)
      const long = await carried({ strategy, prefix, ...options }, 5)
      const wire = await wireOf(long.plan)
      assert.equal(wire.whole, true)
      assert.deepEqual(wire.unknown, [])
      const bytes = (/** @type {'bytesIn' | 'bytesOut'} */ way) =>
        Math.round(sumOfParts(wire, Number.POSITIVE_INFINITY)[way] * wire.items * 3)
      assert.deepEqual([long.in - short.in, long.out - short.out], [bytes('bytesIn'), bytes('bytesOut')])
    })
})
