// What happens once a second besides the load: samples, the line of intervals.ndjson, the live line.
import { errorOf } from '../base/errors.js'
import { untilStopped } from '../base/interrupts.js'
import { atMost, deferred } from '../base/timers.js'

/**
 * @import { NodeRow, OwnCounts } from '../probes/node-sampler.js'
 * @import { Seconds, Snapshot } from '../probes/seconds.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Target } from '../servers/open.js'
 * @import { Amounts } from '../measures/fold.js'
 */

/** CPU of the busiest node of a role. @param {NodeRow[]} rows @param {'master' | 'replica'} role */
const busiest = (rows, role) => {
  const figures = rows.flatMap((row) =>
    row.role === role && row.engine_cpu_pct != null ? [row.engine_cpu_pct] : [],
  )
  return figures.length > 0 ? Math.max(...figures) : null
}

// The line is written this much earlier, so that a tick due at a whole second belongs with its answers to the next
// line, and the warm-up ends between two lines.
const lineEarlyMs = 30
// A shorter rest at the end of a run is not shown.
const shortestS = 0.1
const endLimitMs = 2000

/**
 * Calls `second` a little before each whole second, by absolute deadlines, and once more at the end for what is left. Its
 * argument resolves when no answer is waited for any more.
 * @param {(tooLate: Promise<void>) => Promise<void>} second
 * @param {() => number} elapsed 0 until the start
 * @param {object} [more]
 * @param {(error: Error) => void} [more.onFailed] a second whose amounts are lost
 * @param {(stopNow: AbortSignal) => Promise<void>} [more.beforeLast] it has a limit of its own, which takes nothing from that of the servers
 */
export const onceASecond = (second, elapsed, { onFailed = () => {}, beforeLast = async () => {} } = {}) => {
  let next = 0
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {Promise<unknown>} */
  let underWay = Promise.resolve()
  /** @type {Set<() => void>} */
  const waiting = new Set()
  const take = async () => {
    const { over, finish } = deferred()
    waiting.add(finish)
    await second(over).catch((error) => onFailed(errorOf(error)))
    waiting.delete(finish)
  }
  /** A server that is silent is waited for only a limited time, and the line is written without its answer. @param {Promise<unknown>} taken @param {AbortSignal} stopNow */
  const ending = async (taken, stopNow) => {
    await untilStopped(stopNow, atMost(endLimitMs, taken), undefined)
    for (const finish of waiting) finish()
    await atMost(endLimitMs, taken)
  }
  const arm = () => {
    const nowMs = elapsed()
    next = Math.max(next + 1, Math.floor((nowMs + lineEarlyMs) / 1000) + 1)
    timer = setTimeout(due, next * 1000 - lineEarlyMs - nowMs)
  }
  const due = () => {
    arm()
    underWay = Promise.all([underWay, take()])
  }
  return {
    start: arm,
    cancel: () => clearTimeout(timer),
    /** @param {AbortSignal} stopNow */
    async stop(stopNow) {
      clearTimeout(timer)
      await ending(underWay, stopNow)
      await beforeLast(stopNow).catch((error) => onFailed(errorOf(error)))
      await ending(take(), stopNow)
    },
  }
}

/** Whether it is the rest of a run after its last whole second. @param {number} overS */
const isRest = (overS) => overS < shortestS

/**
 * What the live line shows of every run. A line written just before a whole second counts as that second's.
 * @param {number} atMs
 * @param {Amounts} line
 */
const shownOf = (atMs, { latency_us: latencyUs, duration_us: durationUs, nodes = [] }) => {
  const times = latencyUs ? latencyUs.intended : durationUs
  return {
    elapsedMs: Math.round(atMs / 100) * 100,
    p50Us: times?.p50 ?? null,
    p99Us: times?.p99 ?? null,
    // In a fleet, one box samples the nodes.
    masterCpuPct: nodes.length === 0 ? undefined : busiest(nodes, 'master'),
    replicaCpuPct: busiest(nodes, 'replica'),
  }
}

/** How long the run will take, in whole ticks where it has a schedule. @param {Plan} plan */
export const lengthMs = (plan) =>
  plan.endMs !== null && (plan.schedule !== 'none' || plan.durationMs === null) ? plan.endMs : plan.durationMs

/** Takes, writes and shows each second. @param {Seconds} needs */
export const everySecond = (needs) => {
  const {
    instruments,
    moment,
    watch = () => {},
    gather,
    ask,
    phase = () => 'measuring',
    totalMs,
    elapsed,
  } = needs
  /** Lines are written in the order of their seconds, in which they are added up. */
  let written = Promise.resolve()
  let isGathered = false
  const take = async (/** @type {Promise<void>} */ tooLate, /** @type {Promise<void>} */ before) => {
    watch()
    // The window may open while other threads tell what they counted until now.
    const begun = phase()
    if (gather && !isGathered) await gather()
    const now = { ...moment(), phase: begun }
    const { atMs, epochMs, overS } = now
    const asked = Promise.race([ask?.(atMs), tooLate]).catch(() => {})
    const line = await instruments.second(now.phase !== 'warm-up', tooLate)
    const made = await needs.line(now, line, (await asked) ?? null)
    await before
    needs.write({ epoch_ms: epochMs, at_ms: Math.round(atMs), ...made })
    if (isRest(overS)) return
    needs.show({
      ...shownOf(atMs, line),
      totalMs,
      phase: now.phase,
      nominalRate: null,
      .../** @type {Pick<Snapshot, 'achievedRate' | 'lost'>} */ (needs.shown(now, line)),
    })
  }
  const second = (/** @type {Promise<void>} */ tooLate) => {
    const { over, finish } = deferred()
    const before = written
    written = over
    return take(tooLate, before).finally(finish)
  }
  const gatherLast = async (/** @type {AbortSignal} */ stopNow) => {
    await gather?.(stopNow)
    isGathered = true
  }
  const seconds = onceASecond(second, elapsed, { onFailed: needs.onFailed, beforeLast: gatherLast })
  return {
    ...seconds,
    start() {
      // Counts from before the start belong to no second.
      moment()
      seconds.start()
    },
  }
}
