// scripts/reshard.js where the servers refuse the change, as managed services do: real clusters, and users without
// the right. What the provider would then do the test does itself.
import assert from 'node:assert/strict'
import dns from 'node:dns'
import { before, describe, test } from 'node:test'
import { addressOf, endpointOf } from '../../lib/servers/address.js'
import { controlConnections } from '../../lib/servers/control.js'
import { addServers } from '../../lib/servers/embedded-changes.js'
import { resharding } from '../../lib/servers/reshard.js'
import { startCommand } from '../helpers/command-here.js'
import { at, until } from '../helpers/programs.js'
import { startCluster, suiteScope } from '../helpers/servers.js'

/** @import { TestContext } from 'node:test' */

const password = 'secret'
const withoutRights = ['setslot', 'failover', 'meet', 'forget', 'reset', 'replicate'].map(
  (name) => `-cluster|${name}`,
)
const users = {
  app: withoutRights,
  blind: [...withoutRights, '-cluster|nodes'],
  // It may begin, and not go on.
  half: ['-migrate'],
}

/** A name as the provider gives it leads here. */
const named = 'clustercfg.my-cache.abc123.use1.cache.amazonaws.com'
const lookup = /** @type {any} */ (dns.lookup)
dns.lookup = /** @type {any} */ (
  (/** @type {string} */ name, /** @type {any[]} */ ...rest) =>
    lookup(name === named ? '127.0.0.1' : name, ...rest)
)

/** A cluster with these users, and what an administrator does with it. @param {{ shards: number, replicas: number }} shape */
const placeOf = (shape) => {
  const scope = suiteScope()
  /** @type {Awaited<ReturnType<typeof startCluster>>} */
  let cluster
  /** @type {ReturnType<typeof controlConnections>} */
  let control
  /** @type {ReturnType<typeof resharding>} */
  let change
  before(async () => {
    cluster = await startCluster(scope, shape)
    control = controlConnections(cluster.access)
    scope.after(() => control.close())
    change = resharding({
      cluster: {
        control: (address) => control.clientOf(endpointOf(address)),
        access: cluster.access,
        addresses: () => cluster.nodes.map(addressOf),
      },
      clock: () => performance.now(),
    })
    for (const node of cluster.nodes) await letIn(node)
  })
  /** @param {{ host: string, port: number }} node */
  const letIn = async (node) => {
    for (const [user, rights] of Object.entries(users))
      await control
        .clientOf(node)
        .call('ACL', 'SETUSER', user, 'on', `>${password}`, '~*', '&*', '+@all', ...rights)
  }
  return {
    cluster: () => cluster,
    letIn,
    change: () => change,
    control: (/** @type {string} */ address) => control.clientOf(endpointOf(address)),
    /** Slots that are on their way. */
    underWay: async () => {
      const texts = await Promise.all(
        cluster.nodes.map(async (node) => String(await control.clientOf(node).call('CLUSTER', 'NODES'))),
      )
      return texts.flatMap((text) => text.match(/\[\d+-[<>]-\w+\]/g) ?? [])
    },
    /** @param {TestContext} t @param {string} line @param {{ user?: keyof typeof users, host?: string }} [as] */
    reshard: (t, line, { user = 'app', host = '127.0.0.1' } = {}) =>
      startCommand(t, `reshard ${line}`, {
        env: { ...at({ host, port: cluster.endpoints[0].port, password }), REDIS_USERNAME: user },
        out: false,
      }),
  }
}

/** The messages of the log, and what stands behind it. @param {string} stderr */
const told = (stderr) => {
  const lines = stderr.split('\n').filter(Boolean)
  return {
    log: lines.filter((line) => line.startsWith('{')).map((line) => String(JSON.parse(line).msg)),
    words: lines.filter((line) => !line.startsWith('{')),
  }
}

const waiting = /make the change with the tools of your provider/

