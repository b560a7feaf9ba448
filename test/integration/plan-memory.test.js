// What `plan` knows of memory before anything is stored, against real servers.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { run, startLocalServers } from 'millrace'
import { allocatorIn, classesOf, memoryOf } from '../../lib/answers/plan/memory.js'

/** @import { LocalServers } from 'millrace' */

describe('memory by classes and encodings', () => {
  /** @type {LocalServers} */
  let servers
  /** @type {Redis} */
  let client
  /** @type {(command: string, ...args: (string | number)[]) => Promise<unknown>} */
  const call = (command, ...args) => client.call(command, ...args)
  before(async () => {
    servers = await startLocalServers()
    client = new Redis(servers.options.url)
  })
  after(() => {
    client.disconnect()
    return servers.close()
  })

  test("the allocator's classes are those of MEMORY USAGE", async () => {
    const allocator = await allocatorIn(call, 'p:')
    assert.ok(allocator)
    assert.equal(await client.exists('p:millrace:memory'), 0)
    const size = classesOf(allocator)
    /** @param {number} length */
    const usage = async (length) => {
      await client.set('k', 'x'.repeat(length))
      return Number(await call('MEMORY', 'USAGE', 'k'))
    }
    const first = await usage(100)
    for (const length of [46, 60, 61, 77, 125, 200, 250, 500, 1000, 1020, 3000, 10_000, 30_000])
      assert.equal(
        (await usage(length)) - first,
        size(length + (length < 256 ? 4 : 6)) - size(104),
        `${length} B`,
      )
  })

  for (const [strategy, quantity, valueSize] of /** @type {const} */ ([
    ['sorted-set', 20_000, '60'],
    ['list', 20_000, '200'],
    ['stream', 20_000, '200'],
    ['actual-value', 20_000, '60'],
    ['hash', 5000, '1000'],
  ]))
    test(`${strategy}: items take what was computed, within 3 %`, async () => {
      const allocator = await allocatorIn(call, '')
      await client.flushall()
      const result = /** @type {any} */ (
        await run({
          ...{ ...servers.options, strategy, quantity, valueSize },
          ...{ period: '500ms', chunks: 5, ttl: '600s', intervals: 2, idleCost: 'never' },
        })
      )
      const { spread, fixed, unknown } = memoryOf(result.plan, /** @type {any} */ (allocator))
      const measured = result.server.memory_bytes_per_item
      assert.deepEqual(unknown, [])
      assert.ok(
        Math.abs((spread + fixed) / measured - 1) < 0.03,
        `${spread + fixed} B, measured ${measured} B`,
      )
    })
})
