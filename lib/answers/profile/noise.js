// The uncertainty of a profile's rates, by how much they differ between its seconds. Pure.
import { mean, sampleStandardDeviation } from 'simple-statistics'
import { studentQuantile } from '../../base/distributions.js'

/**
 * @import { Info } from '../../wire/info.js'
 *
 * @typedef {{ s: number, commands: number, bytesIn: number, bytesOut: number, cpuS: number, gone: number, keys: number }} Amounts
 *   counters of all masters at a moment
 */

// Neighbouring seconds are alike: several count as one.
const mostParts = 10
const leastParts = 4

/** @param {readonly Info[]} infos @param {'keys' | 'expires'} what */
export const inDatabases = (infos, what) =>
  infos.reduce(
    (all, { databases }) =>
      Object.values(databases).reduce((sum, one) => sum + (Number(one[what]) || 0), all),
    0,
  )

/** @param {readonly Info[]} infos @param {number} s since the first reading @returns {Amounts} */
export const amountsOf = (infos, s) => {
  const total = (/** @type {string[]} */ ...fields) =>
    infos.reduce(
      (sum, info) => sum + fields.reduce((all, name) => all + (Number(info.fields[name]) || 0), 0),
      0,
    )
  return {
    s,
    commands: total('total_commands_processed'),
    bytesIn: total('total_net_input_bytes'),
    bytesOut: total('total_net_output_bytes'),
    cpuS: total('used_cpu_user', 'used_cpu_sys'),
    gone: total('expired_keys', 'evicted_keys'),
    keys: inDatabases(infos, 'keys'),
  }
}

/**
 * Half of the 95 % interval of each rate, as a share of it; null: the time was too short.
 * @param {readonly Amounts[]} series
 */
export const noiseOf = (series) => {
  const parts = Math.min(mostParts, series.length - 1)
  const at = Array.from(
    { length: parts + 1 },
    (_, i) => series[Math.round((i * (series.length - 1)) / parts)],
  )
  const noise = (/** @type {Exclude<keyof Amounts, 's' | 'keys'>} */ name) => {
    if (parts < leastParts) return null
    const rates = at.slice(1).map((to, i) => (to[name] - at[i][name]) / Math.max(1e-3, to.s - at[i].s))
    const middle = mean(rates)
    if (middle <= 0) return 0
    const error = sampleStandardDeviation(rates) / Math.sqrt(parts)
    return (studentQuantile(0.025, parts - 1) * error) / middle
  }
  return {
    commands: noise('commands'),
    bytes_in: noise('bytesIn'),
    bytes_out: noise('bytesOut'),
    cpu: noise('cpuS'),
    gone: noise('gone'),
  }
}
