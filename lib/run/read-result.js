// The result of a run of consumers: what was counted, timed and sampled, under the names of run.json.

/** @typedef {import('./read-setup.js').ReadRun} ReadRun */

/** @param {Record<string, any> | null} us */
const inMs = (us) =>
  us &&
  Object.fromEntries(Object.entries(us).map(([name, n]) => [name, name === 'count' ? n : Number(n) / 1000]))

/** @param {ReadRun['plan']} plan @param {ReadRun['fetches']['whole']} counts @param {number} consumers @param {number} durationS */
const ratesOf = ({ pacing, periodMs }, counts, consumers, durationS) => {
  const per = (/** @type {number} */ n) => (durationS > 0 ? n / durationS : null)
  return {
    nominal: pacing === 'closed' ? null : (consumers * 1000) / periodMs,
    achieved: per(counts.count),
    items: per(counts.items),
    value_bytes: per(counts.bytes),
  }
}

/**
 * @param {ReadRun} run
 * @param {{ startedEpochMs: number, durationMs: number, interrupted: boolean }} ending
 */
export const resultOf = (run, { startedEpochMs, durationMs, interrupted }) => {
  const { plan, card, fetches, delays, clocks, judge, uniqueness, driver, roles, journal, liveShare } = run
  const consumers = plan.agents.length * plan.consumers
  const durationS = durationMs / 1000
  return {
    kind: /** @type {const} */ ('consumer'),
    startedEpochMs,
    durationS,
    interrupted,
    plan,
    writing: card,
    consumers,
    fetches: {
      ...fetches.whole,
      failed_by: fetches.failedBy,
      ...fetches.summary(),
    },
    rate: ratesOf(plan, fetches.whole, consumers, durationS),
    replication_ms: inMs(delays.whole()),
    clocks: clocks.figures(),
    verify: judge && { ...judge.counts, examples: judge.examples },
    live: liveShare.summary(),
    uniqueness: uniqueness?.rows() ?? null,
    reads: driver.figures(),
    commands: roles.sums,
    nodes: run.sampler.summary().nodes,
    events: journal.events,
    sections: run.instruments.summary(0),
    sums: { stored: 0, facts: run.instruments.facts() },
  }
}
