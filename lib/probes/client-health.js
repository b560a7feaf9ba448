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

/**
 * How long this thread did not run, or 0 when it was busy or ran again soon.
 * @param {number} pauseMs the longest time between two turns of the loop
 * @param {number} cpuMs of this thread since before it
 */
export const stoppedMs = (pauseMs, cpuMs) =>
  pauseMs >= stoppedFromMs && cpuMs < pauseMs * stoppedShare ? Math.round(pauseMs) : 0

/**
 * What changed since the call before.
 * @template Reading, Amounts
 * @param {() => Reading} read
 * @param {(before: Reading, now: Reading) => Amounts} between
 */
const sinceBefore = (read, between) => {
  let before = read()
  return () => {
    const now = read()
    const amounts = between(before, now)
    before = now
    return amounts
  }
}

/** Of this thread. @param {() => number} clock */
const threadUse = (clock) =>
  sinceBefore(
    () => ({ atMs: clock(), cpuS: threadCpuS(), loop: performance.eventLoopUtilization() }),
    (before, now) => {
      const overS = (now.atMs - before.atMs) / 1000
      const { utilization } = performance.eventLoopUtilization(now.loop, before.loop)
      return { over_s: overS, busy_s: finite(utilization * overS), cpu_s: finite(now.cpuS - before.cpuS) }
    },
  )

/** Of all threads of this process. @param {() => number} clock */
const processUse = (clock) =>
  sinceBefore(
    () => ({ atMs: clock(), cpuS: seconds(process.cpuUsage()) }),
    (before, now) => ({ over_s: (now.atMs - before.atMs) / 1000, cpu_s: now.cpuS - before.cpuS }),
  )

/** Of all cores of the machine. */
const machineUse = () =>
  sinceBefore(machineTimes, (before, now) =>
    before && now ? { over_s: now.over_s - before.over_s, busy_s: now.busy_s - before.busy_s } : null,
  )

// A pause that counts as one is four looks long.
const lookMs = 250

/**
 * Both monitors fire together, so the second costs next to nothing; they count from one firing to the next.
 * @param {number} resolutionMs
 */
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
 * The longest time between two looks, and this thread's CPU in it: what it used before or after says nothing of a pause.
 * @param {number} everyMs
 * @param {() => number} clock
 */
const pausesOf = (everyMs, clock) => {
  const read = () => ({ atMs: clock(), cpuS: threadCpuS() })
  let last = read()
  let longest = { ms: 0, cpuMs: 0 }
  const look = () => {
    const now = read()
    const ms = now.atMs - last.atMs
    if (ms > longest.ms) longest = { ms, cpuMs: (now.cpuS - last.cpuS) * 1000 }
    last = now
  }
  const timer = setInterval(look, everyMs).unref()
  return {
    /** Since the last call. */
    longest() {
      look()
      const found = longest
      longest = { ms: 0, cpuMs: 0 }
      return found
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
  const use = processUse(clock)
  let isFree = false
  /** @type {number | null} */
  let pct = null
  return {
    /** Between two of these is a second. @param {boolean} isIdle whether from now on nothing else is done */
    sample(isIdle) {
      const { cpu_s: cpuS, over_s: overS } = use()
      if (isFree && overS > 0) pct = Math.min(pct ?? Number.POSITIVE_INFINITY, (100 * cpuS) / overS)
      isFree = isIdle
    },
    pct: () => pct,
  }
}

/**
 * Of a thread that sends.
 * @param {object} needs
 * @param {() => number} needs.clock ms
 * @param {number} [needs.resolutionMs] how often the loop's delay is looked at, which wakes the thread: of an idle one 20 looks
 *   a second took 0.1 % of a core
 */
export const threadHealth = ({ clock, resolutionMs = lookMs }) => {
  const use = threadUse(clock)
  const delay = delays(resolutionMs)
  const windowDelay = delays(resolutionMs)
  const pauses = pausesOf(resolutionMs, clock)
  return {
    /** What happened before does not count in the first second. */
    startRun() {
      use()
      delay.reset()
      pauses.longest()
    },
    startWindow: () => windowDelay.reset(),
    /** Since the last sample. @param {number} [processS] CPU of the process meanwhile, where that of the thread is not known */
    sample(processS = Number.POSITIVE_INFINITY) {
      const thread = use()
      const { ms, cpuMs } = pauses.longest()
      const stopped = stoppedMs(ms, Number.isFinite(cpuMs) ? cpuMs : processS * 1000)
      const row = { thread, loop_delay_ms_p99: delay.p99Ms(), ...(stopped > 0 && { stopped_ms: stopped }) }
      delay.reset()
      return row
    },
    /** Since startWindow(). */
    windowDelayMs: windowDelay.p99Ms,
    stop() {
      delay.disable()
      windowDelay.disable()
      pauses.stop()
    },
  }
}

/** Of a process with the thread that asks. @param {{ clock: () => number, resolutionMs?: number }} needs */
export const clientHealth = ({ clock, resolutionMs = lookMs }) => {
  const { sample, startRun, ...thread } = threadHealth({ clock, resolutionMs })
  const idle = idling(clock)
  const use = processUse(clock)
  const machine = machineUse()
  const rss = memory()
  return {
    ...thread,
    startRun() {
      startRun()
      use()
      machine()
    },
    sampleIdle: idle.sample,
    /** The least of the seconds: what was made ready before still keeps threads of V8 busy. */
    idlePct: idle.pct,
    /** Since the last sample. @returns {ClientRow} */
    sample() {
      const { over_s, cpu_s } = use()
      return { over_s, cpu_s, machine: machine(), rss_mb: rss() / 1e6, ...sample(cpu_s) }
    },
  }
}
