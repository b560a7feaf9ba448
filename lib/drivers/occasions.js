// When steps that carry no item are due, and with which values.

/**
 * @typedef {import('../wire/encode.js').TickValues} TickValues
 * @typedef {import('../workloads/step.js').Step} Step
 */

/**
 * The windows [since, floor) of dead scores since the last purge, none wider than `widthMs`: one
 * ZREMRANGEBYSCORE of a million members stops a server for 0.7 s.
 * @param {number} fromMs
 * @param {number} toMs
 * @param {number} widthMs
 * @param {TickValues} values
 */
export const deadWindows = (fromMs, toMs, widthMs, values) => {
  const windows = /** @type {TickValues[]} */ ([])
  const width = Math.max(1, Math.ceil(widthMs))
  for (let since = fromMs; since < toMs; since += width) {
    windows.push({ ...values, since: String(since), floor: String(Math.min(toMs, since + width)) })
  }
  return windows
}

/**
 * @param {{ spacingMs: number }} plan
 */
export const occasionsOf = ({ spacingMs }) => {
  /** @type {Map<Step, Map<number, number>>} epoch at which a step of an agent was last sent */
  const last = new Map()
  return {
    /**
     * The values with which the step is sent at this tick: none when it is not due yet.
     * @param {Step} step
     * @param {number} agent it is sent for
     * @param {TickValues} values
     * @returns {TickValues[]}
     */
    passes(step, agent, values) {
      if (step.kind !== 'once' || step.everyMs === 0) return [values]
      const now = Number(values.score)
      const ofStep = last.get(step) ?? new Map()
      last.set(step, ofStep)
      const before = ofStep.get(agent)
      if (before !== undefined && now < before + step.everyMs) return []
      ofStep.set(agent, now)
      if (!step.windows) return [values]
      const floor = Number(values.floor)
      return before === undefined ? [] : deadWindows(floor - (now - before), floor, spacingMs, values)
    },
  }
}
