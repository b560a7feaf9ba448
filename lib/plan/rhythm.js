// How a load is spread over time, in words: in bursts or evenly, and for how long. Of settings, or of a plan.
import { count, period, several } from '../base/units.js'

/**
 * @typedef {object} Rhythm
 * @property {number} quantity
 * @property {number} periodMs
 * @property {number} chunks
 * @property {string} pacing
 * @property {'max' | number | null} [rate]
 * @property {number | null} [nominalHz]
 * @property {number | null} [durationMs]
 * @property {number} [intervals]
 * @property {'ticks' | 'clients' | 'workers'} flow
 * @property {string} [arrivals]
 */

/** @param {Rhythm} load */
const spread = ({
  quantity,
  periodMs,
  chunks,
  pacing,
  rate,
  nominalHz = null,
  flow,
  arrivals = 'constant',
}) => {
  const hz = typeof rate === 'number' ? rate : nominalHz
  if (flow === 'clients' && hz === null) return 'operations as fast as the replies come (a closed loop)'
  if (flow === 'clients')
    return `${count(hz)} operations/s, ${arrivals === 'poisson' ? 'as independent users come' : 'evenly spaced'}`
  if (rate === 'max') return 'items as fast as the servers accept them'
  if (pacing === 'closed') return `${several(quantity, 'item')}, then ${period(periodMs)} of rest`
  const rateWords = `${count((quantity * 1000) / periodMs)} items/s`
  if (pacing === 'smooth') return `${rateWords}, evenly spaced`
  return `${rateWords} in bursts of ${count(quantity / chunks)} every ${period(periodMs / chunks)} (--rate ${Math.round((quantity * 1000) / periodMs)} spaces them evenly)`
}

/**
 * `50,000 items/s in bursts of 12,500 every 250 ms (...), until Ctrl-C`
 * @param {Rhythm} load
 */
export const rhythmWords = (load) => {
  const { durationMs, intervals } = load
  const end = durationMs
    ? `for ${period(durationMs)}`
    : intervals
      ? `for ${several(intervals, 'interval')}`
      : 'until Ctrl-C'
  return `${spread(load)}, ${end}`
}
