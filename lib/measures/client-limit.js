// Whether the client was the limit of a run.
import { percent } from '../base/units.js'

/** @import { Reasons } from './warnings.js' */
/** @typedef {{ busy_pct?: number | null, thread_cpu_pct?: number | null, cpu_pct?: number | null, machine_busy_pct?: number | null, threads?: object | null }} ClientUse */

const busyLimitPct = 90
const ownShare = 0.8

/**
 * Why a loop was never idle: it had work for a whole core, or waited for threads of its own process (V8's, which collect
 * garbage); or other processes took the core, so the CPU of all of them is far below its busy time.
 * @param {ClientUse} client
 * @returns {'saturated' | 'contended' | null}
 */
export const clientLimit = ({ busy_pct: busyPct, thread_cpu_pct: threadPct, cpu_pct: cpuPct, threads }) => {
  if ((busyPct ?? 0) <= busyLimitPct) return null
  // The CPU of other sending threads is not that of the busiest.
  const isOne = Object.keys(threads ?? {}).length === 0
  const usedPct = Math.max(threadPct ?? 0, (isOne && cpuPct) || 0) || 100
  return usedPct < Number(busyPct) * ownShare ? 'contended' : 'saturated'
}

const machineFullPct = 98

/** Whether all cores of the client's machine were busy, whoever used them. @param {ClientUse} client */
export const isMachineFull = ({ machine_busy_pct: pct }) => (pct ?? 0) >= machineFullPct

/** @param {ClientUse} client */
export const contendedWords = ({ busy_pct: busyPct, thread_cpu_pct: threadPct, cpu_pct: cpuPct }) =>
  `${percent(busyPct)} busy with only ${percent(threadPct ?? cpuPct)} of a core`

/** The process did not run for a while: everything due then was late. @param {{ client: { stopped_ms?: number | null } }} run @returns {Reasons} */
export const clientStopped = ({ client: { stopped_ms: stoppedMs } }) => ({
  'client-stopped':
    stoppedMs &&
    `this process did not run for ${(stoppedMs / 1000).toFixed(1)} s: it was stopped (a signal, a debugger, a paused container or machine) or got no CPU; everything that was due then came late`,
})
