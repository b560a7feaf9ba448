// What each node of the target did, by one INFO a second: amounts since its answer before, and what it holds. Of a fleet
// one box asks, and goes on with the answers of the box that asked before. CPU in percent of one core.

import * as S from '../base/shape.js'
import { pingsPath } from '../probes/others.js'
import { repeatShare, sideBySide } from '../probes/spread.js'
import { amount, counts, eachField, parts } from './fields.js'
import { measure, metric, per } from './measure.js'
import { section } from './section.js'

/**
 * @import { Shaped } from '../base/shape-types.js'
 * @import { NodeFigures } from '../result/document.js'
 * @import { CommandUse } from '../wire/info.js'
 * @import { Folded } from './fold.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { RoleTotals } from '../probes/others.js'
 * @import { Row } from './fields.js'
 * @import { WatchedNode } from './costs.js'
 *
 * @typedef {object} NodeTotals what per-item costs are made of
 * @property {number | null} cpu_s of all nodes, replicas too
 * @property {number | null} masters_cpu_s of it the masters'
 * @property {number | null} cpu_repeats within which part of it that of a repeat lies; null: too short to be known
 * @property {number | null} net_bytes of the masters, in and out
 * @property {number} info_bytes of them our INFO
 * @property {number | null} evicted by the masters, since their first answers: before the window too
 * @property {Record<string, CommandUse>} commands of the masters
 * @property {number} carried items that were stored between the answers of the node that was watched for the longest time
 * @property {{ least: number, most: number }} counted our items among these commands: stored between the same two answers, by
 *   when each was asked for and when it came, of the masters that were watched for the shortest and the longest time
 * @property {{ address: string, role: string, overS: number }[]} watched for how long each node was
 * @property {WatchedNode[]} each what each did in its role
 * @property {{ masters: RoleTotals, replicas: RoleTotals | null }} roles what the nodes of each role ran
 */

const fields = {
  over_ms: amount('ms'),
  engine_cpu_s: amount('s'),
  cpu_s: amount('s'),
  calls: amount('count'),
  net_in_bytes: amount('bytes'),
  net_out_bytes: amount('bytes'),
  info_bytes: amount('bytes'),
  load_bytes: amount('bytes'),
  repl_bytes: amount('bytes'),
  carried: amount('count'),
  carried_asked: amount('count'),
  evicted: amount('count'),
  expirations: amount('count'),
  evictions: amount('count'),
  keyspace_hits: amount('count'),
  keyspace_misses: amount('count'),
  over_limit_s: amount('s'),
  limits: counts(),
  policies: counts(),
  commands: counts(),
  connections: amount('count'),
  asked: counts(),
  seen: counts(),
  held: counts(),
  parts: parts(),
  gaps: amount('count'),
}

const names = Object.keys(fields)
/** As the last answer has them. */
const gauges = ['data_bytes', 'rss_bytes', 'keys', 'policy']

/** What is added up of a row of a line. @param {Row} row */
const amountsOf = (row) => {
  const { address, shard, role, at_ms, memory_bytes, cpu_upper_bound, gap } = row
  /** @type {Row} */
  const amounts = {}
  for (const name of names) if (name in row) amounts[name] = row[name]
  Object.assign(amounts, { address, shard, role, at_ms })
  for (const name of gauges) if (row[name] != null) amounts[name] = row[name]
  if (typeof memory_bytes === 'number') amounts.memory_bytes = memory_bytes
  // A node that is gone has rows, too.
  if (typeof row.keys === 'number') amounts.answered_ms = at_ms
  if (gap === 'unlisted') amounts.unlisted_ms = at_ms
  if (cpu_upper_bound) amounts.cpu_upper_bound = cpu_upper_bound
  Object.assign(amounts, partOf(row))
  // For their means over the seconds.
  if (typeof row.keys === 'number' && typeof row.data_bytes === 'number')
    amounts.held = { n: 1, keys: row.keys, bytes: row.data_bytes }
  amounts.gaps = gap ? 1 : 0
  // Seconds by the limit and the policy that it had in each.
  if (typeof row.maxmemory === 'number') amounts.limits = { [row.maxmemory]: 1 }
  if (typeof row.policy === 'string') amounts.policies = { [row.policy]: 1 }
  return amounts
}

/** A node that reports no items has them as evenly as time. @param {Pick<NodeRow, 'cpu_s' | 'carried' | 'over_ms'>} row */
const partOf = ({ cpu_s: cpuS, carried, over_ms: overMs }) =>
  typeof cpuS === 'number' ? { parts: [cpuS, carried ?? overMs ?? 0] } : {}

