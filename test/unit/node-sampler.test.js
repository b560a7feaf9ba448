import assert from 'node:assert/strict'
import test from 'node:test'
import { nodeSampler } from '../../lib/measure/node-sampler.js'
import { withSums } from '../helpers/sampled-nodes.js'
import { valuesOf } from '../helpers/table.js'

/** @import { SampledNode } from '../../lib/measure/node-sampler.js' */

/** @typedef {Record<string, string | number>} Fields */

/** A server that has lived for s seconds at half a core, 100 SETEX a second. @param {number} s @returns {Fields} */
const lived = (s) => ({
  run_id: 'a',
  role: 'master',
  master_replid: 'history',
  master_repl_offset: 5000 * s,
  used_cpu_user: 0.5 * s,
  used_cpu_sys: 0.25 * s,
  used_cpu_user_main_thread: 0.375 * s,
  used_cpu_sys_main_thread: 0.125 * s,
  total_commands_processed: 100 * s,
  total_net_input_bytes: 2000 * s,
  total_net_output_bytes: 1000 * s,
  expired_keys: 10 * s,
  evicted_keys: 0,
  used_memory: 10_000,
  maxmemory: 0,
  total_system_memory: 1_000_000,
  used_memory_startup: 1000,
  mem_clients_normal: 200,
  mem_clients_slaves: 300,
  mem_replication_backlog: 500,
  mem_total_replication_buffers: 800,
  connected_clients: 4,
  cmdstat_setex: `calls=${100 * s},usec=${250 * s},usec_per_call=2.50`,
  'cmdstat_config|get': 'calls=1,usec=3,usec_per_call=3.00',
  db0: 'keys=7,expires=7,avg_ttl=0',
  db1: 'keys=2,expires=0,avg_ttl=0',
})

/**
 * A sampler over figures that the test writes: what is not there refuses, a promise is waited for.
 * @param {Record<string, Fields | Promise<Fields> | undefined>} answers by address
 * @param {SampledNode[]} nodes
 * @param {number} [db]
 */
const rig = (answers, nodes = [{ address: 'm', shard: 1, role: 'master' }], db) => {
  const time = { ms: 0 }
  /** @type {import('../../lib/measure/node-sampler.js').NodeRow[][]} */
  const taken = []
  /** @type {string[]} */
  const asked = []
  const sampler = nodeSampler({
    nodes: () => nodes,
    clock: () => time.ms,
    timeLimitMs: 5,
    db,
    onRows: (rows) => taken.push(rows.map((row) => ({ ...row }))),
    info: async (address) => {
      asked.push(address)
      const fields = await answers[address]
      if (!fields) throw new Error('refused')
      return Object.entries(fields)
        .map(([name, value]) => `${name}:${value}\r\n`)
        .join('')
    },
  })
  const watched = withSums(sampler)
  /** @param {number} s @param {Fields} [fields] */
  const at = (s, fields) => {
    time.ms = s * 1000
    if (fields) answers.m = fields
    return watched.sample()
  }
  return { sampler: watched, time, asked, at, nodes, answers, taken }
}

test('the first answer has gauges, the next ones differences', async () => {
  const { at } = rig({})
  const [first] = await at(1, lived(1))
  assert.deepEqual(first, {
    address: 'm',
    shard: 1,
    role: 'master',
    at_ms: 1000,
    memory_bytes: 10_000,
    memory_limit_bytes: 1_000_000,
    data_bytes: 8000,
    keys: 9,
    clients: 4,
  })
  const [second] = await at(3, lived(3))
  assert.deepEqual(second, {
    ...first,
    at_ms: 3000,
    over_ms: 2000,
    engine_cpu_s: 1,
    cpu_s: 1.5,
    calls: 200,
    engine_cpu_pct: 50,
    cpu_pct: 75,
    commands_per_s: 100,
    net_in_bytes: 4000,
    net_out_bytes: 2000,
    info_bytes: second.info_bytes,
    expired: 20,
    evicted: 0,
    commands: { setex: { calls: 200, usec: 500 } },
  })
})

