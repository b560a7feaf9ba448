// The result of a run of consumers: what was counted, timed and sampled, under the names of run.json.

import { commandsOf } from '../measures/nodes.js'

/** @import { ReadRun } from './read-setup.js' */

/**
 * @param {ReadRun} run
 * @param {{ startedEpochMs: number, durationS: number, interrupted: boolean }} ending
 */
export const resultOf = (run, { startedEpochMs, durationS, interrupted }) => {
  const { plan, card, clocks, uniqueness, driver, instruments, journal, liveShare } = run
  const { nodes } = instruments.sofar
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
    commands: { master: commandsOf(nodes, 'master'), replica: commandsOf(nodes, 'replica') },
    events: journal.events,
    ...instruments.result({ stored: 0, overS: durationS }),
  }
}