const nodesShape = S.list(
  S.object({
    ...S.each(['address', 'role'], S.text),
    shard: S.maybe(S.number),
    ...S.each(['engine_cpu_pct', 'cpu_pct', 'commands_per_s', 'memory_bytes', 'gaps'], S.maybe(S.figure)),
    sampled_s: S.maybe(S.number),
    cpu_upper_bound: S.maybe(S.flag),
  }),
)

/**
 * A figure of the nodes of a role.
 * @param {'master' | 'replica'} role
 * @param {'cpu_pct' | 'engine_cpu_pct'} name
 * @param {(values: readonly number[]) => number} [of] their mean
 */
const ofRole =
  (role, name, of = (values) => values.reduce((sum, value) => sum + value, 0) / values.length) =>
  (/** @type {Shaped<typeof nodesShape>} */ all) => {
    const values = all.filter((node) => node.role === role).flatMap((node) => node[name] ?? [])
    return values.length > 0 ? of(values) : null
  }

/** As run.json has them. */
export const nodesSection = section('nodes', nodesShape, {
  isNeeded: true,
  metrics: {
    'master.cpu_pct': { ...metric('CPU of the masters', 'pct'), value: ofRole('master', 'cpu_pct') },
    'master.engine_cpu_pct': {
      ...metric('engine CPU of the masters', 'pct'),
      value: ofRole('master', 'engine_cpu_pct'),
    },
    'hottest_master.cpu_pct': {
      ...metric('CPU of the busiest master', 'pct'),
      value: ofRole('master', 'cpu_pct', (values) => Math.max(...values)),
    },
    'coldest_master.cpu_pct': {
      ...metric('CPU of the least busy master', 'pct', 'neither'),
      value: ofRole('master', 'cpu_pct', (values) => Math.min(...values)),
    },
    'replica.cpu_pct': { ...metric('CPU of the replicas', 'pct'), value: ofRole('replica', 'cpu_pct') },
    'replica.engine_cpu_pct': {
      ...metric('engine CPU of the replicas', 'pct'),
      value: ofRole('replica', 'engine_cpu_pct'),
    },
  },
})

const byAddress = eachField(({ address }) => address, fields)

export const nodes = measure({
  name: 'nodes',
  of: ['writers', 'readers', 'workers'],
  // A node that changes its role continues as another one: what masters did is separate.
  record: { nodes: eachField(({ address, role }) => `${address} ${role}`, fields, amountsOf) },
  by: 'one',

  open: ({ sampler }) => {
    if (!sampler) return { second: () => ({}) }
    /** From the sample that begins a window, which is in no line. @type {Map<string, number>} */
    const evicted = new Map()
    /** @type {unknown} */
    let counted = null
    const sample = async () => {
      const rows = await sampler.sample()
      // A stalled process takes two seconds beside one sample, which is of the first.
      if (rows === counted) return { nodes: [] }
      counted = rows
      for (const row of rows) {
        if (typeof row.evicted !== 'number') continue
        row.evicted += evicted.get(row.address) ?? 0
        evicted.delete(row.address)
      }
      return { nodes: rows }
    }
    return {
      startWindow: async () => {
        const rows = await sampler.mark()
        for (const { address, evicted: n } of rows)
          evicted.set(address, (evicted.get(address) ?? 0) + (n ?? 0))
        return rows
      },
      second: () => ({}),
      sample,
      state: sampler.state,
      restore: sampler.restore,
    }
  },

  summary: ({ window, whole }) => ({ nodes: nodesIn(measuredIn(window, whole)) }),
  result: { nodes: nodesShape },
  metrics: {},
})

/** For a run that ended in its warm-up: the whole run. @param {Folded} window @param {Folded} whole */
const measuredIn = (window, whole) =>
  Object.keys(window.nodes ?? {}).length > 0 ? window.nodes : whole.nodes

/** Nodes of run.json. @param {Folded} folded @param {number} [stretch] of the time that the seconds took */
export const nodesIn = (folded, stretch = 1) => {
  const all = Object.values(byAddress.acrossSources(null, folded))
  const longestMs = Math.max(0, ...all.map(({ over_ms: overMs }) => overMs ?? 0))
  return all.map(({ address, shard, role, over_ms: overMs, cpu_upper_bound, ...sum }) => ({
    address,
    shard,
    role,
    engine_cpu_pct: per(sum.engine_cpu_s, overMs, 1e5 * stretch),
    cpu_pct: per(sum.cpu_s, overMs, 1e5 * stretch),
    commands_per_s: per(sum.calls, overMs, 1000 * stretch),
    memory_bytes: sum.memory_bytes ?? null,
    sampled_s: (overMs ?? 0) / 1000,
    ...(cpu_upper_bound && { cpu_upper_bound }),
    // A node that came later has gaps before it.
    gaps: Math.max(sum.gaps, Math.floor((longestMs - (overMs ?? 0)) / 1000)),
  }))
}