test('what the Lua engine holds is no data: Redis from 7.4 on counts it as used memory, if jemalloc gave it', async () => {
  const lua = 1_000_000
  const known = { ...lived(1), used_memory: 10_000 + lua, used_memory_vm_total: 65_536 + lua }
  const dataOf = async (/** @type {Fields} */ fields) => {
    const [{ data_bytes: data }] = await rig({}).at(1, { ...known, ...fields })
    return data
  }
  const jemalloc = { mem_allocator: 'jemalloc-5.3.0' }
  assert.equal(await dataOf({ ...jemalloc, redis_version: '7.4.1' }), 8000)
  assert.equal(await dataOf({ ...jemalloc, redis_version: '8.2.3' }), 8000)
  for (const other of [
    { ...jemalloc, redis_version: '7.2.4' },
    { ...jemalloc, redis_version: '7.2.4', valkey_version: '9.1.2' },
    { mem_allocator: 'libc', redis_version: '8.2.3' },
  ])
    assert.equal(await dataOf(other), 8000 + lua)
  assert.equal(await dataOf({ ...jemalloc, redis_version: '8.2.3', used_memory_vm_total: '' }), 8000 + lua)
})

test('of the bytes of a node our INFO is known: the answer before, which is sent after it was made up', async () => {
  const { at } = rig({})
  const textOf = (/** @type {object} */ fields) =>
    Object.entries(fields)
      .map(([name, value]) => `${name}:${value}\r\n`)
      .join('')
  await at(1, lived(1))
  const [second] = await at(2, { ...lived(2), longer: 'x'.repeat(100) })
  const [third] = await at(3, lived(3))
  assert.equal(second.info_bytes, textOf(lived(1)).length)
  assert.equal(third.info_bytes, textOf({ ...lived(2), longer: 'x'.repeat(100) }).length)
})

test('the server tells the time between its answers, unless its clock was set', async () => {
  const { at } = rig({})
  await at(1, { ...lived(1), server_time_usec: 1_000_000 })
  const [late] = await at(2.25, { ...lived(2), server_time_usec: 2_000_000 })
  assert.equal(late.cpu_pct, 75)
  const [moved] = await at(3, { ...lived(3), server_time_usec: 9_000_000_000 })
  assert.equal(moved.over_ms, 750)
})

test('threads that wait in a loop make the CPU an upper bound while they are at work', async () => {
  const looping = (/** @type {number} */ s, /** @type {Fields} */ version) => ({
    ...lived(s),
    ...version,
    io_threaded_reads_processed: s < 3 ? 7 : 10 * s,
    io_threaded_writes_processed: 0,
  })
  /** @type {[Fields, boolean][]} */
  const versions = [
    [{ redis_version: '6.2.14' }, true],
    [{ redis_version: '7.0.15' }, true],
    [{ redis_version: '8.2.3' }, false],
    [{ redis_version: '7.2.4', valkey_version: '8.0.1' }, true],
    [{ redis_version: '7.2.4', valkey_version: '9.1.2', used_active_time_io_thread_1: 0 }, false],
  ]
  for (const [version, bound] of versions) {
    const { sampler, at } = rig({})
    await at(1, looping(1, version))
    const [parked] = await at(2, looping(2, version))
    assert.equal(parked.cpu_upper_bound, undefined, 'nothing came by the threads')
    const [active] = await at(3, looping(3, version))
    assert.equal(active.cpu_upper_bound === true, bound, JSON.stringify(version))
    assert.equal(sampler.summary().nodes[0].cpu_upper_bound === true, bound)
  }
})

