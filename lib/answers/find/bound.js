// What trials at one rate say of it, by RFC 9971: a lower bound passes even if all the time that is missing were bad, an
// upper bound fails even if it were good. Trials shorter than the goal's count in part. Pure.

/**
 * @typedef {{ seconds: number, passed: boolean }} Trial
 * @typedef {object} Goal
 * @property {number} seconds of trials in all
 * @property {number} exceed the share of them that may fail
 * @property {number} [trialSeconds] of a full-length trial
 */

/** @param {readonly Trial[]} trials @param {Goal} goal @returns {'lower' | 'upper' | 'undecided'} */
export const boundOf = (trials, { seconds, exceed, trialSeconds = 1 }) => {
  const { bad, all } = exceeding(trials, { exceed, trialSeconds })
  const whole = Math.max(all, seconds)
  if (bad > whole * exceed) return 'upper'
  return bad + whole - all <= whole * exceed ? 'lower' : 'undecided'
}

/**
 * Seconds of trials, and those of them that failed: short ones count only as far as short ones that passed do not make
 * up for them.
 * @param {readonly Trial[]} trials
 * @param {{ exceed: number, trialSeconds: number }} goal
 */
export const exceeding = (trials, { exceed, trialSeconds }) => {
  /** @param {boolean} full @param {boolean} passed */
  const sum = (full, passed) =>
    trials
      .filter((trial) => trial.seconds >= trialSeconds === full && trial.passed === passed)
      .reduce((total, trial) => total + trial.seconds, 0)
  const short = Math.max(0, sum(false, false) - (sum(false, true) * exceed) / (1 - exceed))
  const bad = sum(true, false) + short
  return { bad, all: bad + sum(true, true) }
}
