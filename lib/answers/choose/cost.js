// The costs of a candidate's run: without the idle cost of its servers, and weighted into one number. Pure.
import { OptionError } from '../../base/errors.js'
import { keysOf } from '../../base/typed.js'
import { plainText } from '../../base/units.js'

/**
 * @import { WriteResult } from '../../index.js'
 *
 * @typedef {{ server: Pick<WriteResult['server'], 'cpu_us_per_item' | 'memory_bytes_per_item' | 'net_bytes_per_item'>, rate: { achieved?: number | null } }} Served
 * @typedef {Served & { latency_us?: { intended: { p99?: number | null } | null }, cache?: { hit_pct: number | null } | null }} Costed of
 *   run.json of writers
 * @typedef {'cpu' | 'memory' | 'network' | 'latency' | 'misses'} Metric
 * @typedef {Partial<Record<Metric, number>>} Metrics
 * @typedef {{ cpu_pct: number, net_bytes_per_s: number }} Idle of all nodes without items
 */

/**
 * Each with its title, a short one, the unit of its values, and why a run that is valid may have none.
 * @type {Readonly<Record<Metric, { title: string, short: string, unit: 'us' | 'bytes' | 'pct', none?: string }>>}
 */
export const metrics = Object.freeze({
  cpu: { title: 'server CPU per item, idle excluded', short: 'CPU', unit: 'us' },
  memory: { title: 'memory per item', short: 'memory', unit: 'bytes' },
  network: { title: 'network per item', short: 'network', unit: 'bytes' },
  latency: { title: 'p99 from the due time', short: 'p99', unit: 'us' },
  misses: {
    title: 'misses of the cache',
    short: 'misses',
    unit: 'pct',
    none: 'missed nothing: all keys fit; give less --maxmemory',
  },
})
export const metricNames = Object.freeze(keysOf(metrics))

/** @param {string} text cpu=1,memory=0.5 @returns {Partial<Record<Metric, number>>} */
export const weightsIn = (text) => {
  /** @type {Partial<Record<Metric, number>>} */
  const weights = {}
  for (const part of text.split(',')) {
    const [, name, number = '1'] = /^\s*([a-z]+)\s*(?:=\s*(\d+(?:\.\d+)?))?\s*$/.exec(part) ?? []
    const metric = metricNames.find((one) => one === name)
    if (!metric || !(Number(number) > 0) || weights[metric] !== undefined)
      throw new OptionError(
        `--weigh ${plainText(text).slice(0, 60)}: must be weights above 0 of ${metricNames.join(', ')}, as in cpu=1,memory=0.5`,
      )
    weights[metric] = Number(number)
  }
  return weights
}

/** All nodes together, in percent of a core. @param {readonly { cpu_pct?: number | null }[]} nodes */
const cpuOf = (nodes) => nodes.reduce((sum, { cpu_pct: pct }) => sum + Number(pct ?? Number.NaN), 0)

/** @param {Served & { nodes: readonly { cpu_pct?: number | null }[] }} run of a few items @returns {Idle} */
export const idleSecondsOf = ({ nodes, server, rate }) => ({
  cpu_pct: cpuOf(nodes),
  net_bytes_per_s: (server.net_bytes_per_item ?? 0) * Number(rate.achieved),
})

/** @param {Costed} run @param {Idle} idle @returns {Metrics} */
export const costMetrics = ({ server, rate, latency_us: latency, cache }, idle) => {
  const found = {
    cpu: Number(server.cpu_us_per_item) - (idle.cpu_pct * 1e4) / Number(rate.achieved),
    // That of a cache is its limit.
    memory: cache ? null : server.memory_bytes_per_item,
    network: Number(server.net_bytes_per_item) - idle.net_bytes_per_s / Number(rate.achieved),
    latency: latency?.intended?.p99,
    misses: cache && cache.hit_pct !== null ? 100 - cache.hit_pct : null,
  }
  return Object.fromEntries(
    Object.entries(found).filter(([, value]) => typeof value === 'number' && value > 0),
  )
}

/**
 * The weighted geometric mean, so that its ratios are the weighted means of the metrics' ratios.
 * @param {Metrics} values
 * @param {Partial<Record<Metric, number>>} weights
 * @returns {{ cost: number } | { missing: Metric }}
 */
export const costOf = (values, weights) => {
  let sum = 0
  let all = 0
  for (const [name, weight] of /** @type {[Metric, number][]} */ (Object.entries(weights))) {
    const value = values[name]
    if (value === undefined) return { missing: name }
    sum += weight * Math.log(value)
    all += weight
  }
  return { cost: Math.exp(sum / all) }
}