describe('where only the provider may change the cluster', { concurrency: 2 }, () => {
  describe('slots and roles', { concurrency: 1 }, () => {
    const place = placeOf({ shards: 3, replicas: 1 })

    /** @type {[line: string, tool: RegExp, as?: Parameters<typeof place.reshard>[2]][]} */
    const lines = [
      ['move --slots 0-99 --to 3', /modify-replication-group-shard-configuration of aws elasticache/],
      ['add-shard', /modify-replication-group-shard-configuration/, { host: named }],
      ['remove-shard --shard 2', /modify-replication-group-shard-configuration/, { host: named }],
      ['failover --shard 3', /test-failover of aws elasticache/],
      ['failover --shard 1', /test-failover/, { user: 'blind', host: named }],
    ]

    test('whose tools to use; and when nothing comes of it, one line and exit code 3', async (t) => {
      const ended = await Promise.all(
        lines.map(([line, , as]) => place.reshard(t, `${line} --wait 1`, as).ended),
      )
      for (const [i, { code, stdout, stderr }] of ended.entries()) {
        const { log, words } = told(stderr)
        assert.deepEqual([code, stdout], [3, ''], stderr)
        assert.match(log[0], /^127\.0\.0\.1:\d+ does not let clients change the cluster \(NOPERM /)
        assert.ok(
          log.some((text) => lines[i][1].test(text)),
          stderr,
        )
        assert.equal(words.length, 1, stderr)
        assert.match(
          words[0],
          /^\S+:\d+: the change has not come after 1\S* s \(--wait\); 0 slots have new owners$/,
        )
      }
      assert.deepEqual(await place.underWay(), [])
    })

    test('slots that move are seen, and told', async (t) => {
      const waits = place.reshard(t, 'move --slots 0-99 --to 3 --wait 60')
      const stopped = place.reshard(t, 'move --slots 0-99 --to 3')
      await Promise.all([waits.says(waiting), stopped.says(waiting)])
      stopped.kill('SIGINT')
      assert.equal((await stopped.ended).code, 130)
      await place.change().move(
        Array.from({ length: 100 }, (_, slot) => slot),
        3,
      )
      const { code, stdout, stderr } = await waits.ended
      assert.equal(code, 0, stderr)
      assert.match(stdout, /^100 slots have new owners after \S+ s\n$/)
      assert.ok(told(stderr).log.some((text) => /^\d+ slots moved; 3 masters$/.test(text)))
    })

    test('a replica that takes over is seen, and named', async (t) => {
      const nodes = await place.change().view()
      const master = nodes.find(
        ({ role, slots }) => role === 'master' && slots.some(([from]) => from > 10_000),
      )
      assert.ok(master)
      const replica = nodes.find(({ masterId }) => masterId === master.id)
      assert.ok(replica)
      const waits = place.reshard(t, `failover --shard ${master.address} --wait 60`, { host: named })
      await waits.says(waiting)
      await place.control(replica.address).call('CLUSTER', 'FAILOVER')
      const { code, stdout, stderr } = await waits.ended
      assert.equal(code, 0, stderr)
      assert.ok(stdout.startsWith(`${replica.address} took over from ${master.address}; 5,`), stdout)
    })
  })

  describe('shards', { concurrency: 1 }, () => {
    const place = placeOf({ shards: 2, replicas: 0 })

    test('a change that may begin but not go on leaves no slot half way', async (t) => {
      const [{ address }] = (await place.change().view()).filter(({ slots }) => slots[0]?.[0] === 0)
      const client = place.control(address)
      // Slot 0 holds it.
      await client.call('SET', '{06S}key', 'x')
      assert.equal(await client.call('CLUSTER', 'KEYSLOT', '{06S}key'), 0)
      const { code, stdout, stderr } = await place.reshard(t, 'move --slots 0 --to 2 --wait 1', {
        user: 'half',
      }).ended
      assert.equal(code, 3, stderr)
      assert.equal(stdout, '')
      assert.match(told(stderr).log[0], /does not let clients change the cluster \(NOPERM .*migrate/)
      assert.deepEqual(await place.underWay(), [])
      assert.equal(await client.call('GET', '{06S}key'), 'x')
    })

    test('a shard that comes is seen, and one that goes', async (t) => {
      const coming = place.reshard(t, 'add-shard --wait 60')
      await coming.says(waiting)
      const [server] = await addServers(place.cluster(), { count: 1 })
      await place.letIn(server)
      await place.change().addShard({ master: addressOf(server) }, 5)
      const come = await coming.ended
      assert.equal(come.code, 0, come.stderr)
      assert.match(come.stdout, /^3 masters instead of 2; 5 slots have new owners after/)

      const going = place.reshard(t, `remove-shard --shard ${addressOf(server)} --wait 60`)
      await going.says(waiting)
      await place.change().removeShard(addressOf(server))
      const gone = await going.ended
      assert.equal(gone.code, 0, gone.stderr)
      assert.match(gone.stdout, /^2 masters instead of 3; 5 slots have new owners after/)
      await until('nothing is on its way', async () => (await place.underWay()).length === 0)
    })
  })
})