test('active times are read where a server with io-threads reports them, and never as more than its CPU', async () => {
  const withActive = (/** @type {number} */ s, /** @type {number} */ main, /** @type {number} */ io) => ({
    ...lived(s),
    used_active_time_main_thread: main,
    used_active_time_io_thread_1: io / 2,
    used_active_time_io_thread_2: io / 2,
    io_threaded_reads_processed: s,
  })
  const { at } = rig({})
  await at(1, withActive(1, 5, 7))
  const [looped] = await at(2, withActive(2, 5.125, 7.0625))
  assert.deepEqual([looped.engine_cpu_pct, looped.cpu_pct], [12.5, 18.75])
  const [preempted] = await at(3, withActive(3, 6, 8))
  assert.deepEqual([preempted.engine_cpu_pct, preempted.cpu_pct], [50, 75], 'what lived() used')
  assert.deepEqual([looped.cpu_upper_bound, preempted.cpu_upper_bound], [undefined, true])
  const [fewer] = await at(4, withActive(4, 7, 1))
  assert.deepEqual([fewer.engine_cpu_pct, fewer.cpu_pct, fewer.gap], [50, 75, undefined])
})

test('a restart and a reset are gaps; the window shows neither less than nothing nor what was lost', async () => {
  const { sampler, at, time } = rig({})
  time.ms = 1000
  await at(1, lived(1))
  await sampler.mark()
  await at(2, lived(2))
  const [restarted] = await at(3, { ...lived(0.5), run_id: 'b' })
  assert.equal(restarted.gap, 'restarted')
  assert.equal(restarted.cpu_pct, undefined)
  await at(4, { ...lived(1.5), run_id: 'b' })
  const [reset] = await at(5, { ...lived(2.5), run_id: 'b', cmdstat_setex: 'calls=1,usec=1' })
  assert.equal(reset.gap, 'restarted')
  const { nodes, totals } = sampler.summary()
  assert.deepEqual(nodes, [
    {
      address: 'm',
      shard: 1,
      role: 'master',
      engine_cpu_pct: 50,
      cpu_pct: 75,
      commands_per_s: 100,
      memory_bytes: 10_000,
      sampled_s: 2,
      gaps: 2,
    },
  ])
  assert.equal(totals.cpu_s, 1.5)
  assert.deepEqual(totals.commands, { setex: { calls: 200, usec: 500 } })
})

test('a silent node is asked once, leaves gaps, and its late answer counts', async () => {
  const { sampler, at, asked } = rig({})
  await at(1, lived(1))
  await sampler.mark()
  /** @type {(fields: Fields) => void} */
  let answer = () => {}
  const frozen = /** @type {any} */ (new Promise((resolve) => (answer = resolve)))
  const before = asked.length
  assert.equal((await at(2, frozen))[0].gap, 'silent')
  assert.equal((await at(3, frozen))[0].gap, 'silent')
  assert.equal(asked.length, before + 1)
  answer(lived(4))
  const [late] = await at(4, lived(4))
  assert.deepEqual([late.over_ms, late.cpu_pct], [3000, 75])
  assert.equal(asked.length, before + 1)
  assert.equal(sampler.summary().nodes[0].gaps, 2)
})

test('samples asked for together are one', async () => {
  const { sampler, asked } = rig({ m: lived(1) })
  const [one, other] = await Promise.all([sampler.sample(), sampler.sample()])
  assert.deepEqual(one, other)
  assert.equal(asked.length, 1)
})

test('a node silent at the mark joins the window with its next answer', async () => {
  const { sampler, at, answers, time } = rig({})
  await at(1, lived(1))
  answers.m = undefined
  time.ms = 2000
  assert.equal((await sampler.mark())[0].gap, 'refused')
  await at(3, lived(3))
  await at(4, lived(4))
  assert.equal(sampler.summary().totals.cpu_s, 0.75)
})

