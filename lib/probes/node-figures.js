// The values of one INFO of a node, and the differences between two. Pure.
import { keysOf } from '../base/typed.js'
import { addressOf } from '../servers/address.js'

/** @import { CommandUse, Info } from '../wire/info.js' */

/**
 * @typedef {object} Counters they only rise until the server restarts or its statistics are reset
 * @property {number} engineCpuS the main thread
 * @property {number} cpuS all threads; forked children are not in it
 * @property {number} processed commands
 * @property {number} netInBytes
 * @property {number} netOutBytes the feed of the replicas is in it: so on 6.2, and on 7.0 and later too, where
 *   total_net_repl_output_bytes names a part of total_net_output_bytes and is not to be added
 * @property {number} replBytes of both, what masters and replicas sent each other; from 7.0 on
 * @property {number} expired
 * @property {number} evicted
 * @property {number} keyspaceHits of lookups
 * @property {number} keyspaceMisses
 * @property {number} overLimitS how long evicting could not get it below its maxmemory; where it can, this stays 0
 * @property {number} threaded reads and writes that io-threads did; 0 where the server has none
 * @property {number} connections that were accepted
 *
 * @typedef {object} Gauges
 * @property {number | null} memory_bytes
 * @property {number | null} memory_limit_bytes its maxmemory, else the memory of its machine
 * @property {number | null} data_bytes keys, values and their tables: without start-up, clients, replication, AOF
 * @property {number | null} rss_bytes what the system gave it
 * @property {number | null} maxmemory 0: no limit
 * @property {string | null} policy what it evicts
 * @property {number} keys
 * @property {number | null} clients
 *
 * @typedef {object} ReplicaView
 * @property {string} address as the master knows it
 * @property {number} behind bytes of the history that it has not acknowledged
 * @property {number} silentS since its last acknowledgement, which comes each second
 *
 * @typedef {object} Reading
 * @property {number} atMs when the answer was here
 * @property {number} serverMs the server's own clock, NaN where it does not report one
 * @property {string | undefined} runId
 * @property {number} uptimeS
 * @property {'master' | 'replica' | undefined} role as the node itself says
 * @property {boolean} loading it reads its data set from disk: keys are still missing
 * @property {string | undefined} link a replica's: 'up' or 'down'
 * @property {string | undefined} replId the history it holds; a replica and its master name the same
 * @property {number} offset the bytes of that history it has written, or as a replica applied
 * @property {ReplicaView[]} replicas as a master sees them
 * @property {Counters} counters
 * @property {{ mainS: number, ioS: number } | null} active how long its threads worked, where it says so
 * @property {boolean} loops its io-threads wait in a loop, and nothing says how long they worked
 * @property {Gauges} gauges
 * @property {Record<string, number>} keysOf each database that has keys, by name
 * @property {Record<string, CommandUse>} commands
 *
 * @typedef {Counters & { overMs: number, upperBound: boolean, commands: Record<string, CommandUse> }} Difference
 *   upperBound: threads that wait in a loop were at work, so that the CPU is what was used at most
 */

// 7.0 splits the replicas' shared buffer into what exceeds mem_replication_backlog (mem_clients_slaves) and the rest, so
// that these add up there as in 6.2; mem_total_replication_buffers would count the same bytes twice.
const besidesData = [
  'used_memory_startup',
  'mem_clients_normal',
  'mem_clients_slaves',
  'mem_replication_backlog',
  'mem_replica_full_sync_buffer',
  'mem_cluster_links',
  'mem_aof_buffer',
  'used_memory_scripts_eval',
]

// From 7.0 on a server keeps a histogram for each command that it has run once, which INFO counts nowhere: 24,688
// bytes each in 7.0, 8.2 and Valkey 9.1. Ten of them were half of what a thousand small items take.
const histogramBytes = 24_688
const ofHistogram = 'latency_percentiles_usec_'

// Redis from 7.4 on, built with jemalloc, counts the memory of its Lua engine, garbage included, as used. Megabytes may be
// collected during a later run. At the start it has about this much, which is part of used_memory_startup.
const luaStartBytes = 64 * 1024

