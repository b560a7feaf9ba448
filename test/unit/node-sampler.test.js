import assert from 'node:assert/strict'
import test from 'node:test'
import { nodeSampler } from '../../lib/probes/node-sampler.js'
import { withSums } from '../helpers/sampled-nodes.js'
import { fieldsIn, rowsOf, valuesOf } from '../helpers/table.js'

/** @import { NodeRow, SampledNode } from '../../lib/probes/node-sampler.js' */
/** @typedef {Record<string, string | number>} Fields */

/** A server that has lived for s seconds at half a core, 100 SETEX a second. @param {number} s @returns {Fields} */
const lived = (s) => ({
  ...{ run_id: 'a', role: 'master', master_replid: 'history', master_repl_offset: 5000 * s },
  ...{ used_cpu_user: 0.5 * s, used_cpu_sys: 0.25 * s },
  ...{ used_cpu_user_main_thread: 0.375 * s, used_cpu_sys_main_thread: 0.125 * s },
  ...{ total_commands_processed: 100 * s, expired_keys: 10 * s, evicted_keys: 0, connected_clients: 4 },
  ...{ total_net_input_bytes: 2000 * s, total_net_output_bytes: 1000 * s },
  ...{ used_memory: 10_000, used_memory_startup: 1000, maxmemory: 0, total_system_memory: 1_000_000 },
  ...{ mem_clients_normal: 200, mem_clients_slaves: 300, mem_replication_backlog: 500 },
  mem_total_replication_buffers: 800,
  cmdstat_setex: `calls=${100 * s},usec=${250 * s},usec_per_call=2.50`,
  'cmdstat_config|get': 'calls=1,usec=3,usec_per_call=3.00',
  ...{ db0: 'keys=7,expires=7,avg_ttl=0', db1: 'keys=2,expires=0,avg_ttl=0' },
})

