// What became of jobs, each by its maker and number: done once, done again, still queued, taken by a worker, or lost. Exact,
// and without a clock.
import { bitsOf, commonNumbers, numbersIn, onesIn, unionOf, without } from './bits.js'

/**
 * @import { Job } from '../workloads/queue/job.js'
 * @import { Bits } from './bits.js'
 *
 * @typedef {Record<string, Uint8Array>} Sets numbers by maker
 *
 * @typedef {object} Standing what is known of the queue when no worker takes from it
 * @property {Sets} acked that the makers know to be stored
 * @property {Sets[]} others done by other boxes and earlier runs
 * @property {Sets} queued
 * @property {Sets} taken given to workers and not confirmed
 * @property {Sets} passed of the queued and taken, those that filters have handed over to outputs
 * @property {number} foreign texts in the queue that are no jobs of ours
 * @property {Doubt} doubt
 *
 * @typedef {{ makers: Set<string>, most: number }} Doubt jobs of these makers, so many at most, may have been done by boxes
 *   that were killed or are at work, since their last accounts
 *
 * @typedef {object} Account of all jobs that were ever in the queue; produced = done + queued + in flight + lost + unknown
 * @property {number} produced acknowledged to their makers, or seen
 * @property {number} done once or more, by whomever
 * @property {number} done_elsewhere of them only by other boxes or in earlier runs
 * @property {number} queued
 * @property {number} in_flight given to a worker, and neither done nor back in the queue
 * @property {number} passed of the queued and in flight, those between filters and outputs
 * @property {number} lost acknowledged, and nowhere
 * @property {number} unknown the same, but a box that has not ended may have done them since its last account
 * @property {number} unacknowledged seen, but their makers never got the reply
 * @property {number} unconfirmed done, but the queue still has them: they would be done again
 * @property {number} duplicates done again, beyond the first time, by whomever
 * @property {string[]} examples of lost ones
 */

const mostExamples = 5
const none = new Uint8Array(0)

export const jobsOf = () => {
  /** @type {Map<string, Bits>} */
  const done = new Map()
  const counts = { taken: 0, done: 0, duplicates: 0, foreign: 0, reclaimed: 0 }

  return {
    counts,
    done,
    /** @param {Job} job */
    add({ maker, number }) {
      let bits = done.get(maker)
      if (bits === undefined) {
        bits = bitsOf()
        done.set(maker, bits)
      }
      counts.done++
      if (!bits.add(number)) counts.duplicates++
    },
    /** @param {Standing} standing @returns {Account} */
    account: ({ acked, others, queued, taken, passed, doubt }) => {
      const account = {
        produced: 0,
        done: 0,
        done_elsewhere: 0,
        queued: 0,
        in_flight: 0,
        passed: 0,
        lost: 0,
        unknown: 0,
        unacknowledged: 0,
        unconfirmed: 0,
        duplicates: counts.duplicates,
        /** @type {string[]} */
        examples: [],
      }
      const makers = new Set([acked, ...others, queued, taken].flatMap(Object.keys).concat([...done.keys()]))
      for (const maker of makers) {
        const own = done.get(maker)?.bytes() ?? none
        const elsewhere = others.map((sets) => sets[maker] ?? none)
        const all = unionOf([own, ...elsewhere])
        // Each box counts a job once: jobs counted by several boxes were done again.
        account.duplicates += [own, ...elsewhere].reduce((sum, set) => sum + onesIn(set), 0) - onesIn(all)
        const [waits, held] = [queued[maker] ?? none, taken[maker] ?? none]
        const known = acked[maker] ?? none
        const seen = unionOf([all, waits, held])
        const lost = without(known, seen)
        account.produced += onesIn(unionOf([known, seen]))
        account.done += onesIn(all)
        account.done_elsewhere += onesIn(without(all, own))
        account.queued += onesIn(without(waits, all))
        account.in_flight += onesIn(without(without(held, all), waits))
        account.passed += onesIn(without(passed[maker] ?? none, all))
        account.unconfirmed += onesIn(commonNumbers(unionOf([waits, held]), all))
        account.unacknowledged += onesIn(without(seen, known))
        account[doubt.makers.has(maker) ? 'unknown' : 'lost'] += onesIn(lost)
        account.examples.push(...numbersIn(lost, mostExamples).map((n) => `${maker}:${n}`))
      }
      account.examples = account.examples.slice(0, mostExamples)
      const beyond = Math.max(0, account.unknown - doubt.most)
      account.unknown -= beyond
      account.lost += beyond
      return account
    },
  }
}

/** @typedef {ReturnType<typeof jobsOf>} Jobs */
