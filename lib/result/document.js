// run.json: the parts of a finished run, put together, checked and judged.
import { count, plainData, plainText } from '../base/units.js'
import { verdict } from './verdict.js'

/** @typedef {number | null} Figure null: not measured */
/** @typedef {{ p50: Figure, p90: Figure, p99: Figure, p999: Figure, max: Figure }} Percentiles */
/**
 * @typedef {object} NodeFigures
 * @property {string} address
 * @property {number} shard
 * @property {'master' | 'replica'} role
 * @property {Figure} engine_cpu_pct
 * @property {Figure} cpu_pct
 * @property {Figure} commands_per_s
 * @property {Figure} memory_bytes
 * @property {true} [cpu_upper_bound] its io-threads wait in a loop, so it worked for no longer than that
 * @property {Figure} gaps
 */
/** @typedef {{ offered: number, acked: number, failed: number, uncertain: number, dropped: number, unsettled: number, failed_by: Record<string, number> }} Items */
/** @typedef {Omit<Items, 'failed_by'> & { agent: number }} AgentItems */
/**
 * What a run wrote down; the sections are spelled as they stand in run.json.
 * @typedef {object} RunParts
 * @property {'producer' | 'consumer'} kind
 * @property {string} run
 * @property {number} startedEpochMs
 * @property {number} durationS
 * @property {number} [measuredS] without the warm-up
 * @property {number} [warmUpS]
 * @property {boolean} [interrupted]
 * @property {Record<string, any>} plan
 * @property {{ millrace: string, node: string, servers: string[] }} versions
 * @property {{ kind: 'single' | 'cluster', origin: 'address' | 'embedded' | 'attached', found?: import('../target/preflight.js').Found }} [target]
 * @property {Items} items
 * @property {AgentItems[]} [agents] of a writer, each with its part of the items
 * @property {import('../measure/presence.js').Presence} [writers] how many of the plan's agents were at work
 * @property {import('../measure/clocks.js').ClockFigures[]} [clocks] of the servers against ours
 * @property {{ sent: number, repeated: number, errors_by: Record<string, number>, repeated_by?: Record<string, number> }} commands
 *   repeated_by: why commands were sent again, and connections were made again
 * @property {{ nominal: Figure, achieved: Figure }} rate
 * @property {{ intended?: Partial<Percentiles> | null, service?: Partial<Percentiles> | null }} latency in us
 * @property {{ p50: Figure, p99: Figure, max: Figure } | null} bystander in us
 * @property {{ count: number, late: Figure, lateness_us: { p50: Figure, p99: Figure } | null }} ticks
 * @property {Record<string, any>} client
 * @property {Record<string, any>} server
 * @property {NodeFigures[]} nodes
 * @property {Record<string, number> | null} [counts] replies by what they mean
 * @property {import('../workloads/declare.js').PassResult[]} [passes] over all numbers, one after the other
 * @property {Record<string, number>} [encodings] of a sample of keys after the passes
 * @property {{ at_ms: number, kind: string, text: string }[]} events
 * @property {import('../measure/acked-ranges.js').Written | null} [written] of a --once run
 * @property {import('./verdict.js').Warning[]} [warnings] what was noticed on the way
 */
/**
 * @typedef {object} Measurements run.json without its judgement
 * @property {1} schema
 * @property {string} run
 * @property {RunParts['kind']} kind
 * @property {string} started
 * @property {number} duration_s
 * @property {Figure} measured_s
 * @property {Figure} warm_up_s
 * @property {boolean} interrupted
 * @property {RunParts['plan']} plan
 * @property {RunParts['versions']} versions
 * @property {NonNullable<RunParts['target']> | null} target
 * @property {Items} items
 * @property {AgentItems[]} agents
 * @property {NonNullable<RunParts['writers']> | null} writers
 * @property {NonNullable<RunParts['clocks']>} clocks
 * @property {RunParts['commands']} commands
 * @property {RunParts['rate']} rate
 * @property {{ intended: Percentiles, service: Percentiles }} latency_us
 * @property {RunParts['bystander']} bystander_us
 * @property {{ count: number, late: Figure, lateness_us: { p50: Figure, p99: Figure } }} ticks
 * @property {Record<keyof typeof noClient, Figure>} client
 * @property {Record<Exclude<keyof typeof noServer, 'commands' | 'idle' | 'foreign_calls' | 'memory_note'>, Figure> & { memory_note: string | null, foreign_calls: { command: string, calls: number } | null, idle: import('../measure/idle-cost.js').Idle | import('../measure/idle-cost.js').Unknown | null, commands: Record<string, { calls: number, usec: number }> | null }} server
 * @property {NodeFigures[]} nodes
 * @property {RunParts['events']} events
 * @property {Record<string, number>} [counts] replies by what they mean
 * @property {import('../workloads/declare.js').PassResult[]} [passes]
 * @property {Record<string, number>} [encodings] of a sample of keys after the passes
 * @property {import('../measure/acked-ranges.js').Written} [written] of a --once run: which items were acknowledged
 */
