// How many unique items each structure counts, side by side: exact or not, fresh or up to a minute old, and how far
// from the truth that the plan knows.

import { structuresOf } from '../workloads/of-plan.js'

/**
 * @typedef {import('../plan/plan-card.js').PlanCard} PlanCard
 *
 * @typedef {object} Counter
 * @property {string} name
 * @property {string} nature
 * @property {(nowMs: number) => string[][]} commands whose replies are added up
 * @property {(card: PlanCard) => boolean} truthOf the plan that fills it
 *
 * @typedef {object} CountRow
 * @property {string} structure
 * @property {string} nature
 * @property {number} samples
 * @property {number} last
 * @property {number | null} truth
 * @property {number | null} error_pct mean, signed
 * @property {number | null} error_pct_worst
 */

/**
 * Every structure of the workload's strategies, whichever of them fills it.
 * @param {import('../workloads/of-plan.js').AnyPlan} plan
 * @returns {Counter[]}
 */
export const countersOf = (plan) => {
  const declared = structuresOf(plan)
  return declared.map(({ structure, nature, commands, strategies }) => ({
    name: structure,
    nature,
    commands,
    truthOf: ({ strategy }) => strategies.includes(strategy),
  }))
}

/**
 * @param {object} needs
 * @param {Counter[]} needs.counters
 * @param {readonly PlanCard[]} needs.cards
 * @param {(args: string[]) => Promise<number>} needs.ask
 * @param {() => number} needs.now by the servers' clock
 */
export const uniquenessOf = ({ counters, cards, ask, now }) => {
  const rows = counters.map((counter) => {
    const card = cards.find((one) => counter.truthOf(one))
    // Items that are written only once are not the plan's quantity at any moment.
    const truth = card && !card.once ? card.quantity : null
    return { counter, truth, samples: 0, last: 0, errors: 0, worst: 0 }
  })
  const sample = async () => {
    const nowMs = now()
    await Promise.all(
      rows.map(async (row) => {
        const parts = await Promise.all(row.counter.commands(nowMs).map(ask))
        const n = parts.reduce((sum, part) => sum + part, 0)
        // The structure is not there, or its first minute is not over.
        if (n === 0) return
        row.samples++
        row.last = n
        if (row.truth === null) return
        const error = ((n - row.truth) / row.truth) * 100
        row.errors += error
        if (Math.abs(error) > Math.abs(row.worst)) row.worst = error
      }),
    )
  }
  return {
    sample,
    /** @returns {CountRow[]} */
    rows: () =>
      rows
        .filter(({ samples }) => samples > 0)
        .map(({ counter, truth, samples, last, errors, worst }) => ({
          structure: counter.name,
          nature: counter.nature,
          samples,
          last,
          truth,
          error_pct: truth === null ? null : errors / samples,
          error_pct_worst: truth === null ? null : worst,
        })),
  }
}
