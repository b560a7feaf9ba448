// How charts look, on the server and in the page alike: this file is part of the page, so it imports nothing but
// units.js. Options carry names of colours and formats ('@c1', '@us'), which are resolved for a light or dark page.
import { entryOf } from '../base/typed.js'
import { bytes, clockTime, count, dash, micros, rate, times } from '../base/units.js'

/** @import { Option } from './parts.js' */

/** @typedef {'light' | 'dark'} ThemeName */

// After Okabe and Ito: each stands out 3:1 from its page, and all pairs are 12 apart (CIEDE2000) for a deuteranope.
const palettes = {
  light: {
    c1: '#0072b2',
    c2: '#d66002',
    c3: '#2f9668',
    c4: '#a65182',
    c5: '#64533b',
    c6: '#4033b5',
    bad: '#ab1807',
    ink: '#1c2126',
    muted: '#5b6570',
    line: '#c9d0d6',
    grid: '#e6eaed',
    shade: '#5b657014',
    surface: '#ffffff',
  },
  dark: {
    c1: '#56b4e9',
    c2: '#f48d42',
    c3: '#4ddba5',
    c4: '#d378b3',
    c5: '#f7e34a',
    c6: '#8673e8',
    bad: '#f94d72',
    ink: '#e8ecef',
    muted: '#9aa5af',
    line: '#4a545e',
    grid: '#2b333a',
    shade: '#9aa5af1a',
    surface: '#171c21',
  },
}

export const colourCount = 6

/** Labels of an axis without trailing zeros: 5 ms, not 5.00 ms. @param {string} text */
const trimmed = (text) => text.replace(/(\.\d*?)0+(?=\s|$)/, '$1').replace(/\.(?=\s|$)/, '')

/** @param {number} beyond one in so many */
const percentileName = (beyond) => `${+(100 - 100 / beyond).toPrecision(8)} %`

/** @param {number} change at least 0 */
const changed = (change) =>
  change >= 9 ? `${count(change * 100)} %` : `${trimmed((change * 100).toFixed(change < 0.0995 ? 1 : 0))} %`

/** ×1/2, ×0.9, ×1, ×2 @param {number} ratio */
const ratioWords = (ratio) => {
  const part = Math.round(1 / ratio)
  const isPart = part > 1 && Math.abs(1 / ratio - part) < 0.005
  return isPart ? `×1/${part}` : `×${trimmed(times(ratio))}`
}

/** @type {Record<string, (value: number) => string>} */
const formats = {
  us: (us) => (us === 0 ? '0' : trimmed(micros(us))),
  ms: (ms) => (ms === 0 ? '0' : trimmed(micros(ms * 1000))),
  s: (s) => (s === 0 ? '0' : trimmed(micros(s * 1e6))),
  bytes: (n) => (n === 0 ? '0' : trimmed(bytes(n))),
  mb: (mb) => (mb === 0 ? '0' : trimmed(bytes(mb * 1e6))),
  count,
  number: (n) => (n < 999.5 ? String(+n.toPrecision(3)) : count(n)),
  rate,
  pct: (pct) => (typeof pct === 'number' ? `${trimmed(pct.toFixed(pct < 10 ? 2 : 1))} %` : dash),
  // On logarithmic axes: 0.0953 is 1.1, or ten percent more.
  logratio: (log) => (typeof log === 'number' ? ratioWords(Math.exp(log)) : dash),
  change: (log) =>
    typeof log === 'number'
      ? `${log > 5e-4 ? '+' : log < -5e-4 ? '−' : ''}${changed(Math.abs(Math.expm1(log)))}`
      : dash,
  ratio: (n) => (typeof n === 'number' ? trimmed(n.toFixed(n < 10 ? 3 : 1)) : dash),
  // The line of a second is written a little before its end.
  clock: (s) => clockTime(Math.round(s) * 1000),
  percentile: percentileName,
}

/** A figure in the unit of its column, as charts and their tooltips show it. @param {string} unit @param {number | null | undefined} value */
export const formatted = (unit, value) =>
  value === null || value === undefined ? dash : formats[unit](value)

