// What happens once a second besides the load: samples, the line of intervals.ndjson, the live line.
import { atMost } from '../base/timers.js'
import { isScheduled } from '../plan/pacer.js'
import { nodeSampler } from '../probes/node-sampler.js'

/**
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { Seconds, Snapshot } from '../probes/seconds.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Target } from '../servers/open.js'
 * @import { Line } from '../measures/fold.js'
 */

/** @param {Target} target @param {{ elapsed: () => number } & Partial<Parameters<typeof nodeSampler>[0]>} needs */
export const samplerOf = ({ nodes, info, access, sent, loadBytes }, { elapsed, ...more }) =>
  nodeSampler({ nodes, info, db: access.db, sent: sent?.of, loadBytes, ...more, clock: elapsed })

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
 * Calls `second` a little before each whole second, by absolute deadlines, and once more at the end for what is left.
 * @param {() => Promise<void>} second
 * @param {() => number} elapsed 0 until the start
 */
export const onceASecond = (second, elapsed) => {
  let next = 0
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {Promise<unknown>} */
  let underWay = Promise.resolve()
  const arm = () => {
    const nowMs = elapsed()
    next = Math.max(next + 1, Math.floor((nowMs + lineEarlyMs) / 1000) + 1)
    timer = setTimeout(due, next * 1000 - lineEarlyMs - nowMs)
  }
  const due = () => {
    arm()
    underWay = second().catch(() => {})
  }
  return {
    start: arm,
    cancel: () => clearTimeout(timer),
    /** Waits for a silent server only a limited time. */
    async stop() {
      clearTimeout(timer)
      await atMost(endLimitMs, underWay)
      await atMost(endLimitMs, second())
    },
  }
}

/** Whether it is the rest of a run after its last whole second. @param {number} overS */
const isRest = (overS) => overS < shortestS

/**
 * What the live line shows of every run. A line written just before a whole second counts as that second's.
 * @param {number} atMs
 * @param {Line} line
 */
const shownOf = (atMs, { latency_us: latencyUs, duration_us: durationUs, nodes }) => {
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
  plan.endMs !== null && (isScheduled(plan) || plan.durationMs === null) ? plan.endMs : plan.durationMs

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
  const second = async () => {
    watch()
    if (gather) await gather()
    const now = { ...moment(), phase: phase() }
    const { atMs, epochMs, overS } = now
    const [line, answers] = await Promise.all([instruments.second(now.phase !== 'warm-up'), ask?.(atMs)])
    needs.write({ epoch_ms: epochMs, at_ms: Math.round(atMs), ...(await needs.line(now, line, answers)) })
    if (isRest(overS)) return
    needs.show({
      ...shownOf(atMs, line),
      totalMs,
      phase: now.phase,
      nominalRate: null,
      .../** @type {Pick<Snapshot, 'achievedRate' | 'lost'>} */ (needs.shown(now, line)),
    })
  }
  const seconds = onceASecond(second, elapsed)
  return {
    ...seconds,
    start() {
      // Counts from before the start belong to no second.
      moment()
      seconds.start()
    },
  }
}