/** @param {Info['fields']} fields */
const luaBytes = (fields) => {
  const { redis_version: version, valkey_version: valkey, mem_allocator: allocator } = fields
  const [major, minor] = String(version).split('.').map(Number)
  const isCounted =
    valkey === undefined &&
    String(allocator).startsWith('jemalloc') &&
    (major > 7 || (major === 7 && minor >= 4))
  return isCounted ? Math.max(0, Number(fields.used_memory_vm_total) - luaStartBytes) || 0 : 0
}

const ofIoThread = 'used_active_time_io_thread_'

/**
 * What has names of its own: how many histograms there are, and how long the threads of a server that has io-threads were
 * active, where it reports that (Valkey from 9.1).
 * @param {Info['fields']} fields
 */
const numbered = (fields) => {
  let histograms = 0
  let ioThreads = 0
  let ioS = 0
  for (const name in fields) {
    if (name.startsWith(ofHistogram)) histograms++
    else if (name.startsWith(ofIoThread)) {
      ioThreads++
      ioS += Number(fields[name])
    }
  }
  const active = ioThreads === 0 ? null : { mainS: Number(fields.used_active_time_main_thread), ioS }
  return { histograms, active }
}

/** Redis 6 and 7, and Valkey until it reports how long they were active. @param {Info['fields']} fields */
const ioThreadsLoop = (fields) =>
  fields.valkey_version !== undefined || Number.parseInt(fields.redis_version, 10) < 8

/** A number that JSON can hold. @param {number} n */
export const finite = (n) => (Number.isFinite(n) ? n : null)

/** @param {Info} info @param {number} atMs @returns {Reading} */
export const reading = ({ fields, commands, databases, replicas }, atMs) => {
  const number = (/** @type {string} */ name) => Number(fields[name] ?? Number.NaN)
  const role = fields.role === 'slave' ? 'replica' : fields.role === 'master' ? 'master' : undefined
  const { histograms, active } = numbered(fields)
  const besides =
    besidesData.reduce((sum, name) => sum + (number(name) || 0), 0) +
    histograms * histogramBytes +
    luaBytes(fields)
  const written = number('master_repl_offset')
  const keysOf = Object.fromEntries(Object.entries(databases).map(([name, { keys }]) => [name, Number(keys)]))
  return {
    atMs,
    serverMs: number('server_time_usec') / 1000,
    runId: fields.run_id,
    uptimeS: number('uptime_in_seconds'),
    role,
    loading: fields.loading === '1',
    link: fields.master_link_status,
    replId: fields.master_replid,
    offset: role === 'replica' ? number('slave_repl_offset') : written,
    // A replica that is being sent the whole data set has no offset yet.
    replicas: replicas
      .filter(({ state }) => state === 'online')
      .map(({ ip, port, offset, lag }) => ({
        address: addressOf({ host: String(ip), port: Number(port) }),
        behind: written - Number(offset),
        silentS: Number(lag),
      })),
    counters: {
      engineCpuS: number('used_cpu_user_main_thread') + number('used_cpu_sys_main_thread'),
      cpuS: number('used_cpu_user') + number('used_cpu_sys'),
      processed: number('total_commands_processed'),
      netInBytes: number('total_net_input_bytes'),
      netOutBytes: number('total_net_output_bytes'),
      replBytes: number('total_net_repl_input_bytes') + number('total_net_repl_output_bytes'),
      expired: number('expired_keys'),
      evicted: number('evicted_keys'),
      keyspaceHits: number('keyspace_hits'),
      keyspaceMisses: number('keyspace_misses'),
      overLimitS: number('total_eviction_exceeded_time') / 1000,
      threaded: (number('io_threaded_reads_processed') || 0) + (number('io_threaded_writes_processed') || 0),
      connections: number('total_connections_received'),
    },
    active,
    loops: active === null && ioThreadsLoop(fields),
    gauges: {
      memory_bytes: finite(number('used_memory')),
      memory_limit_bytes: finite(number('maxmemory') || number('total_system_memory')),
      data_bytes: finite(Math.max(0, number('used_memory') - besides)),
      rss_bytes: finite(number('used_memory_rss')),
      maxmemory: finite(number('maxmemory')),
      policy: fields.maxmemory_policy ?? null,
      keys: Object.values(keysOf).reduce((sum, keys) => sum + keys, 0),
      clients: finite(number('connected_clients')),
    },
    keysOf,
    commands,
  }
}