const textOf = (/** @type {Fields} */ fields) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}:${value}\r\n`)
    .join('')

const master = /** @type {const} */ ({ address: 'm', shard: 1, role: 'master' })

/**
 * A sampler over figures that the test writes: what is not there refuses, a promise is waited for.
 * @param {{ answers?: Record<string, Fields | Promise<Fields> | undefined>, nodes?: SampledNode[], db?: number, seen?: () => Record<string, number> }} [target]
 */
const rig = ({ answers = {}, nodes = [master], db, seen } = {}) => {
  const time = { ms: 0, stored: 0 }
  const taken = /** @type {NodeRow[][]} */ ([])
  const asked = /** @type {string[]} */ ([])
  const sampler = nodeSampler(
    {
      ...{ nodes: () => nodes, clock: () => time.ms, timeLimitMs: 5, db },
      onRows: (rows) => taken.push(rows.map((row) => ({ ...row }))),
      info: async (address) => {
        asked.push(address)
        const fields = await answers[address]
        if (!fields) throw new Error('refused')
        return textOf(fields)
      },
    },
    { carried: () => time.stored, ...(seen && { seen }) },
  )
  const watched = withSums(sampler)
  /** What the master answers at s is this. @param {number} s @param {Fields | Promise<Fields>} [fields] */
  const at = (s, fields) => {
    time.ms = s * 1000
    if (fields) answers.m = fields
    return watched.sample()
  }
  /** The master's row at s, when it has lived as long and differs in this. @param {number} s @param {Fields} [change] */
  const row = async (s, change) => (await at(s, { ...lived(s), ...change }))[0]
  /** Asks at s, when there is no answer in time; the function gives it. @param {number} s */
  const stalledAt = async (s) => {
    let answer = /** @type {(fields: Fields) => void} */ (() => {})
    const [{ gap }] = await at(s, new Promise((resolve) => (answer = resolve)))
    assert.equal(gap, 'silent')
    return answer
  }
  return { sampler: watched, time, asked, at, row, stalledAt, nodes, answers, taken }
}

test('the first answer has gauges, the next ones differences', async () => {
  const { row } = rig()
  const first = await row(1)
  assert.deepEqual(first, {
    ...{ ...master, at_ms: 1000, memory_bytes: 10_000, memory_limit_bytes: 1_000_000, data_bytes: 8000 },
    ...{ keys: 9, clients: 4, rss_bytes: null, maxmemory: 0, policy: null },
  })
  assert.deepEqual(await row(3), {
    ...{ ...first, at_ms: 3000, over_ms: 2000, engine_cpu_s: 1, cpu_s: 1.5, engine_cpu_pct: 50, cpu_pct: 75 },
    ...{ calls: 200, commands_per_s: 100, commands: { setex: { calls: 200, usec: 500 } } },
    ...{ net_in_bytes: 4000, net_out_bytes: 2000, info_bytes: textOf(lived(1)).length },
    ...{ expired: 20, evicted: 0, connections: null, repl_bytes: null, carried: 0, carried_asked: 0 },
    ...{ expirations: 20, evictions: 0, keyspace_hits: null, keyspace_misses: null, over_limit_s: null },
  })
})

test('what replies meant is counted between the same answers as what the server counts', async () => {
  const counts = { hit: 0, miss: 0 }
  const { row, stalledAt } = rig({ seen: () => ({ ...counts }) })
  const at = async (/** @type {number} */ s, /** @type {number} */ hit, /** @type {number} */ miss) => {
    Object.assign(counts, { hit, miss })
    return (await row(s)).seen
  }
  assert.equal(await at(1, 10, 5), undefined)
  assert.deepEqual(await at(2, 30, 5), { hit: 20 })
  Object.assign(counts, { hit: 40, miss: 6 })
  const answer = await stalledAt(3)
  // Counted when the answer comes, not when it is asked for.
  Object.assign(counts, { hit: 70, miss: 9 })
  answer(lived(3))
  await Promise.resolve()
  assert.deepEqual((await row(3.5)).seen, { hit: 40, miss: 4 })
})

/** Asserts what rows of a master have: a line has a second, what it says then that differs (`lived`: as of that second), and fields of the row. @param {string} lines */
const assertRows = async (lines, { row } = rig()) => {
  for (const [said, expected] of rowsOf(lines)) {
    const { lived: age, ...change } = fieldsIn(said)
    const fields = { ...(age !== undefined && lived(age)), ...change }
    const found = /** @type {any} */ (await row(Number.parseFloat(said), fields))
    for (const [name, value] of Object.entries(fieldsIn(expected)))
      assert.equal(found[name] ?? null, value, `${said}: ${name}`)
  }
}

const lua = 'used_memory=1010000 used_memory_vm_total=1065536'
for (const [counts, server] of rowsOf(`
8000 -> redis_version="7.4.1" mem_allocator="jemalloc-5.3.0"
8000 -> redis_version="8.2.3" mem_allocator="jemalloc-5.3.0"
1008000 -> redis_version="7.2.4" mem_allocator="jemalloc-5.3.0"
1008000 -> redis_version="7.2.4" valkey_version="9.1.2" mem_allocator="jemalloc-5.3.0"
1008000 -> redis_version="8.2.3" mem_allocator="libc"
1008000 -> redis_version="8.2.3" mem_allocator="jemalloc-5.3.0" used_memory_vm_total=""
`))
  test(`what the Lua engine holds is no data where used memory has it, by jemalloc in Redis from 7.4 on: ${server}`, () =>
    assertRows(`1 ${lua} ${server} -> data_bytes=${counts}`))

test('of the bytes of a node our INFO is known: the answer before, which is sent after it was made up', async () => {
  const { row } = rig()
  const longer = { longer: 'x'.repeat(100) }
  const rows = [await row(1), await row(2, longer), await row(3)]
  const lengths = [textOf(lived(1)).length, textOf({ ...lived(2), ...longer }).length]
  assert.deepEqual(valuesOf(rows, 'info_bytes'), [undefined, ...lengths])
})

for (const [name, lines] of Object.entries({
  'the server reports the time between its answers, unless its clock was set': `
1 server_time_usec=1000000 -> -
2.25 lived=2 server_time_usec=2000000 -> cpu_pct=75
3 server_time_usec=9000000000 -> over_ms=750`,
  'active times are read where a server with io-threads reports them, and never as more than its CPU': `
