// How a load is spread over time, in words: in the published bursts or at an even rate, and until when.
import { count, period, rate as perSecond, several } from '../base/units.js'
import { strategyNamed } from '../workloads/index.js'

/**
 * @typedef {object} Rhythm of a plan; of this process or of all writers
 * @property {number} quantity items
 * @property {number} periodMs in which they are written once
 * @property {number} chunks
 * @property {string} pacing
 * @property {'max' | null} rate
 * @property {number | null} nominalHz
 * @property {{ arrivals: string, passes: boolean } | null} clients
 *
 * @typedef {object} Length
 * @property {number | null} durationMs
 * @property {number | null} ticks
 * @property {number} spacingMs
 * @property {Rhythm['clients']} clients
 */

/** `50,000 items/s in bursts of 12,500 every 250 ms, as published (-q, -c, -p)` @param {Rhythm} rhythm */
export const rhythmWords = ({ quantity, periodMs, chunks, pacing, rate, nominalHz, clients }) => {
  if (clients && nominalHz === null) return 'operations as fast as the replies come (a closed loop)'
  if (clients)
    return `${perSecond(nominalHz)} operations/s${clients.arrivals === 'poisson' ? ', at random moments (Poisson arrivals)' : ' at an even rate (--rate)'}`
  if (rate === 'max') return 'items as fast as the servers accept them'
  if (pacing === 'closed') return `${several(quantity, 'item')}, then ${period(periodMs)} of rest`
  const items = `${perSecond((quantity * 1000) / periodMs)} items/s`
  if (pacing === 'smooth') return `${items} at an even rate (--rate)`
  return `${items} in bursts of ${count(quantity / chunks)} every ${period(periodMs / chunks)}, as published (-q, -c, -p)`
}

/** `for 15 s`, `until Ctrl-C` @param {Length} length */
export const lengthWords = ({ durationMs, ticks, spacingMs, clients }) => {
  if (clients?.passes) return 'to the end of its passes'
  const ms = durationMs ?? (ticks === null ? null : ticks * spacingMs)
  return ms === null ? 'until Ctrl-C' : `for ${period(ms)}`
}

/**
 * What all writers do and for how long, as far as the options say it: the first line of a run.
 * @param {import('../../settings.js').Settings} settings
 */
export const beginningWords = (settings) => {
  const { strategy, quantity, periodMs, chunks, pacing, rate, durationMs, intervals, arrivals } = settings
  const { passes, roles } = strategyNamed(strategy)
  const clients = roles.writer.flow === 'clients' ? { arrivals, passes: passes !== null } : null
  const rhythm = rhythmWords({
    ...{ quantity, periodMs, chunks, pacing, clients },
    rate: rate === 'max' ? rate : null,
    nominalHz: typeof rate === 'number' ? rate : null,
  })
  const length = lengthWords({
    durationMs: durationMs ?? null,
    ticks: intervals ?? null,
    spacingMs: periodMs,
    clients,
  })
  return `writes ${strategy}: ${rhythm}, ${length}`
}

/** @param {import('../../settings.js').ReaderSettings} settings */
export const readingWords = ({ pacing, periodMs, durationMs, intervals }) => {
  const every = pacing === 'closed' ? `${period(periodMs)} after each fetch` : `every ${period(periodMs)}`
  const length = {
    durationMs: durationMs ?? null,
    ticks: intervals ?? null,
    spacingMs: periodMs,
    clients: null,
  }
  return `reads ${every}, ${lengthWords(length)}`
}
