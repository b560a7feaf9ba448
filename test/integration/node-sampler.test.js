import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import test from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { run as runMillrace } from '../../lib/index.js'
import { nodeSampler } from '../../lib/probes/node-sampler.js'
import { addressOf } from '../../lib/servers/address.js'
import { parseInfo } from '../../lib/wire/info.js'
import { peer } from '../helpers/peers.js'
import { withSums } from '../helpers/sampled-nodes.js'
import { cli, frozenDuring, startReplica, startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

/** @import { TestServer } from '../helpers/servers.js' */
/** @import { NodeRow } from '../../lib/probes/node-sampler.js' */

const clock = () => performance.now()
const run = promisify(execFile)

/** @param {TestServer[]} servers the first is the master @param {number} [timeLimitMs] */
const watch = (servers, timeLimitMs) => {
  const byAddress = new Map(servers.map((server) => [addressOf(server), server]))
  let asked = 0
  let infoBytes = 0
  const sampler = withSums(
    nodeSampler({
      nodes: () =>
        [...byAddress.keys()].map((address, i) => ({ address, shard: 1, role: i ? 'replica' : 'master' })),
      info: async (address) => {
        asked++
        const text = await /** @type {TestServer} */ (byAddress.get(address)).redis.info('everything')
        if (address === addressOf(servers[0])) infoBytes += text.length
        return text
      },
      clock,
      timeLimitMs,
    }),
  )
  let silent = 0
  /** Samples until no node is late. @param {() => Promise<NodeRow[]>} sample */
  const whole = async (sample) => {
    for (silent = 0; ; silent++) {
      const rows = await sample()
      if (rows.every(({ gap }) => gap !== 'silent')) return rows
    }
  }
  return {
    ...sampler,
    mark: () => whole(sampler.mark),
    sample: () => whole(sampler.sample),
    /** A sample as it comes. */
    once: sampler.sample,
    /** How many samples were late before the last one. */
    silent: () => silent,
    asked: () => asked,
    /** Bytes of what the first server answered. */
    infoBytes: () => infoBytes,
    byAddress,
  }
}

/** User and system time of a whole process as the kernel counts it. @param {number} pid */
const kernelCpuS = (pid) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return (user + system) / 100
}

/** @param {TestServer} server @param {...string} args */
const benchmark = ({ host, port, password }, ...args) =>
  run('redis-benchmark', ['-h', host, '-p', String(port), '-a', password, '-q', ...args])

test('CPU as the kernel counts it, commands as redis-benchmark sent them', async (t) => {
  const server = await startServer(t)
  const { mark, sample, summary } = watch([server])
  const moment = () => ({ s: kernelCpuS(server.pid), ms: clock() })
  const ahead = moment()
  await mark()
  const before = moment()
  let runs = 0
  for (; kernelCpuS(server.pid) - before.s < 0.5; runs++)
    await benchmark(server, '-t', 'set', '-n', '100000', '-P', '4', '-c', '8', '-d', '128', '-r', '1000')
  const after = moment()
  const [row] = await sample()
  const behind = moment()
  const { nodes, totals } = summary()

  // The window begins between two of these moments and ends between the two others, however far apart they are. The kernel
  // shows hundredths of a second, of each kind apart.
  const [fewestS, mostS] = [after.s - before.s - 0.02, behind.s - ahead.s + 0.02]
  const cpuS = Number(totals.cpu_s)
  assert.ok(cpuS >= fewestS && cpuS <= mostS, `${cpuS} s, from ${fewestS} to ${mostS}`)
  const [fewestMs, mostMs] = [after.ms - before.ms, behind.ms - ahead.ms]
  const overMs = Number(row.over_ms)
  assert.ok(overMs >= fewestMs && overMs <= mostMs, `${overMs} ms, from ${fewestMs} to ${mostMs}`)
  const [usedPct, pct, enginePct] = [(cpuS / overMs) * 1e5, nodes[0].cpu_pct, nodes[0].engine_cpu_pct].map(
    Number,
  )
  assert.ok(Math.abs(pct / usedPct - 1) < 0.01, `${pct} % of ${usedPct}`)
  assert.ok(enginePct > pct / 2 && enginePct <= pct, `engine ${enginePct} % of ${pct}`)

  const sent = runs * 100_000
  assert.equal(totals.commands.set.calls, sent)
  assert.ok(totals.commands.set.usec > 0)
  assert.equal(row.keys, 1000)
  assert.equal(row.keys, Number(await cli(server, 'dbsize')))
  const processed = Number(nodes[0].commands_per_s) * (overMs / 1000)
  assert.ok(processed >= sent && processed < sent + 100 * runs, String(processed))
  const bytes = sent * ('*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000001\r\n$128\r\n\r\n+OK\r\n'.length + 128)
  assert.ok(Math.abs(Number(totals.net_bytes) / bytes - 1) < 0.01, `${totals.net_bytes} of ${bytes}`)
})

