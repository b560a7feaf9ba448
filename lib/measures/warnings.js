// The state of a run by its reasons: valid without any, partial if only writers were absent, otherwise not valid.
import { plainText, several } from '../base/units.js'
import { clockLimitMs } from '../probes/clocks.js'

/**
 * @typedef {object} Warning
 * @property {string} code stable, for programs
 * @property {string} message
 * @property {boolean} [invalidates] false: worth knowing, but the numbers count
 * @property {string} [cause]
 */
/** @typedef {'valid' | 'partial' | 'not-valid'} State */

/** The reasons that make a run partial if there are no others. */
export const absentCode = 'absent-writers'
export const absentReadersCode = 'absent-readers'

/**
 * @param {readonly Warning[]} given what was noticed on the way
 * @param {readonly Warning[]} found
 * @returns {{ valid: boolean, state: State, warnings: (Warning & { invalidates: boolean })[] }} reasons first, then notes
 */
export const ruling = (given, found) => {
  const warnings = [...given, ...found].map((warning) => ({ invalidates: true, ...warning }))
  warnings.sort((a, b) => Number(b.invalidates) - Number(a.invalidates))
  const reasons = warnings.filter(({ invalidates }) => invalidates)
  return { valid: reasons.length === 0, state: stateBy(reasons.map(({ code }) => code)), warnings }
}

/** @param {readonly string[]} codes of what makes a run invalid @returns {State} */
export const stateBy = (codes) => {
  if (codes.length === 0) return 'valid'
  return codes.every((code) => code === absentCode || code === absentReadersCode) ? 'partial' : 'not-valid'
}

/** @typedef {[applies: boolean, code: string, message: string, invalidates?: boolean, more?: object]} Note */

/** An offset is known to half a round trip. @param {{ address: string, offset_ms: number, rtt_ms: number }[]} clocks @param {string} words what goes by them @returns {Note} */
export const clockNote = (clocks, words) => {
  const ahead = clocks.filter((one) => Math.abs(one.offset_ms) - one.rtt_ms / 2 > clockLimitMs)
  const names = ahead.map(({ address }) => plainText(address)).join(', ')
  return [
    ahead.length > 0,
    'clock',
    `the clock of ${names} differs from ours by more than a second; ${words} by theirs`,
  ]
}

/** @param {{ gaps?: number | null }[]} nodes @returns {Note} */
export const gapsNote = (nodes) => {
  const gaps = nodes.reduce((sum, node) => sum + (node.gaps ?? 0), 0)
  const message = `${several(gaps, 'sample')} of the nodes missing: their figures leave those seconds out`
  return [gaps > 0, 'gaps', message]
}

/**
 * What the user should know of a run: reasons and notes.
 * @param {Note[]} rows
 * @param {{ interrupted: boolean, duration_s: number }} run
 * @returns {Warning[]}
 */
export const notes = (rows, { interrupted, duration_s: durationS }) => {
  const byHand = `stopped by hand after ${durationS.toFixed(1)} s; the figures cover that time`
  rows.push([interrupted, 'interrupted', byHand])
  return rows
    .filter(([applies]) => applies)
    .map(([, code, message, invalidates = false, more]) => ({ code, message, ...more, invalidates }))
}

/** 'not valid', as texts have it. @param {{ state?: State, valid: boolean }} run results of before have no state */
export const stateWords = ({ valid, state = valid ? 'valid' : 'not-valid' }) => state.replace('-', ' ')