test('a node that was asked before the mark, and answers late, joins the window with its next answer', async () => {
  const { sampler, at, time } = rig({})
  await at(1, lived(1))
  /** @type {(fields: Fields) => void} */
  let answer = () => {}
  const stalled = /** @type {any} */ (new Promise((resolve) => (answer = resolve)))
  assert.equal((await at(2, stalled))[0].gap, 'silent')
  time.ms = 2500
  const marked = sampler.mark()
  await Promise.resolve()
  answer(lived(2))
  await marked
  await at(3, lived(3))
  await at(4, lived(4))
  assert.deepEqual(sampler.summary().totals.commands, { setex: { calls: 100, usec: 250 } })
})

test('what happens between an answer of before the window and the next one is counted once', async () => {
  const played = async (/** @type {boolean} */ isLate, /** @type {Fields} */ then) => {
    const { sampler, at, time } = rig({})
    await at(1, lived(1))
    /** @type {(fields: Fields) => void} */
    let answer = () => {}
    const stalled = /** @type {any} */ (new Promise((resolve) => (answer = resolve)))
    await at(2, stalled)
    time.ms = 2500
    const marked = sampler.mark()
    await Promise.resolve()
    // Either it answers while the window begins, or it is silent then.
    if (isLate) await marked
    answer({ ...lived(2), evicted_keys: 5 })
    await marked
    const held = isLate ? null : sampler.held()
    const rows = []
    for (const s of [3, 4, 5]) rows.push(...(await at(s, { ...lived(s), ...then })))
    return { rows, held, evicted: sampler.summary().totals.evicted }
  }
  for (const isLate of [false, true]) {
    const flushed = { evicted_keys: 12, cmdstat_flushall: 'calls=1,usec=9' }
    const { rows, held, evicted } = await played(isLate, flushed)
    assert.equal(evicted, 12)
    assert.equal(
      rows.reduce((sum, { flushes = 0 }) => sum + flushes, 0),
      1,
    )
    if (!isLate) assert.deepEqual(held, { dataBytes: 8000, keys: 9 })
    const restarted = await played(isLate, { run_id: 'b' })
    assert.equal(restarted.rows.filter((row) => row.restarted).length, 1)
  }
})

test('nodes appear, vanish and change roles: one master a shard holds the data, replicas cost CPU', async () => {
  const replica = (/** @type {number} */ s) => ({
    ...lived(s),
    run_id: 'r',
    role: 'slave',
    slave_repl_offset: 5000 * s - 20,
    master_link_status: 'up',
  })
  /** @type {SampledNode[]} */
  const nodes = [
    { address: 'm', shard: 1, role: 'master' },
    { address: 'r', shard: 1, role: 'replica' },
  ]
  const { sampler, at, answers } = rig({ r: replica(1) }, nodes)
  await at(1, lived(1))
  await sampler.mark()
  answers.r = replica(2)
  const rows = await at(2, lived(2))
  assert.deepEqual(valuesOf(rows, 'role', 'link', 'lag_bytes'), [
    'master',
    undefined,
    undefined,
    'replica',
    'up',
    20,
  ])
  assert.equal(sampler.summary().totals.cpu_s, 1.5)
  assert.equal(sampler.summary().totals.net_bytes, 3000)

  nodes.shift()
  answers.r = { ...lived(3), run_id: 'r', used_memory: 12_000 }
  const [gone, promoted] = await at(3)
  assert.deepEqual([gone.gap, promoted.role], ['unlisted', 'master'])
  const { nodes: told, totals } = sampler.summary()
  assert.deepEqual(valuesOf(told, 'address', 'role', 'gaps'), ['m', 'master', 1, 'r', 'master', 0])
  assert.equal(totals.data_bytes, 10_000)
  assert.equal(totals.net_bytes, 6000)
})

test('what a server does not tell is null, never NaN', async () => {
  const { sampler, at } = rig({})
  await at(1, { run_id: 'a', role: 'master' })
  await sampler.mark()
  const [row] = await at(2, { run_id: 'a', role: 'master' })
  assert.deepEqual([row.cpu_pct, row.commands_per_s, row.memory_bytes, row.keys], [null, null, null, 0])
  assert.doesNotMatch(JSON.stringify(sampler.summary()), /NaN/)
  const { nodes, totals } = sampler.summary()
  assert.deepEqual([nodes[0].cpu_pct, totals.cpu_s, totals.data_bytes], [null, null, null])
})

