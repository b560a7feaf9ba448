// The rates at which the CPU order of two models reverses, by a calibration. Pure except for the encoder.

import { demandOf } from '../plan/answer.js'
import { memoryOf } from '../plan/memory.js'
import { wireOf } from '../plan/wire.js'

/** @import { Plan } from '../../loads/plan.js' */

// From a hundredth to a hundred times the rate, as far as the calibration reaches; between steps by the ratio's logarithm.
const steps = 16
const reach = 100
// Costs grow with the logarithm of the items.
const beyond = 10

/**
 * @import { CalibratedModel, Calibration } from '../plan/calibration.js'
 *
 * @typedef {{ model: CalibratedModel, plan: Plan }} Planned of a calibration, at a rate
 * @typedef {{ other: string, rate: number, items: number, cheaper_above: string, cheaper_below: string }} Turnover
 */

/** @param {number | null} a @param {number | null} b */
const logOf = (a, b) => (a === null || b === null ? null : Math.log(b / a))

/**
 * @param {object} asked
 * @param {string} asked.chosen
 * @param {readonly string[]} asked.others
 * @param {number} asked.rate
 * @param {number} asked.ttlS
 * @param {Calibration} asked.calibration
 * @param {(strategy: string, rate: number) => Planned | null} asked.planned null: it is not calibrated, or not at that rate
 * @returns {Promise<{ found: Turnover[], unknown: string[] }>}
 */
export const turnoversOf = async ({ chosen, others, rate, ttlS, calibration, planned }) => {
  const [least, most] = calibration.ranges.items
  /** @param {string} strategy @param {number} at */
  const costAt = async (strategy, at) => {
    const items = Math.round(at * ttlS)
    const found = items < least || items > beyond * most ? null : planned(strategy, at)
    if (!found) return null
    const [wire, memory] = [await wireOf(found.plan), memoryOf(found.plan, calibration.server.allocator)]
    return demandOf({ ...found, wire, memory }, { rate: at, items }).cpu.value
  }
  const rates = Array.from({ length: steps + 1 }, (_, i) => (rate / reach) * reach ** ((2 * i) / steps))
  const costs = async (/** @type {string} */ name) => {
    const found = []
    for (const at of rates) found.push(await costAt(name, at))
    return found
  }
  const own = await costs(chosen)
  /** @type {Turnover[]} */
  const turnovers = []
  const unknown = own.every((cost) => cost === null) ? [chosen] : []
  for (const other of others) {
    const theirs = await costs(other)
    if (theirs.every((cost) => cost === null)) unknown.push(other)
    for (const [i, at] of rates.entries()) {
      const [a, b] = [own[i], theirs[i]]
      if (a === null || b === null) continue
      const before = i > 0 ? logOf(own[i - 1], theirs[i - 1]) : null
      const after = Math.log(b / a)
      if (before === null || before * after >= 0) continue
      const turnsAt = rates[i - 1] * (at / rates[i - 1]) ** (before / (before - after))
      turnovers.push({
        other,
        rate: turnsAt,
        items: Math.round(turnsAt * ttlS),
        cheaper_above: after > 0 ? chosen : other,
        cheaper_below: after > 0 ? other : chosen,
      })
    }
  }
  return { found: turnovers, unknown }
}
