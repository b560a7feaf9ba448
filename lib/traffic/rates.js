// Rates that change within a run, in the form in which they are typed. Pure.
import { countUnits, scaled, timeUnits } from '../base/scaled.js'

/** @typedef {readonly Readonly<{ fromMs: number, toMs: number, rateHz: number }>[]} Rates one stretch after the other */

const mostSteps = 300
const shortestMs = 1000

/** @param {readonly { hz: number, ms: number }[]} steps @returns {Rates} */
const behindEachOther = (steps) => {
  let atMs = 0
  return Object.freeze(
    steps.map(({ hz, ms }) => {
      const fromMs = atMs
      atMs += ms
      return Object.freeze({ fromMs, toMs: atMs, rateHz: hz })
    }),
  )
}

/** @param {string} text */
const msOf = (text) => scaled(/^[\d_.]+$/.test(text) ? `${text}s` : text, timeUnits)

/** `10k@30s,20k@1m` @param {string} text @returns {Rates | undefined} */
export const stepsOf = (text) => {
  const steps = text.split(',').map((part) => {
    const [rate = '', time = '', ...more] = part.trim().split('@')
    return { hz: scaled(rate, countUnits) ?? 0, ms: more.length > 0 ? 0 : (msOf(time) ?? 0) }
  })
  const isWhole = steps.every(({ hz, ms }) => hz > 0 && ms >= shortestMs)
  return isWhole && steps.length <= mostSteps ? behindEachOther(steps) : undefined
}

/** `10k..100k/5m`: in steps of a second, at most 300 @param {string} text @returns {Rates | undefined} */
export const rampOf = (text) => {
  const [, first, last, time] = /^([^./]+(?:\.\d+)?[kM]?)\.\.([^/]+)\/(.+)$/.exec(text) ?? []
  const [from, to] = [first, last].map((rate) => scaled(rate ?? '', countUnits) ?? 0)
  const ms = msOf(time ?? '') ?? 0
  if (!(from > 0 && to > 0 && from !== to && ms >= 2 * shortestMs)) return
  const steps = Math.min(mostSteps, Math.floor(ms / shortestMs))
  return behindEachOther(
    Array.from({ length: steps }, (_, k) => ({ hz: from + ((to - from) * k) / (steps - 1), ms: ms / steps })),
  )
}

/** As they are typed, in whole numbers. @param {Rates | undefined} rates */
export const typedRates = (rates) =>
  rates
    ?.map(
      ({ fromMs, toMs, rateHz }) =>
        `${Math.max(1, Math.round(rateHz))}@${Math.round(toMs) - Math.round(fromMs)}ms`,
    )
    .join(',')

/** The mean rate of what is due between two moments. @param {Rates} rates @param {number} [fromMs] @param {number} [toMs] */
export const meanRate = (rates, fromMs = 0, toMs = Number.POSITIVE_INFINITY) => {
  let [ms, due] = [0, 0]
  for (const stretch of rates) {
    const over = Math.max(0, Math.min(toMs, stretch.toMs) - Math.max(fromMs, stretch.fromMs))
    ms += over
    due += over * stretch.rateHz
  }
  return ms > 0 ? Number((due / ms).toPrecision(12)) : Number.NaN
}

/** The rate at a moment. @param {Rates} rates @param {number} atMs */
export const rateAt = (rates, atMs) =>
  (rates.find(({ toMs }) => atMs < toMs) ?? rates[rates.length - 1]).rateHz

/** The settings of changing rates: their mean is the rate, their end the duration. @param {Rates} rates */
export const settingsOfRates = (rates) => ({
  rates,
  rate: meanRate(rates),
  durationMs: rates[rates.length - 1].toMs,
})

/** The same of consumers. @param {Rates} rates */
export const fetchesOfRates = (rates) => {
  const { rate: fetchHz, ...others } = settingsOfRates(rates)
  return { ...others, fetchHz }
}

/** Converts to a time in which operations are due evenly, at the mean rate, and back. The last rate continues. @param {Rates} rates */
export const evenTimeOf = (rates) => {
  const mean = meanRate(rates)
  let evenMs = 0
  const parts = rates.map(({ fromMs, toMs, rateHz }) => {
    const part = { fromMs, fromEvenMs: evenMs, pace: rateHz / mean }
    evenMs += (toMs - fromMs) * part.pace
    return part
  })
  return {
    evenOf: (/** @type {number} */ ms) => {
      const { fromMs, fromEvenMs, pace } = parts.findLast((part) => part.fromMs <= ms) ?? parts[0]
      return fromEvenMs + (ms - fromMs) * pace
    },
    momentOf: (/** @type {number} */ even) => {
      const { fromMs, fromEvenMs, pace } = parts.findLast((part) => part.fromEvenMs <= even) ?? parts[0]
      return fromMs + (even - fromEvenMs) / pace
    },
  }
}