1 io_threaded_reads_processed=1 used_active_time_main_thread=5 used_active_time_io_thread_1=3.5 used_active_time_io_thread_2=3.5 -> -
2 io_threaded_reads_processed=2 used_active_time_main_thread=5.125 used_active_time_io_thread_1=3.53125 used_active_time_io_thread_2=3.53125 -> engine_cpu_pct=12.5 cpu_pct=18.75 cpu_upper_bound=null
3 io_threaded_reads_processed=3 used_active_time_main_thread=6 used_active_time_io_thread_1=4 used_active_time_io_thread_2=4 -> engine_cpu_pct=50 cpu_pct=75 cpu_upper_bound=true
4 io_threaded_reads_processed=4 used_active_time_main_thread=7 used_active_time_io_thread_1=0.5 used_active_time_io_thread_2=0.5 -> engine_cpu_pct=50 cpu_pct=75 gap=null`,
  'a restart is seen by the run id, or where that is hidden by the uptime; RESETSTAT is none': `
1 uptime_in_seconds=100 -> -
2 run_id="b" uptime_in_seconds=101 -> restarted=true gap="restarted"
3 run_id="b" uptime_in_seconds=1 -> restarted=true gap="restarted"
4 lived=0 run_id="b" uptime_in_seconds=2 -> restarted=null gap="restarted"`,
}))
  test(name, () => assertRows(lines))

test('flushes of our database are counted, and those of another are not', () =>
  assertRows(
    `
1 cmdstat_flushdb="calls=1,usec=9" -> flushes=null
2 cmdstat_flushdb="calls=1,usec=9" -> flushes=null
3 cmdstat_flushdb="calls=2,usec=9" db1="keys=0" -> flushes=1
4 cmdstat_flushdb="calls=4,usec=9" db1="keys=2" -> flushes=2
5 cmdstat_flushdb="calls=5,usec=9" db0="keys=0" -> flushes=null
6 cmdstat_flushdb="calls=5,usec=9" cmdstat_flushall="calls=1,usec=9" db0="keys=0" -> flushes=1
7 cmdstat_setex="calls=1,usec=1" cmdstat_flushdb="calls=2,usec=9" -> flushes=2`,
    rig({ db: 1 }),
  ))

// Nothing comes by the threads before the third second.
for (const [bound, version] of rowsOf(`
true -> redis_version="6.2.14"
true -> redis_version="7.0.15"
null -> redis_version="8.2.3"
true -> redis_version="7.2.4" valkey_version="8.0.1"
null -> redis_version="7.2.4" valkey_version="9.1.2" used_active_time_io_thread_1=0
`))
  test(`threads that wait in a loop make the CPU an upper bound while they are at work: ${version}`, async () => {
    const made = rig()
    const written = 'io_threaded_writes_processed=0'
    const lines = `
