// How a plan's load is spread over time, in words: in bursts or evenly, and for how long.
import { count, period, several } from '../base/units.js'
import { arrivalsWords } from '../traffic/arrivals.js'

/** @typedef {import('./plan.js').Plan} Plan */

/** @param {Plan} plan */
const spread = ({ quantity, periodMs, chunks, pacing, rate, nominalHz, clients, arrivals }) => {
  if (clients && nominalHz === null) return 'operations as fast as the replies come (a closed loop)'
  if (clients) return `${count(nominalHz)} operations/s, ${arrivalsWords(arrivals)}`
  if (rate === 'max') return 'items as fast as the servers accept them'
  if (pacing === 'closed') return `${several(quantity, 'item')}, then ${period(periodMs)} of rest`
  const hz = (quantity * 1000) / periodMs
  if (arrivals !== 'constant') return `${count(hz)} items/s on average, ${arrivalsWords(arrivals)}`
  if (pacing === 'smooth') return `${count(hz)} items/s, evenly spaced`
  const burst = `${count(quantity / chunks)} every ${period(periodMs / chunks)}`
  return `${count(hz)} items/s in bursts of ${burst} (--rate ${Math.round(hz)} spaces them evenly)`
}

/**
 * `50,000 items/s in bursts of 12,500 every 250 ms (...), until Ctrl-C`
 * @param {Plan} plan of all writers
 */
export const rhythmWords = (plan) => {
  const { durationMs, endMs } = plan
  const ms = durationMs ?? endMs
  return `${spread(plan)}, ${ms === null ? 'until Ctrl-C' : `for ${period(ms)}`}`
}
