// Every strategy with the options that change what it stores, alone and as a cluster: with one driver here, and the other there.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { planOf } from '../../lib/loads/plan.js'
import { ticksWriter } from '../../lib/loads/ticks/writer.js'
import { ledgerOf } from '../../lib/probes/ledger.js'
import { endpointOf } from '../../lib/servers/address.js'
import { dial } from '../../lib/servers/dial.js'
import { socketDriver } from '../../lib/transport/socket-writer.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { strategyNames } from '../../lib/workloads/index.js'
import { inlineScript } from '../../lib/workloads/lua.js'
import { cli, portOf, startServer } from '../helpers/servers.js'
import { settingsOf, spreadLines, strategyContract, variantLines } from '../helpers/strategy-contract.js'

/** @import { TestContext } from 'node:test' */
/** @import { Settings } from '../../settings.js' */
/** @import { Access } from '../../lib/servers/dial.js' */

const common = {
  drivers: ['socket', 'ioredis'],
  lines: [spreadLines, variantLines],
  hashTtl: [' --once', ' --stamp'],
  isAlternating: true,
}
strategyContract({ ...common, name: 'one server', cluster: false })
strategyContract({ ...common, name: 'a local cluster', cluster: true })

// The rest looks at the wire, or at a time that only a test can make pass.

/** A server that keeps every byte and has one answer for everything. @param {TestContext} t */
const recorder = async (t) => {
  let bytes = Buffer.alloc(0)
  let answered = 0
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk])
      // Every argument before a command's last holds no star at the start of a line.
      const begun = bytes.toString('latin1').split(/(?<![^\n])\*\d+\r\n/).length - 1
      const complete = bytes.subarray(-2).toString() === '\r\n' ? begun : begun - 1
      socket.write(':1\r\n'.repeat(complete - answered))
      answered = complete
    })
  })
  return { address: `127.0.0.1:${await portOf(t, server)}`, bytes: () => bytes }
}

/**
 * The writer on the socket driver, as fast as it goes, with ticks eleven seconds apart on the wall.
 * @param {Settings} settings
 * @param {{ address: string, access?: Access, epochMs: number }} where
 */
const writeAt = async (settings, { address, access = {}, epochMs }) => {
  const plan = planOf(settings, { agents: [1, 2], masters: 1, cluster: false, variant: 'HSETEX' })
  const topology = { masters: [address], owners: null }
  const ledger = ledgerOf(plan)
  let ticks = 0
  const clock = () => 0
  const driver = await socketDriver({
    plan,
    steps: strategyOf(plan).steps(),
    target: {
      topology,
      access,
      dial: (at, events) => dial(endpointOf(at), access, events),
      follows: () => true,
      refresh: async () => topology,
      loadScripts: async () => {},
    },
    ledger,
    latency: { record: () => {} },
    machine: machineWith(clock),
    onEvent: (_, text) => assert.fail(text),
    onBegun: () => {},
    onProgress: () => writing?.progress(),
  })
  /** @type {ReturnType<typeof ticksWriter> | undefined} */
  let writing
  writing = ticksWriter({ plan, driver, ledger, clock, epochMs: () => epochMs + 11_000 * ticks++ })
  writing.start()
  await writing.offered
  assert.ok(await writing.settle(1, new AbortController().signal))
  driver.close()
  assert.equal(ledger.whole.acked, 3 * plan.quantity)
}

const burst = '-q 40 -t 2 --rate max --intervals 3 --host 127.0.0.1'

test('the same plan sends the same bytes, and another seed others', async (t) => {
  for (const strategy of strategyNames('ticks')) {
    const sent = async (/** @type {number} */ seed, more = '') => {
      const { address, bytes } = await recorder(t)
      const settings = settingsOf(`${burst} --strategy ${strategy} --seed ${seed}${more}`, false)
      await writeAt(settings, { address, epochMs: 1_700_000_000_000 })
      return bytes()
    }
    const [one, again, other, stamped] = [
      await sent(1),
      await sent(1),
      await sent(2),
      strategy === 'actual-value' ? null : await sent(1, ' --stamp'),
    ]
    assert.ok(one.length > 3 * 40 * 128)
    assert.ok(one.equals(again), `${strategy}: the same plan`)
    assert.ok(!one.equals(other), `${strategy}: another seed`)
    if (stamped) assert.ok(!one.equals(stamped), `${strategy}: --stamp`)
  }
})

test('what is older than the ttl is purged, by one writer', async (t) => {
  const server = await startServer(t)
  const { host, port, password } = server
  const settings = settingsOf(`${burst} --once --ttl 10 --with extra-sorted-sets=1`, false)
  await writeAt(settings, { address: `${host}:${port}`, access: { password }, epochMs: Date.now() })
  for (const key of ['latest-ids', 'latest-ids-extra:1']) {
    const members = (await cli(server, 'ZRANGE', key, '0', '-1')).split('\n').sort()
    assert.deepEqual(members, Array.from({ length: 40 }, (_, i) => `item:${81 + i}`).sort())
  }
  // At each of two ticks one of them finds what is dead, in each of two sets.
  assert.match(await cli(server, 'INFO', 'commandstats'), /cmdstat_zremrangebyrank:calls=4,/)
})

test('a purge takes out the oldest dead ones, no more of them than it may', async (t) => {
  const { redis } = await startServer(t)
  const scores = Array.from({ length: 5200 }, (_, i) => [i < 5000 ? 10 : 20 + i, `m${i}`])
  await redis.zadd('s', ...scores.flat())
  const purge = () => redis.eval(inlineScript('purge'), 1, 's', '(20', 2000)
  assert.deepEqual([await purge(), await purge(), await purge(), await purge()], [2000, 2000, 1000, 0])
  assert.equal(await redis.zcount('s', '-inf', '+inf'), 200)
  assert.equal(await redis.eval(inlineScript('purge'), 1, 'none', '(20', 2000), 0)
})

test('other payloads are stored byte for byte', async (t) => {
  const server = await startServer(t)
  const { host, port, password } = server
  for (const [payload, rest] of /** @type {[string, string][]} */ ([
    ['zero', '\0'],
    ['sparse', '.'],
  ])) {
    const settings = settingsOf(`${burst} --ttl 60 --payload ${payload} --value-size 50`, false)
    await writeAt(settings, { address: `${host}:${port}`, access: { password }, epochMs: Date.now() })
    const values = await Promise.all([1, 40].map((n) => server.redis.get(`item:${n}`)))
    const head = payload === 'zero' ? 0 : 4
    for (const value of values) assert.equal(value?.slice(head), rest.repeat(50 - head))
    assert.equal(values[0] === values[1], payload === 'zero')
  }
})