1 ${version} io_threaded_reads_processed=7 ${written} -> cpu_upper_bound=null
2 ${version} io_threaded_reads_processed=7 ${written} -> cpu_upper_bound=null
3 ${version} io_threaded_reads_processed=30 ${written} -> cpu_upper_bound=${bound}`
    await assertRows(lines, made)
    assert.equal(made.sampler.summary().nodes[0].cpu_upper_bound ?? null, JSON.parse(bound))
  })

test('a restart and a reset are gaps; the window shows neither less than nothing nor what was lost', async () => {
  const { sampler, row, time } = rig()
  time.ms = 1000
  await row(1)
  await sampler.mark()
  await row(2)
  const restarted = await row(3, { ...lived(0.5), run_id: 'b' })
  assert.deepEqual([restarted.gap, restarted.cpu_pct], ['restarted', undefined])
  await row(4, { ...lived(1.5), run_id: 'b' })
  const reset = await row(5, { ...lived(2.5), run_id: 'b', cmdstat_setex: 'calls=1,usec=1' })
  assert.equal(reset.gap, 'restarted')
  const { nodes, totals } = sampler.summary()
  const seen = { engine_cpu_pct: 50, cpu_pct: 75, commands_per_s: 100, memory_bytes: 10_000 }
  assert.deepEqual(nodes, [{ ...master, ...seen, sampled_s: 2, gaps: 2 }])
  assert.equal(totals.cpu_s, 1.5)
  assert.deepEqual(totals.commands, { setex: { calls: 200, usec: 500 } })
})

test('a silent node is asked once, leaves gaps, and its late answer counts', async () => {
  const { sampler, at, row, stalledAt, asked } = rig()
  await row(1)
  await sampler.mark()
  const before = asked.length
  const answer = await stalledAt(2)
  assert.equal((await at(3))[0].gap, 'silent')
  assert.equal(asked.length, before + 1)
  answer(lived(4))
  const late = await row(4)
  assert.deepEqual([late.over_ms, late.cpu_pct], [3000, 75])
  assert.equal(asked.length, before + 1)
  assert.equal(sampler.summary().nodes[0].gaps, 2)
})

test('samples asked for together are one, which counts once', async () => {
  const { sampler, at, time, answers, asked } = rig()
  await at(1, { ...lived(1), evicted_keys: 10 })
  answers.m = { ...lived(3), evicted_keys: 30 }
  time.ms = 3000
  const [second, next] = await Promise.all([sampler.sample(), sampler.sample()])
  assert.deepEqual([second[0].evicted, next], [20, []])
  assert.equal(asked.length, 2)
  assert.equal(sampler.summary().totals.evicted, 20)
})

test('a node silent at the mark joins the window with its next answer', async () => {
  const { sampler, row, answers, time } = rig()
  await row(1)
  answers.m = undefined
  time.ms = 2000
  assert.equal((await sampler.mark())[0].gap, 'refused')
  for (const s of [3, 4]) await row(s)
  assert.equal(sampler.summary().totals.cpu_s, 0.75)
})

for (const isLate of [false, true])
  test(`a node asked before the window answers ${isLate ? 'after' : 'while'} it begins: it joins with its next answer`, async () => {
    const played = async (/** @type {Fields} */ then) => {
      const { sampler, row, stalledAt, time } = rig()
      await row(1)
      const answer = await stalledAt(2)
      time.ms = 2500
      const marked = sampler.mark()
      await Promise.resolve()
      if (isLate) await marked
      answer({ ...lived(2), evicted_keys: 5 })
      await marked
      const held = sampler.lastStoredData()
      const rows = []
      for (const s of [3, 4, 5]) rows.push(await row(s, then))
      return { rows, held, totals: sampler.summary().totals }
    }
    const flushed = await played({ evicted_keys: 12, cmdstat_flushall: 'calls=1,usec=9' })
    assert.equal(flushed.totals.evicted, 12)
    assert.equal(flushed.totals.commands.setex.calls, isLate ? 100 : 200)
    assert.equal(flushed.rows.filter(({ flushes }) => flushes === 1).length, 1)
    assert.equal(flushed.rows.filter(({ flushes }) => flushes !== undefined).length, 1)
    if (!isLate) assert.deepEqual(flushed.held, { dataBytes: 8000, keys: 9 })
    const restarted = await played({ run_id: 'b' })
    assert.equal(restarted.rows.filter((row) => row.restarted).length, 1)
  })

test('nodes appear, vanish and change roles: one master a shard holds the data, replicas cost CPU', async () => {
  const linked = { run_id: 'r', role: 'slave', master_link_status: 'up' }
  const replica = (/** @type {number} */ s) => ({ ...lived(s), ...linked, slave_repl_offset: 5000 * s - 20 })
  const nodes = /** @type {SampledNode[]} */ ([master, { address: 'r', shard: 1, role: 'replica' }])
  const { sampler, at, answers } = rig({ answers: { r: replica(1) }, nodes })
  await at(1, lived(1))
  await sampler.mark()
  answers.r = replica(2)
  const rows = await at(2, lived(2))
  const seen = ['master', undefined, undefined, 'replica', 'up', 20]
  assert.deepEqual(valuesOf(rows, 'role', 'link', 'lag_bytes'), seen)
  const before = sampler.summary().totals
  assert.deepEqual([before.cpu_s, before.net_bytes], [1.5, 3000])

  nodes.shift()
  answers.r = { ...lived(3), run_id: 'r', used_memory: 12_000 }
  const [gone, promoted] = await at(3)
  assert.deepEqual([gone.gap, promoted.role], ['unlisted', 'master'])
  const { nodes: told, totals } = sampler.summary()
  assert.deepEqual(valuesOf(told, 'address', 'role', 'gaps'), ['m', 'master', 1, 'r', 'master', 0])
  assert.deepEqual([totals.data_bytes, totals.net_bytes], [10_000, 6000])
})

test('a shard that is removed holds nothing more', async () => {
  const nodes = /** @type {SampledNode[]} */ ([master, { address: 's', shard: 2, role: 'master' }])
  const { sampler, at } = rig({ answers: { s: { ...lived(1), run_id: 's' } }, nodes })
  await at(1, lived(1))
  const both = sampler.lastStoredData()
  nodes.pop()
  await at(2, lived(2))
  const one = sampler.lastStoredData()
  assert.deepEqual([both.dataBytes, both.keys], [2 * Number(one.dataBytes), 2 * Number(one.keys)])
})

test('what a server does not tell is null, never NaN', async () => {
  const { sampler, at } = rig()
  await at(1, { run_id: 'a', role: 'master' })
  await sampler.mark()
  const rows = await at(2)
  assert.deepEqual(valuesOf(rows, 'cpu_pct', 'commands_per_s', 'memory_bytes', 'keys'), [null, null, null, 0])
  assert.doesNotMatch(JSON.stringify(sampler.summary()), /NaN/)
  const { nodes, totals } = sampler.summary()
  assert.deepEqual([nodes[0].cpu_pct, totals.cpu_s, totals.data_bytes], [null, null, null])
})

test('items are counted between the same two answers as commands, at least and at most', async () => {
  const late = { address: 'n', shard: 2, role: /** @type {const} */ ('master') }
  const { sampler, at, time, answers, stalledAt } = rig({ nodes: [master, late], answers: { n: lived(1) } })
  const counted = () => sampler.summary().totals.counted
  await at(0, lived(0))
  assert.deepEqual(rig().sampler.summary().totals.counted, { least: 0, most: 0 }, 'no server answered')
  time.stored = 100
  await sampler.mark()
  const answer = await stalledAt(1)
  time.stored = 500
  answer(lived(2))
  await at(2)
  assert.deepEqual(counted(), { least: 400, most: 400 })
  time.stored = 900
  answers.n = undefined
  await at(3, lived(3))
  assert.deepEqual(counted(), { least: 400, most: 800 }, 'one of the masters did not answer')
  assert.equal(sampler.summary().totals.carried, 800, 'a master that was watched less divides no costs')
  answers.n = lived(4)
  await at(4, lived(4))
  assert.deepEqual(counted(), { least: 800, most: 800 })
})

test('items that were stored while the first INFO was under way may be among its commands or not', async () => {
  const { sampler, at, time, stalledAt } = rig()
  time.stored = 100
  const answer = await stalledAt(1)
  time.stored = 150
  answer(lived(2))
  await at(2)
  time.stored = 200
  await at(3, lived(3))
  assert.deepEqual(sampler.summary().totals.counted, { least: 50, most: 100 })
})

test('evictions before the window are in the sum, and in the rows that are handed on', async () => {
  const { sampler, row, taken, time, answers } = rig()
  await row(1)
  await row(2, { evicted_keys: 5 })
  time.ms = 2900
  answers.m = { ...lived(2.9), evicted_keys: 12 }
  await sampler.mark()
  await row(4, { evicted_keys: 13 })
  assert.equal(sampler.summary().totals.evicted, 13)
  assert.deepEqual(valuesOf(taken.flat(), 'evicted'), [undefined, 5, 7, 1])
})

test('a replica that does not answer is as far behind as its master says', async () => {
  const replica = { shard: 1, role: /** @type {const} */ ('replica') }
  const replicas = ['10.0.0.1:7001', 'a.example:7002'].map((address) => ({ ...replica, address }))
  const { at } = rig({ nodes: [master, ...replicas] })
  const seen = async (/** @type {number} */ s, /** @type {number} */ silentS) => {
    const line = (/** @type {number} */ port, /** @type {number} */ offset) =>
      `ip=10.0.0.${port - 7000},port=${port},state=online,offset=${offset},lag=${silentS}`
    const slaves = { slave0: line(7002, 3000), slave1: line(7001, 1000) }
    const joining = { slave2: 'ip=10.0.0.3,port=7003,state=wait_bgsave,offset=0,lag=9' }
    return valuesOf(await at(s, { ...lived(s), ...slaves, ...joining }), 'lag_bytes')
  }
  await seen(1, 0)
  // A healthy one may have acknowledged nothing for a second.
  assert.deepEqual(await seen(2, 1), [undefined, undefined, undefined])
  assert.deepEqual(await seen(3, 2), [undefined, 14_000, 12_000])
})
