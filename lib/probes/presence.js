// How many of a run's writers were at work in each second, by their leases. It shows what they stored together, and whether
// all were there from beginning to end.
import { atMost } from '../base/timers.js'

/**
 * @typedef {object} Presence as in run.json
 * @property {number} total writers of the plan
 * @property {number} own of this process
 * @property {number | null} fewest in a measured second
 * @property {number | null} mean over the measured seconds
 * @property {number} measured_s
 * @property {number} absent_s with fewer than all
 * @property {number} unknown_s without an answer
 * @property {number | null} before others that were at work before our first item
 * @property {boolean} steady the same number in every measured second
 */

const wholeMs = 500

/** Sums of stretches of time, each with how many writers were at work in it. @param {{ total: number, own: number }} writers */
const sumsOf = ({ total, own }) => {
  let [knownMs, unknownMs, absentMs, writerMs] = [0, 0, 0, 0]
  let [fewest, most] = [Number.POSITIVE_INFINITY, 0]
  return {
    isEmpty: () => knownMs + unknownMs === 0,
    add(/** @type {number} */ overMs, /** @type {number | null} */ live) {
      if (live === null) {
        unknownMs += overMs
        return
      }
      knownMs += overMs
      writerMs += live * overMs
      if (live < total) absentMs += overMs
      fewest = Math.min(fewest, live)
      most = Math.max(most, live)
    },
    /** @returns {Omit<Presence, 'before'>} */
    summary: () => ({
      total,
      own,
      fewest: knownMs > 0 ? fewest : null,
      mean: knownMs > 0 ? writerMs / knownMs : null,
      measured_s: (knownMs + unknownMs) / 1000,
      absent_s: absentMs / 1000,
      unknown_s: unknownMs / 1000,
      steady: unknownMs === 0 && knownMs > 0 && fewest === most,
    }),
  }
}

/**
 * The record, from samples about a second apart. A second has as many writers as the better of its two ends: boxes that
 * are started by one command begin and end some tenths of a second apart.
 * @param {{ total: number, own: number }} writers
 */
export const presenceOf = (writers) => {
  const whole = sumsOf(writers)
  const rest = sumsOf(writers)
  /** @type {{ atMs: number, live: number | null } | null} */
  let last = null
  /** @type {number | null} */
  let before = null
  return {
    /** @param {number} atMs @param {number | null} live null: unknown @param {(atMs: number) => boolean} isMeasured */
    add(atMs, live, isMeasured) {
      const from = last
      last = { atMs, live }
      if (!from && live !== null) before = Math.max(0, live - writers.own)
      if (!from || atMs <= from.atMs || !isMeasured((from.atMs + atMs) / 2)) return
      const better = from.live === null || live === null ? (from.live ?? live) : Math.max(from.live, live)
      const overMs = atMs - from.atMs
      const sums = overMs >= wholeMs ? whole : rest
      sums.add(overMs, better)
    },
    /** For whole seconds; in a shorter run, for what there is. @returns {Presence} */
    summary: () => ({ ...(whole.isEmpty() ? rest : whole).summary(), before }),
  }
}

/**
 * Asks the target once a second.
 * @param {object} needs
 * @param {{ total: number, own: number }} needs.writers
 * @param {() => Promise<number>} needs.otherWriters how many writers of other processes are at work
 * @param {(atMs: number) => boolean} needs.isMeasured
 * @param {number} [needs.limitMs] an answer that takes longer is none
 */
export const presenceWatch = ({ writers, otherWriters, isMeasured, limitMs = 900 }) => {
  const { total, own } = writers
  const record = presenceOf(writers)
  /** @type {Promise<number | null> | null} */
  let asking = null

  const ask = () => {
    asking ??= otherWriters()
      .then(
        (n) => n + own,
        () => null,
      )
      .finally(() => {
        asking = null
      })
    return asking
  }
  /** @returns {Promise<number | null>} */
  const liveNow = async () => {
    // Our own leases are renewed; a renewal fails if one is lost.
    if (own === total) return own
    return (await atMost(limitMs, ask())) ?? null
  }
  return {
    /** @param {number} atMs since the start */
    async sample(atMs) {
      const live = await liveNow()
      record.add(atMs, live, isMeasured)
      return live
    },
    summary: record.summary,
  }
}