// About the width of a letter of the charts' small labels, in the widest of the usual fonts.
const signPx = 7.4
const labelGapPx = 10
// The label of a mark this near to the edge would cover the axis.
const edge = 0.12

/** @param {string} text */
const longestWord = (text) => Math.max(...text.split(/\s+/).map((word) => word.length))

/**
 * Shows labels of marks and areas over time only where they have room, and never breaks a word. Sets the sizes of the cells
 * of a heat map.
 * @param {Option} option of any chart; marks over time are the series of that id
 * @param {number} plotPx width of the picture between its axis and its edge
 * @returns {Option}
 */
export const placedLabels = (option, plotPx) => {
  const wholeS = [option.xAxis].flat()[0].max
  if (typeof wholeS !== 'number') return option
  const align = (/** @type {number} */ at) => (at < edge ? 'left' : at > 1 - edge ? 'right' : 'center')
  /** Marks whose labels overlap neither each other nor the edges of the picture. @param {readonly Option[]} marks @param {number} shorter by how many steps */
  const labelled = (marks, shorter) => {
    let takenPx = -labelGapPx
    return marks.map(({ names = [], ...mark }) => {
      const at = mark.xAxis / wholeS
      const side = align(at)
      const name = names[Math.min(shorter, names.length - 1)] ?? mark.name
      const width = name.length * signPx
      const from = at * plotPx - { left: 0, center: width / 2, right: width }[side]
      const show = from >= takenPx && from + width <= plotPx + labelGapPx
      if (show) takenPx = from + width + labelGapPx
      return { ...mark, name, label: { ...mark.label, show, align: side } }
    })
  }
  /** Marks with the longest names for which all have room. @param {readonly Option[]} marks */
  const markedIn = (marks) => {
    const steps = Math.max(1, ...marks.map(({ names = [] }) => names.length))
    const all = Array.from({ length: steps }, (_, shorter) => labelled(marks, shorter))
    return all.find((some) => some.every(({ label }) => label.show)) ?? all[steps - 1]
  }
  const area = (/** @type {[Option, Option]} */ [from, to]) => {
    const px = (plotPx * (to.xAxis - from.xAxis)) / wholeS - labelGapPx
    const wordPx = longestWord(from.name) * signPx
    // The first label may extend beyond its area, where nothing else is written.
    const show = px >= wordPx || from.xAxis === 0
    const width = Math.ceil(Math.max(px, wordPx))
    return [{ ...from, label: { ...from.label, show, width, overflow: 'break' } }, to]
  }
  const sized = (/** @type {Option} */ cell, /** @type {number} */ heightPx) => ({
    ...cell,
    symbolSize: [(plotPx * cell.spanS) / wholeS, heightPx],
  })
  const series = option.series.map((/** @type {Option} */ one) => {
    if (one.id === 'cells')
      return { ...one, data: one.data.map((/** @type {Option} */ cell) => sized(cell, one.cellPx)) }
    if (!one.id?.startsWith('marks')) return one
    return {
      ...one,
      markLine: { ...one.markLine, data: markedIn(one.markLine.data) },
      markArea: { ...one.markArea, data: one.markArea.data.map(area) },
    }
  })
  return { ...option, series }
}

// Only these hold names of ours: a series or a row may be called '@us' by a user.
const resolved = new Set(['color', 'borderColor', 'backgroundColor', 'formatter', 'valueFormatter'])

/**
 * The option with its colours and formats resolved.
 * @param {any} option
 * @param {ThemeName} theme
 * @param {string} [key] under which it is stored
 * @returns {any}
 */
export const themedOption = (option, theme, key = '') => {
  if (Array.isArray(option)) return option.map((part) => themedOption(part, theme, key))
  if (typeof option === 'string' && option.startsWith('@') && resolved.has(key)) {
    const name = option.slice(1)
    return entryOf(palettes[theme], name) ?? formats[name]
  }
  if (option === null || typeof option !== 'object') return option
  return Object.fromEntries(
    Object.entries(option).map(([name, value]) => [name, themedOption(value, theme, name)]),
  )
}