test('evictions before the window are in the sum, and in the rows that are handed on', async () => {
  const { sampler, at, taken, time, answers } = rig({})
  await at(1, lived(1))
  await at(2, { ...lived(2), evicted_keys: 5 })
  time.ms = 2900
  answers.m = { ...lived(2.9), evicted_keys: 12 }
  await sampler.mark()
  await at(4, { ...lived(4), evicted_keys: 13 })
  assert.equal(sampler.summary().totals.evicted, 13)
  assert.deepEqual(
    taken.map(([{ evicted }]) => evicted),
    [undefined, 5, 7, 1],
  )
})

test('a restart is seen by the run id, or where that is hidden by the uptime; RESETSTAT is none', async () => {
  const { at } = rig({})
  await at(1, { ...lived(1), uptime_in_seconds: 100 })
  const [other] = await at(2, { ...lived(2), run_id: 'b', uptime_in_seconds: 101 })
  const [younger] = await at(3, { ...lived(3), run_id: 'b', uptime_in_seconds: 1 })
  const [reset] = await at(4, { ...lived(0), run_id: 'b', uptime_in_seconds: 2 })
  assert.deepEqual([other.restarted, younger.restarted, reset.restarted], [true, true, undefined])
  assert.deepEqual([other.gap, younger.gap, reset.gap], Array(3).fill('restarted'))
})

test('flushes of our database are counted, and those of another are not', async () => {
  const use = (/** @type {number} */ calls) => `calls=${calls},usec=9`
  const { at } = rig({}, undefined, 1)
  const flushes = async (/** @type {number} */ s, /** @type {Fields} */ change) =>
    (await at(s, { ...lived(s), cmdstat_flushdb: use(1), ...change }))[0].flushes
  assert.equal(await flushes(1, {}), undefined)
  assert.equal(await flushes(2, {}), undefined)
  assert.equal(await flushes(3, { cmdstat_flushdb: use(2), db1: 'keys=0' }), 1)
  assert.equal(await flushes(4, { cmdstat_flushdb: use(4), db1: 'keys=2' }), 2)
  assert.equal(await flushes(5, { cmdstat_flushdb: use(5), db0: 'keys=0' }), undefined)
  assert.equal(await flushes(6, { cmdstat_flushdb: use(5), cmdstat_flushall: use(1), db0: 'keys=0' }), 1)
  // RESETSTAT in between.
  assert.equal(await flushes(7, { cmdstat_setex: 'calls=1,usec=1', cmdstat_flushdb: use(2) }), 2)
})

test('a replica that does not answer is as far behind as its master says', async () => {
  /** @type {SampledNode[]} */
  const nodes = [
    { address: 'm', shard: 1, role: 'master' },
    { address: '10.0.0.1:7001', shard: 1, role: 'replica' },
    { address: 'a.example:7002', shard: 1, role: 'replica' },
  ]
  const { at } = rig({}, nodes)
  const seen = async (/** @type {number} */ s, /** @type {number} */ silentS) => {
    const line = (/** @type {number} */ port, /** @type {number} */ offset) =>
      `ip=10.0.0.${port - 7000},port=${port},state=online,offset=${offset},lag=${silentS}`
    const rows = await at(s, {
      ...lived(s),
      slave0: line(7002, 3000),
      slave1: line(7001, 1000),
      slave2: 'ip=10.0.0.3,port=7003,state=wait_bgsave,offset=0,lag=9',
    })
    return rows.map(({ lag_bytes: lag }) => lag)
  }
  await seen(1, 0)
  // A healthy one may have acknowledged nothing for a second.
  assert.deepEqual(await seen(2, 1), [undefined, undefined, undefined])
  assert.deepEqual(await seen(3, 2), [undefined, 14_000, 12_000])
})
