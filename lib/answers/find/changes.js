// Whether the target changed once: two levels against one, by a Bayes factor over every second of a change. Pure.
import { kneesAround } from './knees.js'

/** @import { Second } from './knees.js' */

// Fewer seconds cannot show a change; on both sides at least a few must be measured.
const fewest = 40
const leastASide = 12
const places = 4
const leastEvidence = 3

/** @param {readonly Second[]} measured @param {number} centre @param {readonly number[]} ends after how many seconds the evidence is asked, in order */
const evidences = (measured, centre, ends) => {
  const knees = kneesAround(centre)
  const zero = knees.evidence()
  let added = 0
  return ends.map((end) => {
    while (added < end) knees.add(measured[added++])
    return knees.evidence() - zero
  })
}

/** @param {readonly Second[]} measured @param {number} centre @param {number} from @param {number} to @param {number} by */
const bestCut = (measured, centre, from, to, by) => {
  const n = measured.length
  const cuts = Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, i) => from + i * by)
  const before = evidences(measured, centre, [...cuts, n])
  const ends = cuts.map((k) => n - k).toReversed()
  const after = evidences(measured.toReversed(), centre, ends).toReversed()
  const gains = cuts.map((_, i) => before[i] + after[i] - before[cuts.length])
  const evidence = Math.max(...gains)
  return { evidence, k: cuts[gains.indexOf(evidence)] }
}

/** @param {readonly Second[]} measured @param {number} centre @param {number} share */
const levelOf = (measured, centre, share) => {
  const knees = kneesAround(centre)
  measured.forEach(knees.add)
  return knees.rateAt(share)(0.5)
}

/**
 * The most likely change.
 * @param {readonly Second[]} measured in their order
 * @param {number} centre
 * @param {number} share
 * @returns {{ evidence: number, t: number, before: number, after: number } | null} the logarithm of the Bayes factor, the
 *   second of the change, and the logarithms of the rates; null: nothing speaks for one
 */
export const likeliestChange = (measured, centre, share) => {
  const n = measured.length
  if (n < fewest) return null
  const rough = bestCut(measured, centre, leastASide, n - leastASide, places)
  if (rough.evidence <= leastEvidence) return null
  const [from, to] = [
    Math.max(leastASide, rough.k - places + 1),
    Math.min(n - leastASide, rough.k + places - 1),
  ]
  const best = bestCut(measured, centre, from, to, 1)
  return {
    evidence: best.evidence,
    t: measured[best.k].t,
    before: levelOf(measured.slice(0, best.k), centre, share),
    after: levelOf(measured.slice(best.k), centre, share),
  }
}