for (const [name, bound] of /** @type {[string | undefined, boolean][]} */ ([
  [undefined, true],
  ['redis-8.2', false],
  ['valkey-9.1', false],
]))
  test(`two io-threads on ${name ?? 'the server at hand'}: ${bound ? 'its CPU is an upper bound' : 'its CPU is true'}`, async (t) => {
    const bin = name === undefined ? undefined : peer(t, name)
    if (name !== undefined && !bin) return
    const server = await startServer(t, { bin, config: { 'io-threads': '2' } })
    if (bound) {
      const { redis_version: version } = parseInfo(await server.redis.info('server')).fields
      if (!/^[67]\./.test(version)) return t.skip(`${version} does not wait in a loop`)
    }
    const { mark, sample, summary } = watch([server])
    const fields = async () => parseInfo(await server.redis.info('cpu')).fields
    const ahead = await fields()
    await mark()
    const before = await fields()
    await benchmark(server, '-c', '50', '-P', '4', '-n', '20000', 'SET', 'key', 'value')
    const after = await fields()
    const [row] = await sample()
    const behind = await fields()
    const { nodes, totals } = summary()
    const riseOf = (/** @type {RegExp} */ names, from = before, to = after) =>
      Object.keys(to).reduce(
        (sum, key) => (names.test(key) ? sum + Number(to[key]) - Number(from[key]) : sum),
        0,
      )
    const [cpu, engine, active] = [
      /^used_cpu_(user|sys)$/,
      /^used_cpu_\w+_main_thread$/,
      /^used_active_time_/,
    ]
    const [least, most, cpuS] = [riseOf(cpu), riseOf(cpu, ahead, behind), Number(totals.cpu_s)]
    const [activeS, mainS] = [riseOf(active), riseOf(/^used_active_time_main/)]
    t.diagnostic(`${cpuS} s of ${least} s of CPU, active ${activeS} s, ${row.cpu_upper_bound}`)
    assert.ok(cpuS > 0 && cpuS < most + 0.001, `${cpuS} of ${most}`)
    // Active time is by the wall: on a machine that has no core for each thread it says less.
    if (mainS <= riseOf(engine) && activeS - mainS <= least - riseOf(engine)) {
      assert.equal(row.cpu_upper_bound === true, bound)
      assert.equal(nodes[0].cpu_upper_bound === true, bound)
    }
    if (activeS === 0) return assert.ok(cpuS > least - 0.001, `${cpuS} of ${least}`)
    const mostActive = riseOf(active, ahead, behind)
    assert.ok(cpuS < mostActive + 0.001, `${cpuS} of ${mostActive} s of active time`)
  })

test('a replica: its link and lag, its feed in the master’s output, its buffers not in the data', async (t) => {
  const master = await startServer(t)
  const replica = await startReplica(t, master)
  const { mark, sample, summary, infoBytes } = watch([master, replica])
  const replicaRow = async () => (await sample())[1]
  const offset = async () =>
    Number(parseInfo(await master.redis.info('replication')).fields.master_repl_offset)
  while ((await replicaRow()).link !== 'up') await setTimeout(20)

  const before = await mark()
  const [writtenBefore, infoBefore] = [await offset(), infoBytes()]
  assert.equal(columns(before, 'role'), 'master, replica')
  await master.redis.eval(
    `for i = 1, ARGV[1] do redis.call('set', 'item:' .. i, string.rep('x', 128)) end`,
    0,
    5000,
  )
  assert.equal(await master.redis.wait(1, 60_000), 1)
  while ((await replicaRow()).lag_bytes !== 0) await setTimeout(20)

  const [row] = await sample()
  const { totals } = summary()
  assert.equal(totals.commands.set.calls, 5000, 'the replica’s own SETs are not counted again')
  const feeds = (Number(totals.net_bytes) - infoBytes() + infoBefore) / ((await offset()) - writtenBefore)
  assert.ok(feeds > 0.9 && feeds < 1.5, `the feed is counted ${feeds} times`)

  const perItem = (Number(row.data_bytes) - Number(before[0].data_bytes)) / 5000
  const perItemAll = (Number(row.memory_bytes) - Number(before[0].memory_bytes)) / 5000
  const told = Number(await cli(master, 'memory', 'usage', 'item:1234'))
  t.diagnostic(`data ${perItem} bytes an item, MEMORY USAGE ${told}, used_memory ${perItemAll}`)
  assert.ok(perItem > 0.9 * told && perItem < 1.2 * told, `${perItem} bytes an item, MEMORY USAGE ${told}`)
  assert.ok(perItemAll > perItem + 100, 'the replication buffers did grow')
})

