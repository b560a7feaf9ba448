// How a load is spread over time, in words: in the published bursts or at an even rate, and until when.
import { count, period, rate as perSecond, several } from '../base/units.js'
import { arrivalsWords } from '../traffic/arrivals.js'
import { scheduleIn } from '../traffic/even.js'
import { playsPasses, strategyNamed } from '../workloads/index.js'
import { namesOfKind } from './names.js'
import { chunksOf } from './shares.js'

/**
 * @import { ReaderSettings, Settings } from '../../settings.js'
 * @import { KindName } from './names.js'
 * @import { Schedule } from '../traffic/even.js'
 * @import { Rates } from '../traffic/rates.js'
 *
 * @typedef {object} Rhythm of a plan; of this process or of all writers
 * @property {number} quantity items
 * @property {number} periodMs in which they are written once
 * @property {number} chunks
 * @property {string} pacing
 * @property {'max' | null} rate
 * @property {number | null} nominalHz
 * @property {Schedule} schedule
 * @property {string} arrivals
 * @property {KindName} flow
 * @property {Rates} [rates] that follow each other
 *
 * @typedef {object} Length
 * @property {number | null} durationMs
 * @property {number | null} ticks
 * @property {number} spacingMs
 * @property {string} [flow]
 * @property {{ isWhole: boolean } | null} [sending]
 */

/** @param {Pick<Rhythm, 'schedule' | 'arrivals'>} rhythm */
const timesWords = ({ schedule, arrivals }) => {
  if (schedule === 'even') return ' at an even rate (--rate)'
  return arrivals === 'poisson'
    ? ', at random moments (Poisson arrivals)'
    : ` on average, ${arrivalsWords(arrivals)}`
}

/** `50,000 items/s in bursts of 12,500 every 250 ms, as published (-q, -c, -p)` @param {Rhythm} rhythm */
export const rhythmWords = (rhythm) => {
  const { quantity, periodMs, pacing, nominalHz, rates } = rhythm
  const { inBatches, unit } = namesOfKind(rhythm)
  if (rates)
    return `${perSecond(rates[0].rateHz)} to ${perSecond(rates[rates.length - 1].rateHz)} ${unit}s/s in ${several(rates.length, 'step')}`
  if (!inBatches && nominalHz === null) return `${unit}s as fast as the replies come (a closed loop)`
  if (!inBatches) return `${perSecond(nominalHz)} ${unit}s/s${timesWords(rhythm)}`
  if (rhythm.rate === 'max') return 'items as fast as the servers accept them'
  if (pacing === 'closed') return `${several(quantity, 'item')}, then ${period(periodMs)} of rest`
  const items = `${perSecond((quantity * 1000) / periodMs)} items/s`
  const batch = quantity / rhythm.chunks
  if (rhythm.schedule === 'uneven')
    return `${items}${batch > 1 && rhythm.arrivals === 'poisson' ? ` in batches of ${+batch.toFixed(2)}` : ''}${timesWords(rhythm)}`
  if (pacing === 'smooth') return `${items} at an even rate (--rate)`
  return `${items} in bursts of ${count(batch)} every ${period(periodMs / rhythm.chunks)}, as published (-q, -c, -p)`
}

/** `for 15 s`, `until Ctrl-C` @param {Length} length */
export const lengthWords = ({ durationMs, ticks, spacingMs, flow, sending }) => {
  if (flow === 'passes' || sending?.isWhole) return 'to the end of its passes'
  const ms = durationMs ?? (ticks === null ? null : ticks * spacingMs)
  return ms === null ? 'until Ctrl-C' : `for ${period(ms)}`
}

/** What all writers do and for how long, by the options: the first line of a run. @param {Settings} settings */
export const beginningWords = (settings) => {
  const { strategy, quantity, periodMs, pacing, rate, rates, durationMs, intervals, arrivals } = settings
  const { play, queue } = strategyNamed(strategy)
  const chunks = chunksOf(settings, Math.floor(quantity / settings.totalAgents))
  const rhythm = rhythmWords({
    quantity,
    periodMs,
    chunks,
    pacing,
    schedule: scheduleIn(settings),
    arrivals,
    rates,
    flow: play.flow,
    rate: rate === 'max' ? rate : null,
    nominalHz:
      typeof rate === 'number' ? rate : queue && rate !== 'max' ? (quantity * 1000) / periodMs : null,
  })
  const length = lengthWords({
    durationMs: durationMs ?? null,
    ticks: intervals ?? null,
    spacingMs: periodMs,
    sending: { isWhole: playsPasses(settings) },
  })
  return `writes ${strategy}: ${rhythm}, ${length}`
}

/** How often items are fetched. @param {{ pacing: string, periodMs: number, fetchHz?: number | 'max', rates?: Rates }} plan or settings */
export const fetchTimesWords = ({ pacing, periodMs, fetchHz, rates }) => {
  const hz = (/** @type {number} */ rateHz) => perSecond(rateHz)
  if (rates)
    return `${hz(rates[0].rateHz)} to ${hz(rates[rates.length - 1].rateHz)} times a second in all, in ${several(rates.length, 'step')}`
  if (typeof fetchHz === 'number') return `${hz(fetchHz)} times a second in all`
  return pacing === 'closed' ? `${period(periodMs)} after each fetch` : `every ${period(periodMs)}`
}

/** @param {ReaderSettings} settings */
export const readingWords = ({ strategy, durationMs, intervals, control, ...times }) => {
  const { periodMs } = times
  const length = {
    durationMs: durationMs ?? null,
    ticks: intervals ?? null,
    spacingMs: periodMs,
  }
  return strategyNamed(strategy).queue
    ? `takes jobs of ${strategy}, ${lengthWords(length)}`
    : `reads ${fetchTimesWords(times)}, ${control && durationMs === undefined && intervals === undefined ? 'until the writers end' : lengthWords(length)}`
}
