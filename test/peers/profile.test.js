// What each version of the servers tells a profile, to the user of docs/profile.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Redis } from 'ioredis'
import { collected } from '../../lib/answers/profile/collect.js'
import { profileOf } from '../../lib/answers/profile/profile.js'
import { peer } from '../helpers/peers.js'
import { until } from '../helpers/programs.js'
import { cli, startCluster, startServer } from '../helpers/servers.js'

const page = readFileSync(new URL('../../docs/profile.md', import.meta.url), 'utf8')
const userLines = [...page.matchAll(/^ACL (SETUSER .*)$/gm)].map(([, line]) =>
  line.replace('PASSWORD', 'pass').split(' '),
)

/** @param {any} server */
const withUser = async (server) => {
  for (const line of userLines) await server.redis.call('ACL', ...line).catch(() => {})
  return new Redis({ host: server.host, port: server.port, username: 'millrace-profile', password: 'pass' })
}

/** @param {{ address: string, client: Redis }[]} masters @param {() => Promise<unknown>} load during it @param {boolean} [isAnonymous] */
const profiled = async (masters, load, isAnonymous = false) => {
  const stop = new AbortController()
  const seen = collected({ masters, durationMs: 60_000, budget: 0.5, stop: stop.signal })
  await until('the first looks', async () => {
    const stats = await masters[0].client.info('commandstats')
    return /cmdstat_scan:/.test(stats)
  })
  await load()
  stop.abort()
  return profileOf(await seen, {
    ...{ startedMs: 0, isInterrupted: false, isAnonymous },
    ...{ versions: ['x'], replicas: [] },
  })
}

for (const [name, times, log, hasConnections, hasSizes] of /** @type {const} */ ([
  ['redis-6.2', null, 'SLOWLOG', false, false],
  ['redis-8.2', 'LATENCY HISTOGRAM', 'SLOWLOG', true, true],
  ['valkey-8.0', 'LATENCY HISTOGRAM', 'SLOWLOG', true, false],
  ['valkey-9.1', 'LATENCY HISTOGRAM', 'COMMANDLOG', true, false],
]))
  test(`${name} says what it has, and refuses nothing`, async (t) => {
    const bin = peer(t, name)
    if (bin === undefined) return
    const server = await startServer(t, { bin, config: { 'slowlog-log-slower-than': '0' } })
    const client = await withUser(server)
    t.after(() => client.disconnect())
    const masters = [{ address: `${server.host}:${server.port}`, client }]
    await server.redis.call('CLIENT', 'SETNAME', 'shop')
    const profile = await profiled(masters, async () => {
      for (let i = 0; i < 40; i++) await server.redis.set(`secret:${i}`, 'TOP-SECRET-VALUE')
    })
    assert.deepEqual(profile.refused, [])
    assert.equal(profile.times_from, times)
    const set = profile.commands.find((one) => one.name === 'set')
    assert.equal(Number(set?.p99_us) > 0, times !== null)
    assert.equal(profile.log?.from, log)
    const slow = profile.log?.groups.find(({ command }) => command === 'set')
    assert.deepEqual([slow?.kind, slow?.pattern], ['slow', 'secret:{n}'])
    const shop = profile.clients.groups.find((group) => group.name.startsWith('shop'))
    assert.equal(shop?.connections, 1)
    assert.equal(Number(shop?.commands_per_s) > 0, hasConnections)
    assert.deepEqual(
      profile.key_sizes.map(({ type, keys, median }) => [type, keys, median]),
      hasSizes ? [['string', 40, 16]] : [],
    )
    assert.equal(profile.hot_keys, null)
    assert.ok(profile.not_offered.includes('hotkeys|get'))
    assert.equal(profile.not_offered.includes('commandlog|get'), log === 'SLOWLOG')
    assert.doesNotMatch(JSON.stringify(profile), /TOP-SECRET/)
  })

for (const name of ['redis-8.2', 'valkey-9.1'])
  test(`a cluster of ${name} says which slots are busy`, async (t) => {
    const bin = peer(t, name)
    if (bin === undefined) return
    const { nodes, access } = await startCluster(t, { shards: 3, replicas: 0, bin })
    const masters = nodes.map(({ host, port }) => {
      const client = new Redis({ host, port, password: access.password })
      t.after(() => client.disconnect())
      return { address: `${host}:${port}`, client }
    })
    for (const { client } of masters) await client.call('CONFIG', 'SET', 'cluster-slot-stats-enabled', 'yes')
    const slot = await masters[0].client.call('CLUSTER', 'KEYSLOT', 'busy')
    const [node] = await Promise.all(
      masters.map(async ({ client }) =>
        (await client.get('busy').catch(() => 'moved')) === null ? client : null,
      ),
    ).then((found) => found.filter((one) => one !== null))
    await node.set('busy', 'x')
    const profile = await profiled(masters, async () => {
      for (let i = 0; i < 200; i++) await node.append('busy', 'x')
    })
    assert.equal(profile.slots?.[0].slot, slot)
    assert.equal(profile.slots?.[0].keys, 1)
    assert.ok(Number(profile.slots?.[0].cpu_share) > 0)
  })

test('a user who may not see slow commands has a profile without them', async (t) => {
  const server = await startServer(t)
  await withUser(server).then((client) => client.disconnect())
  await cli(server, 'ACL', 'SETUSER', 'millrace-profile', '-slowlog', '-latency|histogram')
  const client = await withUser({ ...server, redis: { call: async () => {} } })
  t.after(() => client.disconnect())
  const masters = [{ address: `${server.host}:${server.port}`, client }]
  const profile = await profiled(masters, () => server.redis.set('a', 'b'))
  assert.deepEqual(profile.refused, ['latency|histogram', 'slowlog|get', 'slowlog|len'])
  assert.equal(profile.log, null)
  assert.equal(profile.times_from, 'INFO')
})

for (const isAnonymous of [false, true])
  test(`a log with hostile names and secrets shows ${isAnonymous ? 'shapes' : 'patterns'} alone`, async (t) => {
    const bin = peer(t, 'valkey-9.1')
    if (bin === undefined) return
    const server = await startServer(t, { bin, config: { 'commandlog-execution-slower-than': '0' } })
    const client = await withUser(server)
    t.after(() => client.disconnect())
    const { redis } = server
    const profile = await profiled(
      [{ address: 'it', client }],
      async () => {
        await redis.call('CLIENT', 'SETNAME', 'payroll-app')
        await redis.set(Buffer.from('\x1b[31mmallory\0\xff:7', 'latin1'), 'TOP-SECRET')
        await redis.set(`mallory:${'x'.repeat(1000)}:1`, 'TOP-SECRET')
        await redis.eval('return ARGV[1]', 0, 'TOP-SECRET')
        await redis.call('ACL', 'SETUSER', 'mallory', '>TOP-SECRET')
      },
      isAnonymous,
    )
    const shown = JSON.stringify(profile)
    assert.doesNotMatch(shown, /TOP-SECRET|\\u00|ARGV|xxxx more bytes/)
    assert.doesNotMatch(shown, isAnonymous ? /mallory|payroll/ : /TOP-SECRET/)
    const sets = profile.log?.groups.filter(({ command }) => command === 'set') ?? []
    assert.ok(
      sets.length > 0 && sets.every(({ pattern }) => pattern !== null && /^[\x20-\x7e]*$/.test(pattern)),
    )
    assert.ok(profile.log?.groups.some(({ command, pattern }) => command === 'eval' && pattern === null))
  })
