// What the run costs this process, and whether its sending thread was the limit.
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { known } from './node-figures.js'

/**
 * @typedef {object} ClientRow a second of this process; percent of one core
 * @property {number | null} cpu_pct all its threads
 * @property {number | null} thread_cpu_pct this thread alone: the one that sends
 * @property {number | null} busy_pct of the time in which this thread's loop was not waiting: above 90 it is the limit,
 *   unless its CPU is far below
 * @property {number} rss_mb
 * @property {number} loop_delay_ms_p99
 * @property {number} [stopped_ms] the longest time in which this thread did not run at all, from a second on
 * @property {number} over_s how long the second was
 * @property {number} cpu_s
 * @property {{ over_s: number, busy_s: number | null, cpu_s: number | null }} thread this thread alone
 *
 * @typedef {object} ClientSummary
 * @property {number} cpu_s
 * @property {number | null} cpu_pct
 * @property {number | null} thread_cpu_pct
 * @property {number | null} busy_pct
 * @property {number} rss_mb_max
 * @property {number} loop_delay_ms_p99
 * @property {number} stopped_ms the longest time of the run in which this thread did not run at all; 0: never a second
 *
 * @typedef {{ user: number, system: number }} CpuUse us
 */

const seconds = (/** @type {CpuUse} */ { user, system }) => (user + system) / 1e6

/** A file that Linux alone has; it names the thread that reads it. @param {string} name */
const ofThread = (name) => {
  try {
    return readFileSync(`/proc/thread-self/${name}`, 'utf8')
  } catch {
    return null
  }
}
const ticksASecond = 100 // of /proc, on every Linux

/** CPU of the calling thread as Linux counts it: to the nanosecond, or where that is not counted to 10 ms. */
export const linuxThreadCpuS = () => {
  const ns = Number(ofThread('schedstat')?.split(' ', 1)[0] ?? 0)
  if (ns > 0) return ns / 1e9
  const [, , , , , , , , , , , user, system] =
    ofThread('stat')
      ?.replace(/^.*\) /s, '')
      .split(' ') ?? []
  return (Number(user) + Number(system)) / ticksASecond
}

/** @type {{ threadCpuUsage?: () => CpuUse }} Node 20 does not have it, nor do its types */
const { threadCpuUsage } = /** @type {any} */ (process)
const threadCpuS = threadCpuUsage ? () => seconds(threadCpuUsage()) : linuxThreadCpuS

// A pause of a second that nearly no CPU was used in is none of this program's own work.
const stoppedFromMs = 1000
const stoppedShare = 0.25
const wakeMs = 250

/**
 * How long this thread stood still, or 0 when it was at work or did not stand still for long.
 * @param {number} pauseMs the longest time between two turns of the loop
 * @param {number} cpuMs of this thread since before it
 */
export const stoppedMs = (pauseMs, cpuMs) =>
  pauseMs >= stoppedFromMs && cpuMs < pauseMs * stoppedShare ? Math.round(pauseMs) : 0
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
      threadS: threadCpuS(),
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
        const threadS = known(now.threadS - start.threadS)
        return {
          overS,
          cpuS,
          threadS,
          busyS: known(performance.eventLoopUtilization(now.loop, start.loop).utilization * overS),
          threadMs: (threadS ?? cpuS) * 1000,
          cpu_pct: known((cpuS / overS) * 100),
          thread_cpu_pct: threadS === null ? null : known((threadS / overS) * 100),
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

  /**
   * The longest time between two turns of the loop. Taking it counts as a turn: after a pause the caller's timer may
   * be the first to fire, and a monitor that is reset then has not seen the pause.
   */
  const pauses = () => {
    let lastMs = clock()
    let longestMs = 0
    const wake = () => {
      const nowMs = clock()
      longestMs = Math.max(longestMs, nowMs - lastMs)
      lastMs = nowMs
    }
    const timer = setInterval(wake, wakeMs).unref()
    return {
      longestMs() {
        wake()
        return longestMs
      },
      restart() {
        lastMs = clock()
        longestMs = 0
      },
      stop: () => clearInterval(timer),
    }
  }

  const second = { use: meter(), delay: delays(), pause: pauses() }
  const window = { use: meter(), delay: delays() }
  let rssMax = 0
  let stoppedMax = 0
  const rss = () => {
    const bytes = process.memoryUsage.rss()
    rssMax = Math.max(rssMax, bytes)
    return bytes
  }

  return {
    /** What came before is no part of the first second, nor of the stops. */
    startRun: () => {
      second.use.restart()
      second.delay.reset()
      second.pause.restart()
      stoppedMax = 0
    },

    startWindow: () => {
      window.use.restart()
      window.delay.reset()
      rssMax = 0
    },

    /** Since the sample before. @returns {ClientRow} */
    sample: () => {
      const { overS, cpuS, threadS, busyS, threadMs, ...use } = second.use.read()
      const stopped = stoppedMs(second.pause.longestMs(), threadMs)
      stoppedMax = Math.max(stoppedMax, stopped)
      const thread = { over_s: overS, busy_s: busyS, cpu_s: threadS }
      const row = {
        over_s: overS,
        cpu_s: cpuS,
        thread,
        ...use,
        rss_mb: megabytes(rss()),
        loop_delay_ms_p99: second.delay.p99Ms(),
      }
      second.use.restart()
      second.delay.reset()
      second.pause.restart()
      return { ...row, ...(stopped > 0 && { stopped_ms: stopped }) }
    },

    /** Since startWindow(). @returns {ClientSummary} */
    summary: () => {
      const { overS, cpuS, threadS, busyS, threadMs, ...use } = window.use.read()
      rss()
      return {
        cpu_s: cpuS,
        ...use,
        rss_mb_max: megabytes(rssMax),
        loop_delay_ms_p99: window.delay.p99Ms(),
        stopped_ms: Math.max(stoppedMax, stoppedMs(second.pause.longestMs(), second.use.read().threadMs)),
      }
    },

    stop: () => {
      second.delay.disable()
      second.pause.stop()
      window.delay.disable()
    },
  }
}
