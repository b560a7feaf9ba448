// When ticks are due: pure functions of elapsed time, with no clock in them.

import { duesOf } from '../traffic/arrivals.js'

/** @import { Plan } from '../loads/plan.js' */

// How many past ticks are remembered: more than are ever due at once, except after a pause of minutes.
const remembered = 2 ** 16

/** Ticks at equal intervals. @param {number} spacingMs @param {number} last */
const evenly = (spacingMs, last) => ({
  dueMs: (/** @type {number} */ i) => i * spacingMs,
  ticksDue: (/** @type {number} */ elapsedMs) =>
    Math.min(last, elapsedMs < 0 ? 0 : Math.floor(elapsedMs / spacingMs + 1e-9) + 1),
})

/** Ticks at varying intervals; time only increases. @param {{ arrivals: string, spacingMs: number, seed: number }} schedule @param {number} last */
const unevenly = (schedule, last) => {
  const due = duesOf(schedule)
  const dues = new Float64Array(remembered)
  let known = 0
  let next = 0
  const dueMs = (/** @type {number} */ i) => {
    for (; known <= i; known++) dues[known % remembered] = due(known)
    return dues[i % remembered]
  }
  return {
    dueMs,
    ticksDue: (/** @type {number} */ elapsedMs) => {
      for (let left = remembered / 2; left > 0 && next < last && dueMs(next) <= elapsedMs; left--) next++
      return next
    },
  }
}

/** @param {Pick<Plan, 'periodMs' | 'chunks' | 'ticks' | 'arrivals' | 'schedule' | 'seed'>} plan */
export const pacerOf = ({ periodMs, chunks, ticks, arrivals, schedule, seed }) => {
  const spacingMs = periodMs / chunks
  const last = ticks ?? Number.POSITIVE_INFINITY
  const { dueMs, ticksDue } =
    schedule === 'uneven' ? unevenly({ arrivals, spacingMs, seed }, last) : evenly(spacingMs, last)
  return {
    spacingMs,
    /** Milliseconds after the start at which tick i is due. @param {number} i */
    dueMs,
    /** How many ticks are due when so much has passed. @param {number} elapsedMs */
    ticksDue,
    /** @param {number} i */
    chunkOf: (i) => i % chunks,
    /** @param {number} i */
    intervalOf: (i) => Math.floor(i / chunks),
  }
}