/** @typedef {Measurements & ReturnType<typeof verdict> & { thresholds?: import('./thresholds.js').Judged[], cloudwatch?: import('../cloudwatch/fetch.js').CloudWatchSection }} RunDocument */

const percentiles = { p50: null, p90: null, p99: null, p999: null, max: null }
const noClient = {
  cpu_s: null,
  cpu_pct: null,
  cpu_us_per_item: null,
  rss_mb_max: null,
  loop_delay_ms_p99: null,
  busy_pct: null,
  thread_cpu_pct: null,
  stopped_ms: null,
}
const noServer = {
  share: null,
  cpu_us_per_item: null,
  memory_bytes_per_item: null,
  net_bytes_per_item: null,
  memory_note: null,
  evicted: null,
  foreign_calls: null,
  cpu_us_per_item_net: null,
  cpu_us_per_item_net_uncertainty: null,
  fixed_cpu_share: null,
  idle: null,
  commands: null,
}

/** Nobody reads the ninth digit of a measurement. @param {any} data @returns {any} */
export const readable = (data) => {
  if (typeof data === 'number') return Number.isInteger(data) ? data : Number(data.toPrecision(6))
  if (Array.isArray(data)) return data.map(readable)
  if (data === null || typeof data !== 'object') return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, readable(value)]))
}

/**
 * The keys of the shape in its order, with what was measured; then what was measured besides.
 * @param {Record<string, null | number>} shape
 * @param {Record<string, any> | null | undefined} given
 * @returns {any}
 */
export const filled = (shape, given) => ({ ...shape, ...readable(plainData(given ?? {})) })

/** @param {Omit<Items, 'failed_by'>} items */
const outcomesOf = ({ acked, failed, uncertain, dropped, unsettled }) =>
  acked + failed + uncertain + dropped + unsettled

/**
 * The identity that every run checks: what was offered is what was counted under the outcomes.
 * @param {Items} items
 * @param {AgentItems[]} agents
 * @returns {import('./verdict.js').Warning[]}
 */
const accountingFaults = (items, agents) => {
  const { offered, failed, uncertain, failed_by: failedBy } = items
  const outcomes = outcomesOf(items)
  const causes = Object.values(failedBy).reduce((sum, n) => sum + n, 0)
  /** @type {string[]} */
  const faults = []
  if (offered !== outcomes)
    faults.push(`${count(offered)} items were offered, but ${count(outcomes)} have an outcome`)
  if (causes !== failed + uncertain)
    faults.push(
      `${count(failed + uncertain)} items failed or are uncertain, but ${count(causes)} have a cause`,
    )
  for (const own of agents) {
    if (own.offered !== outcomesOf(own))
      faults.push(
        `agent ${own.agent} was offered ${count(own.offered)} items, but ${count(outcomesOf(own))} have an outcome`,
      )
  }
  return faults.map((fault) => ({
    code: 'accounting',
    message: `${fault}: this is a fault of Millrace, please report it`,
  }))
}

/** @param {RunParts} parts @returns {Measurements} */
const measurements = (parts) => ({
  schema: 1,
  run: plainText(parts.run),
  kind: parts.kind,
  started: new Date(parts.startedEpochMs).toISOString(),
  duration_s: readable(parts.durationS),
  measured_s: readable(parts.measuredS ?? null),
  warm_up_s: readable(parts.warmUpS ?? null),
  interrupted: parts.interrupted ?? false,
  plan: plainData(parts.plan),
  versions: plainData(parts.versions),
  target: plainData(parts.target ?? null),
  items: plainData(parts.items),
  agents: plainData(parts.agents ?? []),
  writers: readable(plainData(parts.writers ?? null)),
  clocks: readable(plainData(parts.clocks ?? [])),
  commands: plainData(parts.commands),
  rate: filled({ nominal: null, achieved: null }, parts.rate),
  latency_us: {
    intended: filled(percentiles, parts.latency.intended),
    service: filled(percentiles, parts.latency.service),
  },
  bystander_us: parts.bystander && filled({ p50: null, p99: null, max: null }, parts.bystander),
  ticks: {
    ...filled({ count: 0, late: null }, parts.ticks),
    lateness_us: filled({ p50: null, p99: null }, parts.ticks.lateness_us),
  },
  client: filled(noClient, parts.client),
  server: filled(noServer, parts.server),
  nodes: readable(plainData(parts.nodes)),
  events: readable(plainData(parts.events)),
  ...(parts.counts && { counts: plainData(parts.counts) }),
  ...(parts.passes && { passes: readable(plainData(parts.passes)), encodings: plainData(parts.encodings) }),
  ...(parts.written && { written: plainData(parts.written) }),
})

/**
 * The document of run.json, judged; only plain text and finite numbers are in it.
 * @param {RunParts} parts
 * @returns {RunDocument}
 */
export const runDocument = (parts) => {
  const measured = measurements(parts)
  const judged = verdict(measured, [
    ...accountingFaults(parts.items, parts.agents ?? []),
    ...plainData(parts.warnings ?? []),
  ])
  return { ...measured, ...judged }
}
