// When steps that carry no item are due, and how often.

/**
 * @import { TickValues } from '../wire/encode.js'
 * @import { OnceStep, Step } from '../workloads/bind/writer.js'
 * @import { TickPart } from './tick-batches.js'
 */

/** @param {{ spacingMs: number, agents: readonly { agent: number }[] }} plan */
export const dueStepsOf = ({ spacingMs, agents }) => {
  const [{ agent: keeper }] = agents
  /** @type {Map<OnceStep, number>} epoch up to which a step was sent */
  const last = new Map()
  /** @type {Map<OnceStep, { values: TickValues, times: number }>} what a step's tick under way has to send */
  const underWay = new Map()

  /** @param {OnceStep} step @param {number} now */
  const timesDue = (step, now) => {
    const before = last.get(step)
    if (before === undefined || !step.paced) {
      if (before !== undefined && now < before + step.everyMs) return 0
      last.set(step, now)
      return step.paced ? 0 : 1
    }
    const times = Math.floor((now - before) / step.everyMs)
    // No burst after a pause: missed times are made up for gradually.
    const most = 2 * Math.ceil(spacingMs / step.everyMs)
    last.set(step, times > most ? now : before + times * step.everyMs)
    return Math.min(times, most)
  }

  /**
   * How often the step's commands are sent with this part of a tick.
   * @param {{ step: Step, part: TickPart }} batch
   * @param {number} agent it is sent for
   * @param {TickValues} values
   */
  return ({ step, part: { at, of } }, agent, values) => {
    if (step.kind !== 'once' || step.everyMs === 0) return 1
    if (agent !== keeper) return 0
    let due = underWay.get(step)
    if (due?.values !== values) {
      due = { values, times: timesDue(step, Number(values.score)) }
      underWay.set(step, due)
    }
    return Math.floor(((at + 1) * due.times) / of) - Math.floor((at * due.times) / of)
  }
}