test('a frozen server leaves gaps and is caught up with; nothing piles up on it', async (t) => {
  const server = await startServer(t)
  const { mark, once: sample, summary, asked } = watch([server], 100)
  await mark()
  const frozenMs = await frozenDuring(server, async () => {
    const before = asked()
    const fromMs = clock()
    for (let i = 0; i < 3; i++) assert.equal((await sample())[0].gap, 'silent')
    assert.equal(asked(), before + 1)
    return clock() - fromMs
  })
  let [row] = await sample()
  while (row.gap) [row] = await sample() // the first answer may be to the question of before
  assert.ok(Number(row.over_ms) > frozenMs - 1, `${row.over_ms} ms, frozen for ${frozenMs}`)
  const { nodes } = summary()
  assert.ok(nodes[0].gaps >= 3)
  assert.ok(Number(nodes[0].cpu_pct) >= 0)
})

test('a server that stops refuses, comes back with new counters, and shows no negative figure', async (t) => {
  const first = await startServer(t)
  const { mark, sample, summary, silent, byAddress } = watch([first])
  await cli(first, 'eval', `for i = 1, 100000 do redis.call('set', i, i) end`, '0')
  await mark()
  await first.stop()
  assert.equal((await sample())[0].gap, 'refused')
  let late = silent()

  byAddress.set(addressOf(first), await startServer(t))
  const [again] = await sample()
  late += silent()
  assert.deepEqual([again.gap, again.keys], ['restarted', 0])
  const [row] = await sample()
  late += silent()
  for (const value of [row.cpu_pct, row.commands_per_s, row.net_in_bytes]) assert.ok(Number(value) >= 0)
  const { nodes, totals } = summary()
  assert.equal(nodes[0].gaps, 2 + late)
  for (const value of [totals.cpu_s, totals.net_bytes, row.expired]) assert.ok(Number(value) >= 0)
  assert.equal(totals.commands.set, undefined)
})

test('network per item is the same at a low rate and at a high one when our own probes are taken off', async (t) => {
  const server = await startServer(t)
  const { host, port, password } = server
  const at = async (/** @type {number} */ quantity) => {
    await server.redis.flushall()
    const { server: costs, client } = /** @type {any} */ (
      await runMillrace({ host, port, password, quantity, duration: '3s', idleCost: 'always' })
    )
    assert.ok(costs.net_bytes_per_item_net > 0, JSON.stringify(costs.idle))
    return { ...costs, client }
  }
  const [low, high] = [await at(200), await at(5000)]
  const [few, many] = [low.net_bytes_per_item_net, high.net_bytes_per_item_net]
  t.diagnostic(
    `${few} and ${many} B an item; with our probes ${low.net_bytes_per_item} and ${high.net_bytes_per_item}`,
  )
  // Names of more items have more digits, and a batch of few items is a command all the same.
  assert.ok(Math.abs(many / few - 1) < 0.06, `${few} B an item at 200/s, ${many} B at 5,000/s`)
  // One answer to INFO at least, of more than this.
  assert.ok(600 * (low.net_bytes_per_item - few) > 4000, `${low.net_bytes_per_item}, ${few}`)
  // The process takes most of its CPU at a low rate by itself.
  const { idle_pct: idlePct, cpu_us_per_item: gross, cpu_us_per_item_net: net } = low.client
  assert.ok(idlePct > 0, `${idlePct} % idle`)
  assert.ok(net >= 0 && net < gross, `${net} of ${gross} us an item`)
})
