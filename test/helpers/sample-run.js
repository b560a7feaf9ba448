// A finished run as its parts, for the tests of what is made of it.

/** @import { RunParts } from '../../lib/result/document.js' */

/** @param {number} port @param {number} shard @param {'master' | 'replica'} role @param {number} pct */
const node = (port, shard, role, pct) => ({
  ...{ address: `127.0.0.1:${port}`, shard, role, engine_cpu_pct: pct, cpu_pct: pct * 1.25 },
  ...{ commands_per_s: 100_123.4, memory_bytes: 61_234_567, gaps: 0 },
})

/** @param {Partial<RunParts>} [change] @returns {RunParts} */
export const sampleParts = (change = {}) => ({
  kind: 'producer',
  run: '2026-11-21T07-30-05-sorted-set',
  startedEpochMs: Date.UTC(2026, 10, 21, 7, 30, 5),
  ...{ durationS: 65.01234567, measuredS: 60, warmUpS: 5 },
  plan: {
    ...{ strategy: 'sorted-set', flow: 'ticks', schedule: 'even' },
    ...{ quantity: 1000, periodMs: 1000, chunks: 1, spacingMs: 1000, totalAgents: 2 },
    agents: [
      { agent: 1, first: 1, count: 500 },
      { agent: 2, first: 501, count: 500 },
    ],
    ...{ items: 1000, nominalHz: 1000, pacing: 'open', rate: null, driver: 'socket', ttlS: 3 },
    valueBytes: 128,
    ...{ payload: 'random', stamp: false, once: false, prefix: '', placement: 'plain', sets: ['latest-ids'] },
    ...{ extraSets: [], maxMembers: 1000, scriptMembers: 0, warmUpMs: 5000 },
  },
  versions: { millrace: '0.1.0', node: '20.20.2', servers: ['7.0.15'] },
  target: { kind: 'cluster', origin: 'embedded' },
  items: { offered: 1000, acked: 1000, failed: 0, uncertain: 0, dropped: 0, unsettled: 0, failed_by: {} },
  commands: { sent: 1010, repeated: 0, errors_by: {} },
  rate: { nominal: 1000, achieved: 999.98 },
  latency_us: {
    intended: { p50: 8123, p90: 19_034, p99: 31_890, p999: 44_231, max: 61_210 },
    service: { p50: 912, p90: 2410, p99: 5120, p999: 12_011, max: 30_100 },
  },
  bystander_us: { p50: 210, p99: 4310, max: 9120 },
  ticks: { count: 60, late: 3, lateness_us: { p50: 210, p99: 4110 } },
  client: {
    ...{ cpu_s: 4.1, cpu_pct: 6.83, cpu_us_per_item: 0.2278 },
    ...{ rss_mb_max: 219.2, loop_delay_ms_p99: 3.2, busy_pct: 7.1 },
  },
  server: {
    ...{ share: 1, cpu_us_per_item: 4.812, memory_bytes_per_item: 262.11, net_bytes_per_item: 402.3 },
    evicted: 0,
    commands: { setex: { calls: 60_000, usec: 42_720 }, zadd: { calls: 60, usec: 20_000 } },
  },
  nodes: [
    node(40_001, 1, 'master', 51.2),
    node(40_002, 1, 'replica', 33.1),
    node(40_003, 2, 'master', 29.9),
    node(40_004, 2, 'replica', 14.1),
  ],
  events: [],
  ...change,
})
