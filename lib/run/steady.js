// When a run is steady: latency, rate and CPU of three seconds in a row agree. Pure.

// Tolerance as a ratio: seconds of a steady run differ by chance, a p99 more than a median.
export const secondsThatAgree = 3
const apart = { rate: 1.1, p50: 1.5, p99: 2, cpu: 1.4 }
// Smaller differences are within tolerance whatever their ratio.
const leastUs = 500
const leastCpuPct = 5

/** @param {readonly (number | null | undefined)[]} values @param {number} ratio @param {number} least */
const agree = (values, ratio, least) => {
  const known = values.map((value) => Math.max(least, value ?? Number.NaN))
  return Math.max(...known) <= ratio * Math.min(...known)
}

/**
 * @typedef {object} SteadyLine of intervals.ndjson
 * @property {number | null} [achieved]
 * @property {{ intended: { p50: number, p99: number } | null }} latency_us
 * @property {readonly { cpu_pct?: number | null }[]} nodes
 * @property {{ cpu_pct?: number | null }} [client]
 */

/** @param {SteadyLine} line */
const cpuPct = ({ nodes, client }) =>
  nodes.reduce((sum, { cpu_pct: pct }) => sum + (pct ?? 0), 0) + (client?.cpu_pct ?? 0)

/** Lines so far, the newest last. @param {readonly SteadyLine[]} lines */
export const isSteady = (lines) => {
  // The first second creates keys and compiles code, so it never counts.
  const last = lines.slice(1).slice(-secondsThatAgree)
  if (last.length < secondsThatAgree) return false
  const times = last.map(({ latency_us: { intended } }) => intended)
  return (
    agree(
      last.map(({ achieved }) => achieved),
      apart.rate,
      1,
    ) &&
    agree(
      times.map((found) => found?.p50),
      apart.p50,
      leastUs,
    ) &&
    agree(
      times.map((found) => found?.p99),
      apart.p99,
      leastUs,
    ) &&
    agree(last.map(cpuPct), apart.cpu, leastCpuPct)
  )
}
