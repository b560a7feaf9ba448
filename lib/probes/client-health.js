// The CPU and memory of this process in a run, and whether its sending thread was the limit.
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { finite } from './node-figures.js'

/**
 * @typedef {object} ClientRow a second of this process
 * @property {number} over_s how long the second was
 * @property {number} cpu_s all its threads
 * @property {{ over_s: number, busy_s: number | null, cpu_s: number | null }} thread this one alone, which sends; busy: its
 *   loop was not waiting
 * @property {{ over_s: number, busy_s: number } | null} machine all cores together, whoever uses them; null: Linux alone says it
 * @property {number} rss_mb the highest one where the process never had more before, else at the end of the second
 * @property {number} loop_delay_ms_p99
 * @property {number} [stopped_ms] the longest time in which this thread did not run at all, from a second on
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

/** CPU of the calling thread by Linux: in nanoseconds or, where these are not counted, in steps of 10 ms. */
export const linuxThreadCpuS = () => {
  const ns = Number(ofThread('schedstat')?.split(' ', 1)[0] ?? 0)
  if (ns > 0) return ns / 1e9
  const [, , , , , , , , , , , user, system] =
    ofThread('stat')
      ?.replace(/^.*\) /s, '')
      .split(' ') ?? []
  return (Number(user) + Number(system)) / ticksASecond
}

/**
 * The time of all cores of the machine, and how much of it they were busy with anything. What a hypervisor took away counts
 * as busy; waiting for a disk does not.
 */
const machineTimes = () => {
  try {
    const [, ...ticks] = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0].split(/ +/)
    // user nice system idle iowait irq softirq steal; what follows is part of user.
    const times = ticks.slice(0, 8).map((n) => Number(n) / ticksASecond)
    const overS = times.reduce((sum, s) => sum + s, 0)
    return { over_s: overS, busy_s: overS - times[3] - times[4] }
  } catch {
    return null
  }
}

/** @type {{ threadCpuUsage?: () => CpuUse }} Node 20 does not have it, nor do its types */
const { threadCpuUsage } = Object(process)
const threadCpuS = threadCpuUsage ? () => seconds(threadCpuUsage()) : linuxThreadCpuS

// In a pause with less CPU than this the program was stopped, and not busy.
const stoppedFromMs = 1000
const stoppedShare = 0.25
const wakeMs = 250

/**
 * How long this thread did not run, or 0 when it was busy or ran again soon.
 * @param {number} pauseMs the longest time between two turns of the loop
 * @param {number} cpuMs of this thread since before it
 */
export const stoppedMs = (pauseMs, cpuMs) =>
  pauseMs >= stoppedFromMs && cpuMs < pauseMs * stoppedShare ? Math.round(pauseMs) : 0

/** CPU use since the last restart. @param {() => number} clock */
const meter = (clock) => {
  const read = () => ({
    atMs: clock(),
    cpuS: seconds(process.cpuUsage()),
    threadS: threadCpuS(),
    machine: machineTimes(),
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
      return {
        over_s: overS,
        cpu_s: now.cpuS - start.cpuS,
        thread: {
          over_s: overS,
          busy_s: finite(performance.eventLoopUtilization(now.loop, start.loop).utilization * overS),
          cpu_s: finite(now.threadS - start.threadS),
        },
        machine:
          now.machine && start.machine
            ? {
                over_s: now.machine.over_s - start.machine.over_s,
                busy_s: now.machine.busy_s - start.machine.busy_s,
              }
            : null,
      }
    },
  }
}

/** Both monitors fire together, so the second costs next to nothing; they count from one firing to the next. @param {number} resolutionMs */
const delays = (resolutionMs) => {
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
 * @param {() => number} clock
 */
const pauses = (clock) => {
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

/** Resident memory: the process's highest, if it was reached since the last call; otherwise the current one. */
const memory = () => {
  // On other systems its unit depends on the version of Node.
  const highest = () => (process.platform === 'linux' ? process.resourceUsage().maxRSS * 1024 : 0)
  let before = highest()
  return () => {
    const now = highest()
    const isHigher = now > before
    before = now
    return isHigher ? now : process.memoryUsage.rss()
  }
}

/** Percent of a core that all threads use in seconds without load; null: there were none. @param {() => number} clock */
const idling = (clock) => {
  const use = meter(clock)
  let isFree = false
  /** @type {number | null} */
  let pct = null
  return {
    /** Between two of these is a second. @param {boolean} isIdle whether from now on nothing else is done */
    sample(isIdle) {
      const { cpu_s: cpuS, over_s: overS } = use.read()
      if (isFree && overS > 0) pct = Math.min(pct ?? Number.POSITIVE_INFINITY, (100 * cpuS) / overS)
      isFree = isIdle
      use.restart()
    },
    pct: () => pct,
  }
}

/**
 * @param {object} needs
 * @param {() => number} needs.clock ms
 * @param {number} [needs.resolutionMs] how often the loop's delay is looked at; at 20 ms it costs 0.3 % of a core,
 *   at 1 ms 2 % (measured on an idle loop)
 */
export const clientHealth = ({ clock, resolutionMs = 20 }) => {
  const idle = idling(clock)
  const second = { use: meter(clock), delay: delays(resolutionMs), pause: pauses(clock) }
  const windowDelay = delays(resolutionMs)
  const rss = memory()

  return {
    /** What happened before does not count in the first second. */
    startRun: () => {
      second.use.restart()
      second.delay.reset()
      second.pause.restart()
    },

    startWindow: () => windowDelay.reset(),

    sampleIdle: idle.sample,
    /** The least of the seconds: what was made ready before still keeps threads of V8 busy. */
    idlePct: idle.pct,

    /** Since the last sample. @returns {ClientRow} */
    sample: () => {
      const use = second.use.read()
      const stopped = stoppedMs(second.pause.longestMs(), (use.thread.cpu_s ?? use.cpu_s) * 1000)
      const row = {
        ...use,
        rss_mb: rss() / 1e6,
        loop_delay_ms_p99: second.delay.p99Ms(),
      }
      second.use.restart()
      second.delay.reset()
      second.pause.restart()
      return { ...row, ...(stopped > 0 && { stopped_ms: stopped }) }
    },

    /** Since startWindow(). */
    windowDelayMs: windowDelay.p99Ms,

    stop: () => {
      second.delay.disable()
      second.pause.stop()
      windowDelay.disable()
    },
  }
}