/** Commands that the nodes of a role ran. @param {Folded} folded @param {'master' | 'replica'} role @returns {Record<string, CommandUse>} */
export const commandsOfRole = (folded, role) =>
  Object.values(folded ?? {})
    .filter((row) => row.role === role)
    .reduce((sum, { commands }) => fields.commands.acrossSources(sum, commands), null) ?? {}

/** Null where a node does not report it. @param {readonly Row[]} rows @param {...string} names */
const sumOf = (rows, ...names) => {
  const watched = rows.filter(({ over_ms: overMs }) => overMs > 0)
  const values = watched.flatMap((row) => names.map((name) => row[name]))
  return values.length === 0 || values.some((n) => n === null || n === undefined)
    ? null
    : values.reduce((sum, n) => sum + n, 0)
}

/** @param {Folded} window @param {Folded} whole @returns {NodeTotals} */
export const nodeTotals = (window, whole) => {
  const folded = measuredIn(window, whole)
  const rows = Object.values(folded ?? {})
  const masters = rows.filter(({ role }) => role === 'master')
  const nodes = Object.values(byAddress.acrossSources(null, folded))
  const carried = Math.max(0, ...nodes.map(({ carried }) => carried ?? 0))
  const replicas = rows.filter(({ role }) => role === 'replica')
  return {
    cpu_s: sumOf(rows, 'cpu_s'),
    masters_cpu_s: sumOf(masters, 'cpu_s'),
    cpu_repeats: repeatsOf(nodes),
    net_bytes: sumOf(masters, 'net_in_bytes', 'net_out_bytes'),
    info_bytes: sumOf(masters, 'info_bytes') ?? 0,
    evicted: sumOf(
      Object.values(whole.nodes ?? {}).filter(({ role }) => role === 'master'),
      'evicted',
    ),
    commands: commandsOfRole(folded, 'master'),
    carried,
    counted: {
      least: Math.min(carried, ...masters.map(({ carried }) => carried ?? 0)),
      most: Math.max(carried, ...nodes.map(({ carried_asked: asked }) => asked ?? 0)),
    },
    watched: nodes.map(({ address, role, over_ms: overMs }) => ({
      address,
      role,
      overS: (overMs ?? 0) / 1000,
    })),
    each: rows.map(({ address, role, shard, over_ms: overMs, cpu_s: cpuS, commands }) => ({
      ...{ address, role, shard, cpuS: cpuS ?? null, commands: commands ?? {} },
      overS: (overMs ?? 0) / 1000,
    })),
    roles: {
      masters: roleTotals(masters, window[pingsPath] ?? null),
      replicas: replicas.length > 0 ? roleTotals(replicas, 0) : null,
    },
  }
}

/** By the seconds of all nodes together; where one was not watched as long as others, by the node with the most CPU. @param {readonly Row[]} nodes */
const repeatsOf = (nodes) => {
  const known = nodes.filter((node) => node.parts)
  const [most] = known.toSorted((a, b) => (b.cpu_s ?? 0) - (a.cpu_s ?? 0))
  return repeatShare(sideBySide(known.map((node) => node.parts)) ?? most?.parts ?? null)
}

/** @param {readonly Row[]} rows of nodes of one role @param {number | null} pings @returns {RoleTotals} */
const roleTotals = (rows, pings) => ({
  pings,
  nodes: rows.length,
  overS: Math.max(0, ...rows.map(({ over_ms: overMs }) => overMs ?? 0)) / 1000,
  commands: rows.reduce((sum, { commands }) => fields.commands.acrossSources(sum, commands), null) ?? {},
  asked: rows.reduce((sum, { asked }) => fields.asked.acrossSources(sum, asked), null),
  connections: sumOf(rows, 'connections'),
  loadBytes: sumOf(rows, 'load_bytes'),
  besideBytes: besideLoad(rows),
})

/** Bytes that neither the load, replication nor our INFO are. @param {readonly Row[]} rows */
const besideLoad = (rows) => {
  const [all, known] = [
    ['net_in_bytes', 'net_out_bytes'],
    ['load_bytes', 'repl_bytes', 'info_bytes'],
  ].map((names) => sumOf(rows, ...names))
  return all === null || known === null ? null : all - known
}

/**
 * The node that works hardest, by its main thread; undefined where there are no such nodes.
 * @param {{ nodes: NodeFigures[] }} run
 * @param {readonly string[]} [roles]
 */
export const busiestNode = ({ nodes }, roles = ['master', 'replica']) =>
  nodes
    .filter(({ role }) => roles.includes(role))
    .toSorted((a, b) => (b.engine_cpu_pct ?? -1) - (a.engine_cpu_pct ?? -1))
    .at(0)
