// What happens once a second beside the load: samples, the line of intervals.ndjson, the live line.
import { atMost } from '../base/timers.js'
import { nodeSampler } from '../measure/node-sampler.js'
import { isScheduled } from '../plan/pacer.js'

/**
 * @import { ledgerOf } from '../measure/ledger.js'
 * @import { NodeRow } from '../measure/node-sampler.js'
 * @import { instrumentsOf } from '../measures/index.js'
 * @import { Plan } from '../plan/plan.js'
 * @import { Snapshot } from '../report/live.js'
 * @import { Target } from '../servers/open.js'
 */

/**
 * What samples every node.
 * @param {Target} target
 * @param {{ elapsed: () => number } & Partial<Parameters<typeof nodeSampler>[0]>} needs
 */
export const samplerOf = ({ nodes, info, access }, { elapsed, ...more }) =>
  nodeSampler({ nodes, info, db: access.db, ...more, clock: elapsed })

/** The hardest-worked node of a role. @param {NodeRow[]} rows @param {'master' | 'replica'} role */
const busiest = (rows, role) => {
  const figures = rows.flatMap((row) =>
    row.role === role && row.engine_cpu_pct != null ? [row.engine_cpu_pct] : [],
  )
  return figures.length > 0 ? Math.max(...figures) : null
}

// A tick of a whole second belongs with its answers to the next line, and the warm-up ends between two lines.
const lineEarlyMs = 30
// What the live line would show of a shorter rest is of no second.
const shortestS = 0.1
const endLimitMs = 2000

/**
 * Does something a little before each whole second, by absolute deadlines, and once more at the end for what is left.
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
    timer = setTimeout(
      () => {
        arm()
        underWay = second().catch(() => {})
      },
      next * 1000 - lineEarlyMs - nowMs,
    )
  }
  return {
    start: arm,
    /** A server that is silent at the end does not delay the end. */
    async stop() {
      clearTimeout(timer)
      await atMost(endLimitMs, underWay)
      await atMost(endLimitMs, second())
    },
  }
}

/** The rest of a run after its last whole second. @param {number} overS */
export const isRest = (overS) => overS < shortestS

/** When it is, and how long after the call before. @param {() => number} elapsed */
export const momentsOf = (elapsed) => {
  let beforeMs = 0
  return () => {
    const [atMs, epochMs] = [elapsed(), Date.now()]
    const overS = (atMs - beforeMs) / 1000
    beforeMs = atMs
    return { atMs, epochMs, overS }
  }
}

/**
 * What was counted since the call before.
 * @template {Record<string, number>} Counts
 * @param {() => Counts} totals
 * @param {keyof Counts & string} main whose change a second is the rate
 * @param {() => number} elapsed
 */
export const changesOf = (totals, main, elapsed) => {
  const moment = momentsOf(elapsed)
  let before = { ...totals() }
  return () => {
    const { overS, ...when } = moment()
    const now = { ...totals() }
    const perS = overS > 0 ? (now[main] - before[main]) / overS : null
    const counts = Object.fromEntries(Object.keys(now).map((name) => [name, now[name] - before[name]]))
    before = now
    return { ...when, now, overS, perS, counts }
  }
}

/**
 * What the live line shows of writers and of readers. The line before a whole second is that second's.
 * @param {number} atMs
 * @param {{ p50: number, p99: number } | null | undefined} times
 * @param {NodeRow[]} nodes
 */
export const shownOf = (atMs, times, nodes) => ({
  elapsedMs: Math.round(atMs / 100) * 100,
  p50Us: times?.p50 ?? null,
  p99Us: times?.p99 ?? null,
  // Of a fleet, one box samples the nodes.
  masterCpuPct: nodes.length === 0 ? undefined : busiest(nodes, 'master'),
  replicaCpuPct: busiest(nodes, 'replica'),
})

/** How long the run will take, in whole ticks where it has a schedule. @param {Plan} plan */
export const lengthMs = (plan) =>
  plan.endMs !== null && (isScheduled(plan) || plan.durationMs === null) ? plan.endMs : plan.durationMs

/** @param {Record<string, number>} counts */
const sum = (counts) => Object.values(counts).reduce((total, n) => total + n, 0)

/**
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Pick<ReturnType<typeof ledgerOf>, 'whole' | 'errorsBy'>} needs.ledger
 * @param {Pick<Awaited<ReturnType<typeof instrumentsOf>>, 'second'>} needs.instruments
 * @param {{ look: (atMs: number) => Promise<number | null> }} needs.presence
 * @param {(atMs: number) => Promise<void>} needs.watchClocks
 * @param {{ watch: () => void }} needs.driver
 * @param {() => number} needs.elapsed
 * @param {() => Snapshot['phase']} needs.phase
 * @param {(line: object) => void} needs.write
 * @param {(snapshot: Snapshot) => void} needs.show
 */
export const everySecond = ({
  plan,
  ledger,
  instruments,
  presence,
  watchClocks,
  driver,
  elapsed,
  phase,
  write,
  show,
}) => {
  const changes = changesOf(() => ledger.whole, 'acked', elapsed)

  const second = async () => {
    driver.watch()
    const { atMs, epochMs, now, overS, perS: achieved, counts } = changes()
    const nowIn = phase()
    const [line, writers] = await Promise.all([
      instruments.second(nowIn !== 'warm-up'),
      presence.look(atMs),
      watchClocks(atMs),
    ])
    write({
      epoch_ms: epochMs,
      at_ms: Math.round(atMs),
      phase: nowIn,
      items: counts,
      achieved,
      ...line,
      writers,
    })
    if (isRest(overS)) return
    show({
      ...shownOf(atMs, line.latency_us.intended, line.nodes),
      totalMs: lengthMs(plan),
      phase: nowIn,
      nominalRate: plan.nominalHz,
      achievedRate: achieved,
      lost: {
        failed: now.failed,
        uncertain: now.uncertain,
        dropped: now.dropped,
        errors: sum(ledger.errorsBy),
      },
    })
  }

  const seconds = onceASecond(second, elapsed)
  return {
    ...seconds,
    start() {
      // Who joins a run that is under way has nothing from before.
      changes()
      seconds.start()
    },
  }
}
