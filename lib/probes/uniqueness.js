// How many unique items each structure counts, side by side: exact or not, current or up to a minute old, and the error
// against the number known from the plan.

import { structuresOf } from '../workloads/bound-strategy.js'

/**
 * @import { AnnouncedPlan } from '../plan/announcement.js'
 * @import { AnyPlan } from '../workloads/bound-strategy.js'
 *
 * @typedef {object} Counter
 * @property {string} name
 * @property {string} nature
 * @property {(nowMs: number) => string[][]} commands whose replies are added up
 * @property {(announced: AnnouncedPlan) => boolean} truthOf the plan that fills it
 * @property {boolean} minuteBefore it is of the minute before
 *
 * @typedef {object} CountRow
 * @property {string} structure
 * @property {string} nature
 * @property {number} samples
 * @property {number} empty of them, that found nothing
 * @property {number} last
 * @property {number | null} truth
 * @property {number | null} error_pct mean, signed
 * @property {number | null} error_pct_worst
 */

/** Every structure of the workload's strategies, whichever of them fills it. @param {AnyPlan} plan @returns {Counter[]} */
export const countersOf = (plan) => {
  const declared = structuresOf(plan)
  return declared.map(({ structure, nature, commands, strategies, minuteBefore }) => ({
    name: structure,
    nature,
    commands,
    minuteBefore,
    truthOf: ({ strategy }) => strategies.includes(strategy),
  }))
}

/**
 * Whether the writer of a plan has had the time to fill a structure, which has not expired since.
 * @param {AnnouncedPlan} announced
 * @param {boolean} minuteBefore
 * @param {number} nowMs
 */
const isFilled = ({ startedMs, renewedMs, periodMs, ttlS, ended }, minuteBefore, nowMs) => {
  const minuteMs = Math.floor(nowMs / 60_000) * 60_000
  const [fromMs, toMs] = minuteBefore ? [minuteMs - 60_000, minuteMs] : [0, nowMs]
  return Math.max(fromMs, startedMs) + periodMs <= toMs && !(ended && nowMs >= renewedMs + ttlS * 1000)
}

/**
 * @param {object} needs
 * @param {Counter[]} needs.counters
 * @param {readonly AnnouncedPlan[]} needs.announcements
 * @param {(args: string[]) => Promise<number | null>} needs.ask null: it was not answered
 * @param {() => number} needs.now by the servers' clock
 */
export const uniquenessOf = ({ counters, announcements, ask, now }) => {
  const rows = counters.map((counter) => {
    const announced = announcements.find((one) => counter.truthOf(one))
    // Of items that are written only once, the number at a moment is not that of the plan.
    const truth = announced && !announced.once ? announced.quantity : null
    return { counter, announced, truth, samples: 0, empty: 0, last: 0, errors: 0, worst: 0 }
  })
  const sample = async () => {
    const nowMs = now()
    await Promise.all(
      rows.map(async (row) => {
        const parts = await Promise.all(row.counter.commands(nowMs).map(ask))
        let n = 0
        for (const part of parts) {
          if (part === null) return
          n += part
        }
        const { announced, truth, counter } = row
        // A structure may be missing until it was seen once; after that it has been emptied.
        const isOwed = truth !== null && announced && isFilled(announced, counter.minuteBefore, nowMs)
        if (n === 0 && row.samples === 0 && !isOwed) return
        if (n === 0) row.empty++
        row.samples++
        row.last = n
        if (truth === null) return
        const error = ((n - truth) / truth) * 100
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
        .map(({ counter, truth, samples, empty, last, ...row }) => ({
          structure: counter.name,
          nature: counter.nature,
          samples,
          empty,
          last,
          truth,
          error_pct: truth === null ? null : row.errors / samples,
          error_pct_worst: truth === null ? null : row.worst,
        })),
  }
}
