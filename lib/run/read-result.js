// The result of a run of consumers: what was counted, timed and sampled, under the names of run.json.

/**
 * @param {import('./read-setup.js').ReadRun} run
 * @param {{ startedEpochMs: number, durationS: number, interrupted: boolean }} ending
 */
export const resultOf = (run, { startedEpochMs, durationS, interrupted }) => {
  const { plan, card, clocks, uniqueness, driver, roles, journal, liveShare } = run
  return {
    kind: /** @type {const} */ ('consumer'),
    ...{ startedEpochMs, durationS, interrupted },
    plan,
    writing: card,
    consumers: plan.agents.length * plan.consumers,
    clocks: clocks.figures(),
    live: liveShare.summary(),
    uniqueness: uniqueness?.rows() ?? null,
    reads: driver.figures(),
    commands: roles.sums,
    nodes: run.sampler.summary().nodes,
    events: journal.events,
    sections: run.instruments.summary(0, durationS),
    sums: run.instruments.sums(0, durationS),
  }
}
