// Numbers and foreign text as people read them. What was not measured is a dash.
import { setOwn } from './typed.js'

export const dash = '–'

/** 18,000,000; Intl.NumberFormat takes 25 ms to load, a twentieth of the start of a program. @param {number} n */
const whole = (n) => n.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',')

/** @typedef {number | null | undefined} Measured */

/** @param {Measured} n @returns {n is number} */
const isNumber = (n) => typeof n === 'number' && Number.isFinite(n)

/** Three digits that matter: 0.123, 1.23, 12.3, 123. @param {number} n */
export const threeDigits = (n) => {
  const size = Math.abs(n)
  return size >= 99.95 ? whole(n) : n.toFixed(size >= 9.995 ? 1 : size >= 0.9995 || n === 0 ? 2 : 3)
}

/**
 * The value in the largest unit that leaves it at 1 or more.
 * @param {number} value
 * @param {number} step
 * @param {string[]} names from the smallest
 */
const scaled = (value, step, names) => {
  let at = 0
  // 999.5 would be written as 1,000 of the smaller unit.
  for (; Math.abs(value) >= step * 0.9995 && at < names.length - 1; at++) value /= step
  return `${at === 0 && Number.isInteger(value) ? value : threeDigits(value)} ${names[at]}`
}

/** 18,000,000 @param {Measured} n */
export const count = (n) => (isNumber(n) ? whole(n) : dash)

/** Whole above ten; a slow rate keeps its fraction. @param {Measured} perSecond */
export const rate = (perSecond) =>
  isNumber(perSecond) && perSecond > 0 && perSecond < 10 ? String(+perSecond.toFixed(2)) : count(perSecond)

/** 0.77, 2.34, 12.5, 1,832: how many times as much. @param {number} n */
export const times = (n) => (n > 0.0995 && n < 9.995 ? n.toFixed(2) : threeDigits(n))

/** A percentage, as of a core: 0.1 %, 48.2 %, 142 %. @param {Measured} percentage */
export const percent = (percentage) => {
  if (!isNumber(percentage)) return dash
  return `${percentage >= 99.95 ? whole(percentage) : percentage.toFixed(1)} %`
}

/** A part of a whole in three digits, cut rather than rounded: 99.99 % must not read as 100 %. @param {Measured} ratio */
export const asPercent = (ratio) => {
  if (!isNumber(ratio)) return dash
  const pct = ratio * 100
  const step = pct > 99.999999 ? 1 : pct >= 10 ? 10 : pct >= 1 ? 100 : 1000
  return `${Math.floor(pct * step + 1e-6) / step} %`
}

/** 950 µs, 12.3 ms, 1.23 s @param {Measured} us */
export const micros = (us) => (isNumber(us) ? scaled(us, 1000, ['µs', 'ms', 's']) : dash)

/** 128 B, 61.2 MB: steps of 1000. @param {Measured} n */
export const bytes = (n) => (isNumber(n) ? scaled(n, 1000, ['B', 'kB', 'MB', 'GB', 'TB']) : dash)

/** 250 ms, 1 s, 2.5 s @param {number} ms */
export const period = (ms) => (ms < 1000 ? `${+ms.toFixed(1)} ms` : `${+(ms / 1000).toFixed(1)} s`)

/** 0:42, 1:02:03 @param {number} ms */
export const clockTime = (ms) => {
  const s = Math.max(0, Math.floor(ms / 1000))
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0')
  const minutes = Math.floor(s / 60) % 60
  return s < 3600 ? `${minutes}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(minutes)}:${two(s % 60)}`
}

/** 1 agent, 8 agents @param {number} n @param {string} noun */
export const several = (n, noun) => `${count(n)} ${noun}${n === 1 ? '' : 's'}`

// As nearly all text is, of which a line of intervals.ndjson has hundreds.
const printable = /^[ -~]*$/

/**
 * Text of a server or a host, safe to show: nothing in it moves a cursor, colours, or reverses reading.
 * @param {string} text
 */
export const plainText = (text) => (printable.test(text) && !text.includes('  ') ? text : cleaned(text))

/** @param {string} text */
const cleaned = (text) =>
  text
    .replace(/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)/g, '')
    .replace(/[\s\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')

/**
 * A copy of plain data with every text made plain, numbers that are none made null, and undefined left out.
 * @param {unknown} data
 * @returns {any}
 */
export const plainData = (data) => {
  if (typeof data === 'string') return plainText(data)
  if (typeof data === 'number') return Number.isFinite(data) ? data : null
  if (Array.isArray(data)) return data.map(plainData)
  if (data === null || typeof data !== 'object') return data
  const plain = {}
  for (const [key, value] of Object.entries(data))
    if (value !== undefined) setOwn(plain, plainText(key), plainData(value))
  return plain
}

/** Parts of a text in turn without and with an option, which is not broken at its hyphens. @param {string} text */
export const partedAtOptions = (text) => text.split(/(?<![\w-])(--?[a-z][a-z-]*)(?![\w-])/i)

/** Between facts; a line may break here. */
export const gap = ' · '

/** @param {Array<string | false | null | undefined>} words what is not so is left out */
export const facts = (words) => words.filter(Boolean).join(gap)
