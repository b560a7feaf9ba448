// Due times of events: even, as of independent users, in bursts, or by the curve of a day. Pure functions of a seed.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { scaled, timeUnits } from '../base/scaled.js'
import { isEven } from './even.js'

/**
 * @typedef {{ poisson: boolean, curve: Curve | null }} Arrivals
 * @typedef {object} Curve repeats; its mean intensity is 1
 * @property {number} lengthMs
 * @property {Float64Array} fromMs where each part of it begins, ascending from 0
 * @property {Float64Array} before events before that part, in milliseconds of the mean rate
 * @property {Float64Array} intensity of each part
 */

const words = 2 ** 32
const partsOfDay = 1440
const usualPeak = 4

/** @param {number} lengthMs @param {readonly { ms: number, weight: number }[]} parts @returns {Curve} */
const curveOf = (lengthMs, parts) => {
  const whole = parts.reduce((sum, { ms, weight }) => sum + ms * weight, 0)
  const [fromMs, before, intensity] = Array.from({ length: 3 }, () => new Float64Array(parts.length))
  let [at, events] = [0, 0]
  for (const [i, { ms, weight }] of parts.entries()) {
    fromMs[i] = at
    before[i] = events
    intensity[i] = (weight * lengthMs) / whole
    at += ms
    events += ms * intensity[i]
  }
  return { lengthMs, fromMs, before, intensity }
}

/** `burst:5x:1s/10s` @param {string} text */
const burstOf = (text) => {
  const [, factor, length, every] = /^burst:(\d+(?:\.\d+)?)x:(\w+)\/(\w+)$/.exec(text) ?? []
  const [lengthMs, everyMs] = [length, every].map((time) => scaled(time ?? '', timeUnits) ?? 0)
  if (!(Number(factor) > 1 && lengthMs > 0 && lengthMs < everyMs)) return
  return curveOf(everyMs, [
    { ms: everyMs - lengthMs, weight: 1 },
    { ms: lengthMs, weight: Number(factor) },
  ])
}

/** `daily:10m`, `daily:10m:6x` @param {string} text */
const dailyOf = (text) => {
  const [, length, times] = /^daily:(\w+?)(?::(\d+(?:\.\d+)?)x)?$/.exec(text) ?? []
  const lengthMs = scaled(length ?? '', timeUnits) ?? 0
  const peak = Number(times ?? usualPeak)
  if (!(lengthMs > 0 && peak > 1)) return
  const swing = (peak - 1) / (peak + 1)
  return curveOf(
    lengthMs,
    Array.from({ length: partsOfDay }, (_, k) => ({
      ms: lengthMs / partsOfDay,
      weight: 1 - swing * Math.cos((2 * Math.PI * (k + 0.5)) / partsOfDay),
    })),
  )
}

/**
 * `constant`, `poisson`, `burst:5x:1s/10s`, `daily:10m`, or poisson and one of the last two with a comma.
 * @param {string} text
 * @returns {Arrivals | undefined}
 */
export const arrivalsOf = (text) => {
  const [first, ...rest] = text.split(',')
  const poisson = first === 'poisson'
  const [shape, ...more] = poisson ? rest : [first, ...rest]
  if (more.length > 0) return
  if (shape === undefined || (shape === 'constant' && !poisson)) return { poisson, curve: null }
  const curve = burstOf(shape) ?? dailyOf(shape)
  return curve && { poisson, curve }
}

/** When so many events of the mean rate have come, as milliseconds of it. @param {Curve} curve @returns {(ms: number) => number} */
const warped = ({ lengthMs, fromMs, before, intensity }) => {
  const last = fromMs.length - 1
  return (ms) => {
    const round = Math.floor(ms / lengthMs)
    const events = ms - round * lengthMs
    let [low, high] = [0, last]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (before[middle] <= events) low = middle
      else high = middle - 1
    }
    return round * lengthMs + fromMs[low] + (events - before[low]) / intensity[low]
  }
}

/**
 * The due time of event i, in milliseconds after the start. Unless they are even, i must ascend.
 * @param {{ arrivals: string, spacingMs: number, seed: number }} fields spacingMs: on average
 * @returns {(i: number) => number}
 */
export const duesOf = ({ arrivals, spacingMs, seed }) => {
  const asked = arrivalsOf(arrivals)
  if (!asked) throw new TypeError(`no arrivals ${arrivals}`)
  const { poisson, curve } = asked
  const atMs = curve ? warped(curve) : (/** @type {number} */ ms) => ms
  if (!poisson) return (i) => atMs(i * spacingMs)
  const random = xoroshiro128plus(seed ^ 0x5bd1e995)
  let last = -1
  let sumMs = 0
  let dueMs = 0
  return (i) => {
    if (last === i) return dueMs
    for (; last < i; last++) sumMs += -Math.log(((random.next() >>> 0) + 1) / (words + 1)) * spacingMs
    dueMs = atMs(sumMs)
    return dueMs
  }
}

/**
 * When operations are due, and whether one is due after the end.
 * @param {{ rateHz: number, arrivals: string, seed: number, durationMs: number | null }} fields
 */
export const scheduleOf = ({ rateHz, arrivals, seed, durationMs }) => {
  const due = duesOf({ arrivals, spacingMs: 1000 / rateHz, seed })
  const limit = durationMs === null ? Number.POSITIVE_INFINITY : Math.ceil((rateHz * durationMs) / 1000)
  const isOver =
    durationMs === null || isEven(arrivals)
      ? (/** @type {number} */ i) => i >= limit
      : (/** @type {number} */ i) => due(i) >= durationMs
  return { due, isOver }
}

/** Arrivals in a few words. @param {string} arrivals */
export const arrivalsWords = (arrivals) => {
  if (isEven(arrivals)) return 'evenly spaced'
  if (arrivals === 'poisson') return 'Poisson arrivals'
  return arrivals.startsWith('poisson,') ? `Poisson arrivals by ${arrivals.slice(8)}` : `arrivals ${arrivals}`
}
