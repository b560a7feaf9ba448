// What the run costs this process, and whether its one thread was the limit.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { known } from './node-figures.js'

/**
 * @typedef {object} ClientRow a second of this process; percent of one core
 * @property {number | null} cpu_pct all its threads
 * @property {number | null} thread_cpu_pct this thread alone; null before Node 22.15, which cannot tell
 * @property {number | null} busy_pct of the time in which this thread's loop was not waiting: above 90 it is the limit
 * @property {number} rss_mb
 * @property {number} loop_delay_ms_p99
 *
 * @typedef {object} ClientSummary
 * @property {number} cpu_s
 * @property {number | null} cpu_pct
 * @property {number | null} thread_cpu_pct
 * @property {number | null} busy_pct
 * @property {number} rss_mb_max
 * @property {number} loop_delay_ms_p99
 *
 * @typedef {{ user: number, system: number }} CpuUse us
 */

/** @type {() => CpuUse} the types of Node 20 do not know threadCpuUsage either */
const threadCpuUsage =
  /** @type {any} */ (process).threadCpuUsage ?? (() => ({ user: Number.NaN, system: Number.NaN }))

const seconds = (/** @type {CpuUse} */ { user, system }) => (user + system) / 1e6
const megabytes = (/** @type {number} */ bytes) => bytes / 1e6

/**
 * @param {object} needs
 * @param {() => number} needs.clock ms
 * @param {number} [needs.resolutionMs] how often the loop's delay is looked at; at 20 ms it costs 0.3 % of a core,
 *   at 1 ms 2 % (measured on an idle loop)
 */
export const clientHealth = ({ clock, resolutionMs = 20 }) => {
  /** Use of the processor since the last restart. */
  const meter = () => {
    const read = () => ({
      atMs: clock(),
      cpuS: seconds(process.cpuUsage()),
      threadS: seconds(threadCpuUsage()),
      loop: performance.eventLoopUtilization(),
    })
    let start = read()
    return {
      restart: () => {
        start = read()
      },
      read: () => {
        const now = read()
        const overS = (now.atMs - start.atMs) / 1000
        const cpuS = now.cpuS - start.cpuS
        return {
          cpuS,
          cpu_pct: known((cpuS / overS) * 100),
          thread_cpu_pct: known(((now.threadS - start.threadS) / overS) * 100),
          busy_pct: known(performance.eventLoopUtilization(now.loop, start.loop).utilization * 100),
        }
      },
    }
  }
  /** Both monitors wake together, so the second costs next to nothing; they count from wake to wake. */
  const delays = () => {
    const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
    histogram.enable()
    return {
      reset: () => histogram.reset(),
      disable: () => histogram.disable(),
      p99Ms: () => (histogram.count === 0 ? 0 : Math.max(0, histogram.percentile(99) / 1e6 - resolutionMs)),
    }
  }

  const second = { use: meter(), delay: delays() }
  const window = { use: meter(), delay: delays() }
  let rssMax = 0
  const rss = () => {
    const bytes = process.memoryUsage.rss()
    rssMax = Math.max(rssMax, bytes)
    return bytes
  }

  return {
    startWindow: () => {
      window.use.restart()
      window.delay.reset()
      rssMax = 0
    },

    /** Since the sample before. @returns {ClientRow} */
    sample: () => {
      const { cpuS, ...use } = second.use.read()
      const row = { ...use, rss_mb: megabytes(rss()), loop_delay_ms_p99: second.delay.p99Ms() }
      second.use.restart()
      second.delay.reset()
      return row
    },

    /** Since startWindow(). @returns {ClientSummary} */
    summary: () => {
      const { cpuS, ...use } = window.use.read()
      rss()
      return { cpu_s: cpuS, ...use, rss_mb_max: megabytes(rssMax), loop_delay_ms_p99: window.delay.p99Ms() }
    },

    stop: () => {
      second.delay.disable()
      window.delay.disable()
    },
  }
}
