// What happens once a second beside the load: samples, the line of intervals.ndjson, the live line.
import { isScheduled } from '../plan/pacer.js'
import { sleep } from './settlement.js'

/**
 * @typedef {import('../measure/node-sampler.js').NodeRow} NodeRow
 * @typedef {import('../report/live.js').Snapshot} Snapshot
 */

/** The hardest-worked node of a role. @param {NodeRow[]} rows @param {'master' | 'replica'} role */
export const busiest = (rows, role) => {
  const figures = rows.flatMap((row) =>
    row.role === role && row.engine_cpu_pct != null ? [row.engine_cpu_pct] : [],
  )
  return figures.length > 0 ? Math.max(...figures) : null
}

// A tick of a whole second belongs with its answers to the next line, and the warm-up ends between two lines.
const lineEarlyMs = 30
// A rest shorter than this in which nothing happened is no line of its own.
const shortestMs = 100
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
    /** A server that is silent at the end holds nobody up. */
    async stop() {
      clearTimeout(timer)
      await Promise.race([underWay, sleep(endLimitMs)])
      await Promise.race([second(), sleep(endLimitMs)])
    },
  }
}

/**
 * Too short to be a line, and nothing in it but the usual answers to PINGs.
 * @param {number} overS
 * @param {Record<string, number>} counts
 * @param {readonly ({ max: number } | null)[]} latencies of what was counted
 * @param {{ max: number } | null} [bystander] what was waited for long is told at the end
 */
export const isNoLine = (overS, counts, latencies, bystander = null) =>
  overS * 1000 < shortestMs &&
  Object.values(counts).every((n) => n === 0) &&
  latencies.every((each) => each === null) &&
  (bystander === null || bystander.max < shortestMs * 1000)

/** As people read it: the line before a whole second is that second's. @param {number} atMs */
export const shownMs = (atMs) => Math.round(atMs / 100) * 100

/** How long the run will take, in whole ticks where it has a schedule. @param {import('../plan/plan.js').Plan} plan */
export const lengthMs = (plan) =>
  plan.endMs !== null && (isScheduled(plan) || plan.durationMs === null) ? plan.endMs : plan.durationMs

/** @param {Record<string, number>} counts */
const sum = (counts) => Object.values(counts).reduce((total, n) => total + n, 0)

/**
 * @param {object} needs
 * @param {import('../plan/plan.js').Plan} needs.plan
 * @param {Pick<ReturnType<typeof import('../measure/ledger.js').ledgerOf>, 'whole' | 'errorsBy'>} needs.ledger
 * @param {ReturnType<typeof import('../measure/latency.js').latencyOf>} needs.latency
 * @param {ReturnType<typeof import('../measure/latency.js').series>} needs.felt by the bystander
 * @param {{ collect: () => void }} needs.probe
 * @param {ReturnType<typeof import('../measure/client-health.js').clientHealth>} needs.health
 * @param {ReturnType<typeof import('../measure/node-sampler.js').nodeSampler>} needs.sampler
 * @param {{ look: (atMs: number) => Promise<number | null> }} needs.presence
 * @param {(atMs: number) => Promise<void>} needs.watchClocks
 * @param {{ watch: () => void, waitingBytes: () => number }} needs.driver
 * @param {() => number} needs.elapsed
 * @param {() => Snapshot['phase']} needs.phase
 * @param {(line: object) => void} needs.write
 * @param {(snapshot: Snapshot) => void} needs.show
 */
export const everySecond = ({
  plan,
  ledger,
  latency,
  felt,
  probe,
  health,
  sampler,
  presence,
  watchClocks,
  driver,
  elapsed,
  phase,
  write,
  show,
}) => {
  let before = { ...ledger.whole, atMs: 0 }
  let waitingBytesMax = 0

  const second = async () => {
    driver.watch()
    const [atMs, epochMs] = [elapsed(), Date.now()]
    const items = { ...ledger.whole }
    const overS = (atMs - before.atMs) / 1000
    const achieved = overS > 0 ? (items.acked - before.acked) / overS : null
    const outcomes = /** @type {const} */ ([
      'offered',
      'acked',
      'failed',
      'uncertain',
      'dropped',
      'unsettled',
    ])
    const counts = Object.fromEntries(outcomes.map((outcome) => [outcome, items[outcome] - before[outcome]]))
    before = { ...items, atMs }
    const waitingBytes = driver.waitingBytes()
    waitingBytesMax = Math.max(waitingBytesMax, waitingBytes)
    const intended = latency.intended.turn()
    const service = latency.service.turn()
    probe.collect()
    const bystander_us = felt.turn()
    const client = { ...health.sample(), waiting_bytes: waitingBytes }
    const now = phase()
    const [nodes, writers] = await Promise.all([sampler.sample(), presence.look(atMs), watchClocks(atMs)])
    if (isNoLine(overS, counts, [intended, service], bystander_us)) return
    write({
      epoch_ms: epochMs,
      at_ms: Math.round(atMs),
      phase: now,
      items: counts,
      achieved,
      latency_us: { intended, service },
      bystander_us,
      client,
      writers,
      nodes,
    })
    show({
      elapsedMs: shownMs(atMs),
      totalMs: lengthMs(plan),
      phase: now,
      nominalRate: plan.nominalHz,
      achievedRate: achieved,
      p50Us: intended?.p50 ?? null,
      p99Us: intended?.p99 ?? null,
      masterCpuPct: busiest(nodes, 'master'),
      replicaCpuPct: busiest(nodes, 'replica'),
      lost: {
        failed: items.failed,
        uncertain: items.uncertain,
        dropped: items.dropped,
        errors: sum(ledger.errorsBy),
      },
    })
  }

  return { ...onceASecond(second, elapsed), waitingBytesMax: () => waitingBytesMax }
}
