// What happens once a second beside the load: samples, the line of intervals.ndjson, the live line.

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

/**
 * Does something each second, and once more at the end, for the last, shorter second.
 * @param {() => Promise<void>} second
 */
export const onceASecond = (second) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {Promise<unknown>} */
  let underWay = Promise.resolve()
  return {
    start() {
      timer = setInterval(() => {
        underWay = second().catch(() => {})
      }, 1000)
    },
    async stop() {
      clearInterval(timer)
      await underWay
      await second()
    },
  }
}

/** @param {Record<string, number>} counts */
const sum = (counts) => Object.values(counts).reduce((total, n) => total + n, 0)

/**
 * @param {object} needs
 * @param {import('../plan/plan.js').Plan} needs.plan
 * @param {ReturnType<typeof import('../measure/ledger.js').ledgerOf>} needs.ledger
 * @param {ReturnType<typeof import('../measure/latency.js').latencyOf>} needs.latency
 * @param {ReturnType<typeof import('../measure/latency.js').series>} needs.felt by the bystander
 * @param {ReturnType<typeof import('../measure/client-health.js').clientHealth>} needs.health
 * @param {ReturnType<typeof import('../measure/node-sampler.js').nodeSampler>} needs.sampler
 * @param {{ watch: () => void, waitingBytes: () => number }} needs.driver
 * @param {() => number} needs.elapsed
 * @param {() => Snapshot['phase']} needs.phase
 * @param {(rows: NodeRow[]) => void} needs.look
 * @param {(line: object) => void} needs.write
 * @param {(snapshot: Snapshot) => void} needs.show
 */
export const everySecond = ({
  plan,
  ledger,
  latency,
  felt,
  health,
  sampler,
  driver,
  elapsed,
  phase,
  look,
  write,
  show,
}) => {
  let before = { ...ledger.whole, atMs: 0 }
  let waitingBytesMax = 0

  const second = async () => {
    driver.watch()
    const atMs = elapsed()
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
    const bystander_us = felt.turn()
    const client = { ...health.sample(), waiting_bytes: waitingBytes }
    const nodes = await sampler.sample()
    look(nodes)
    write({
      at_ms: Math.round(atMs),
      phase: phase(),
      items: counts,
      achieved,
      latency_us: { intended, service },
      bystander_us,
      client,
      nodes,
    })
    show({
      elapsedMs: atMs,
      totalMs: plan.durationMs ?? (plan.ticks === null ? null : plan.ticks * plan.spacingMs),
      phase: phase(),
      nominalRate: plan.nominalHz,
      achievedRate: achieved,
      p50Us: intended?.p50 ?? null,
      p99Us: intended?.p99 ?? null,
      masterCpuPct: busiest(nodes, 'master'),
      replicaCpuPct: busiest(nodes, 'replica'),
      lost: { failed: items.failed, uncertain: items.uncertain, dropped: items.dropped },
      errors: sum(ledger.errorsBy),
    })
  }

  return { ...onceASecond(second), waitingBytesMax: () => waitingBytesMax }
}