/**
 * Whether the process restarted in between. A managed server may hide its run id, but not its uptime.
 * @param {Reading} before
 * @param {Reading} after
 */
export const wasRestarted = (before, after) => before.runId !== after.runId || after.uptimeS < before.uptimeS

/**
 * How often all keys of our database were removed in between, by whom ever. A FLUSHDB does not name its database: it
 * is another's where the keys of another became fewer, and ours did not.
 * @param {Reading} before of the same life
 * @param {Reading} after
 * @param {number} db ours
 */
export const flushesBetween = (before, after, db) => {
  const ran = (/** @type {string} */ name) => {
    const [was, is] = [before, after].map(({ commands }) => commands[name]?.calls ?? 0)
    return is >= was ? is - was : is // CONFIG RESETSTAT
  }
  const fell = (/** @type {string} */ name) => (after.keysOf[name] ?? 0) < (before.keysOf[name] ?? 0)
  const ours = `db${db}`
  const anothers = !fell(ours) && Object.keys(before.keysOf).some((name) => name !== ours && fell(name))
  return ran('flushall') + (anothers ? 0 : ran('flushdb'))
}

/**
 * What the node did between two readings, or null when they are not of one life: another run id, or a counter
 * that fell (a restart, CONFIG RESETSTAT).
 * @param {Reading} before
 * @param {Reading} after
 * @returns {Difference | null}
 */
export const difference = (before, after) => {
  if (wasRestarted(before, after)) return null
  const counters = { ...after.counters }
  for (const name of keysOf(counters)) {
    counters[name] -= before.counters[name]
    if (counters[name] < 0) return null
  }
  const commands = commandsBetween(before.commands, after.commands)
  return (
    commands && { ...counters, ...worked(counters, before, after), overMs: between(before, after), commands }
  )
}

// Active time is by the wall: where it is this much longer than the CPU, threads waited for a core, and what they used
// while they waited in a loop cannot be told apart.
const preempted = 1.1

/**
 * CPU without what threads used while they waited in a loop, or that it could not be told apart. Where the server
 * reports how long they were active, the shorter of both times counts.
 * @param {Counters} counters
 * @param {Reading} before
 * @param {Reading} after
 */
const worked = ({ engineCpuS, cpuS, threaded }, { active: first }, { active: last, loops }) => {
  const otherCpuS = cpuS - engineCpuS
  if (!first || !last || last.mainS < first.mainS || last.ioS < first.ioS)
    return { upperBound: loops && threaded > 0 }
  const mainS = last.mainS - first.mainS
  const ioS = last.ioS - first.ioS
  const engine = Math.min(engineCpuS, mainS)
  const waited = mainS > engineCpuS * preempted || ioS > otherCpuS * preempted
  return { engineCpuS: engine, cpuS: engine + Math.min(otherCpuS, ioS), upperBound: threaded > 0 && waited }
}

/**
 * By the server's clock, which our own lateness in reading does not touch; by ours where it is silent, or was set.
 * @param {Reading} before
 * @param {Reading} after
 */
const between = (before, after) => {
  const oursMs = after.atMs - before.atMs
  const serversMs = after.serverMs - before.serverMs
  return serversMs > 0 && Math.abs(serversMs - oursMs) < 1000 ? serversMs : oursMs
}

/**
 * @param {Record<string, CommandUse>} before
 * @param {Record<string, CommandUse>} after
 * @returns {Record<string, CommandUse> | null} the commands that ran, null when a count fell
 */
const commandsBetween = (before, after) => {
  for (const name in before) if (!(after[name]?.calls >= before[name].calls)) return null
  /** @type {Record<string, CommandUse>} */
  const ran = {}
  for (const name in after) {
    const { calls, usec } = after[name]
    const was = before[name] ?? { calls: 0, usec: 0 }
    if (calls > was.calls) ran[name] = { calls: calls - was.calls, usec: usec - was.usec }
  }
  return ran
}

/** Adds the calls and times of one to the other. @param {Record<string, CommandUse>} sum @param {Record<string, CommandUse>} more */
export const addCommands = (sum, more) => {
  for (const name in more) {
    sum[name] ??= { calls: 0, usec: 0 }
    const total = sum[name]
    total.calls += more[name].calls
    total.usec += more[name].usec
  }
}
