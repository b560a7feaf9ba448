// Every way to count, on every structure, alone and in a cluster: what redis-cli finds is what was declared.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { strategyNamed, strategyNames } from '../../lib/workloads/index.js'
import { openCli, suiteScope } from '../helpers/servers.js'
import { sharedServers } from '../helpers/shared-servers.js'
import { openedTarget, planOn, settingsOf, writeUnattended } from '../helpers/unattended.js'

const names = strategyNames('bundles')
const structures = /** @type {const} */ (['zset', 'hash', 'string'])
const items = 500
const counters = 150
const bundle = 70

for (const cluster of [false, true])
  describe(cluster ? 'a local cluster' : 'one server', () => {
    /** @type {Awaited<ReturnType<typeof openedTarget>>} */
    let target
    /** @type {ReturnType<typeof openCli>} */
    let ask
    const scope = suiteScope()
    before(async () => {
      const address = await sharedServers(scope, cluster)
      ask = openCli(scope, address, cluster)
      target = await openedTarget(scope, address, cluster)
    })

    /** Amounts by number of the counter, and the keys. @param {string} structure @param {string} prefix */
    const stored = async (structure, prefix) => {
      if (structure === 'string') {
        const keys = Array.from({ length: counters }, (_, i) => `${prefix}{counters}:${i + 1}`)
        const [values] = await ask([`MGET ${keys.join(' ')}`])
        return { keys, amounts: values.map(Number) }
      }
      const key = `${prefix}counters-${structure}`
      const isHash = structure === 'hash'
      const [found] = await ask([isHash ? `HGETALL ${key}` : `ZRANGE ${key} 0 -1 WITHSCORES`])
      const amounts = /** @type {number[]} */ ([])
      for (const [name, amount] of /** @type {[string, unknown][]} */ (
        isHash ? Object.entries(found) : found
      ))
        amounts[Number(name.replace(/^counter:/, '')) - 1] = Number(amount)
      return { keys: [key], amounts }
    }

    for (const name of names)
      for (const structure of structures)
        test(`${name} on a ${structure}`, async (t) => {
          const { options, variants, play } = strategyNamed(name)
          const { drivers, delivery } = play
          if (cluster && drivers[0] === 'ioredis') return t.skip('runs on one server only')
          if (variants && target.majorVersion < 7) return t.skip('needs Redis 7.0')
          const prefix = `${name}.${structure}:`
          const size = options.includes('bundleSize') ? bundle : 1
          const line = `--strategy ${name} --with structure=${structure} --items ${items} --with counters=${counters} --prefix ${prefix}`
          const settings = settingsOf(size > 1 ? `${line} --with bundle-size=${size}` : line, cluster)
          const { items: outcome, bundles } = await writeUnattended(await planOn(settings, target), target)
          const { keys, amounts } = await stored(structure, prefix)
          await ask([`DEL ${keys.join(' ')}`])
          assert.deepEqual([outcome.offered, outcome.acked, bundles?.delivery], [items, items, delivery])
          assert.equal(bundles?.calls, Math.ceil(items / size))
          assert.deepEqual(bundles?.sum, {
            before: 0,
            after: items,
            acked: items,
            uncertain: 0,
            different: 0,
          })
          // 500 increments of 150 counters: the first 50 get one more.
          assert.deepEqual(
            amounts,
            Array.from({ length: counters }, (_, i) => (i < 50 ? 4 : 3)),
          )
        })
  })
