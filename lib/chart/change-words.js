// A change between two sides as text, for charts, tables and sentences. Pure.
import { count, dash } from '../base/units.js'
import { formatted } from './theme.js'

/** @import { Row } from '../compare/comparison.js' */

/** +4.8 %, or ×12 from ten times on @param {number | null} change */
export const changeWords = (change) => {
  if (change === null) return dash
  // An interval of two rounds may be very wide.
  if (change >= 1e6) return '>×1,000,000'
  if (change >= 9) return `×${count(1 + change)}`
  const pct = change * 100
  const digits = Math.abs(pct) < 9.995 ? 1 : 0
  const shown = Math.abs(pct).toFixed(digits)
  return `${Number(shown) === 0 ? '' : pct < 0 ? '−' : '+'}${shown} %`
}

/** Values shown as 0 have no sign. @param {string} shown @param {number} value */
const signed = (shown, value) => (/[1-9]/.test(shown) ? `${value < 0 ? '−' : '+'}${shown}` : shown)

/** @param {Row} row @param {number | null} value */
export const differenceWords = ({ figure, difference }, value) =>
  difference.relative || value === null
    ? changeWords(value)
    : signed(formatted(figure.unit, Math.abs(value)), value)

/** @param {Row} row */
export const intervalWords = (row) =>
  row.difference.low === null
    ? dash
    : `${differenceWords(row, row.difference.low)} to ${differenceWords(row, row.difference.high)}`

/** 3 % @param {number} effect */
export const effectWords = (effect) => `${+(effect * 100).toPrecision(3)} %`

/** @param {Row} row @param {number} effect */
export const verdictWords = ({ primary, difference: { verdict, low, relative } }, effect) => {
  if (!primary) return ''
  if (low === null) return 'one run a side'
  if (verdict === 'same') return relative ? `no difference beyond ${effectWords(effect)}` : 'no difference'
  return verdict === 'unclear' ? 'cannot tell' : verdict
}
