// When ticks are due: pure functions of elapsed time, with no clock in them.

import { duesOf } from '../traffic/arrivals.js'
import { isEven } from '../traffic/even.js'

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

/** @param {{ periodMs: number, chunks: number, ticks: number | null, arrivals?: string, seed?: number }} plan */
export const pacerOf = ({ periodMs, chunks, ticks, arrivals = 'constant', seed = 0 }) => {
  const spacingMs = periodMs / chunks
  const last = ticks ?? Number.POSITIVE_INFINITY
  const { dueMs, ticksDue } = isEven({ arrivals })
    ? evenly(spacingMs, last)
    : unevenly({ arrivals, spacingMs, seed }, last)
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

/**
 * Only a schedule can be missed: without one, nothing is dropped for being late.
 * @param {{ rate: 'max' | null, pacing: string }} plan
 */
export const isScheduled = ({ rate, pacing }) => rate !== 'max' && pacing !== 'closed'
