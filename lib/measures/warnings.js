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

/**
 * @typedef {false | null | undefined | '' | 0} Not
 * @typedef {string | { message: string, invalidates?: boolean, cause?: string } | Not} Says a text: the run may not be quoted
 * @typedef {Record<string, Says | readonly Says[]>} Reasons by their codes, the cause first
 */

/** Worth knowing, but unless it `invalidates` the numbers count. @param {string} message */
export const note = (message, invalidates = false) => ({ message, invalidates })

/** What a record of reasons says. @param {Reasons} reasons @returns {Warning[]} */
export const warningsIn = (reasons) =>
  Object.entries(reasons).flatMap(([code, says]) =>
    [says]
      .flat()
      .flatMap((one) => (one ? [{ code, ...(typeof one === 'string' ? { message: one } : one) }] : [])),
  )

/** Reasons of a run as its warnings. @template R @param {(run: R) => Reasons} reasons @returns {(run: R) => Warning[]} */
export const reasonsBy = (reasons) => (run) => warningsIn(reasons(run))

/** An offset is known to half a round trip. @param {readonly { address: string, offset_ms: number, rtt_ms: number }[]} clocks @param {string} words what goes by them */
export const clockNote = (clocks, words) => {
  const ahead = clocks.filter((one) => Math.abs(one.offset_ms) - one.rtt_ms / 2 > clockLimitMs)
  const names = ahead.map(({ address }) => plainText(address)).join(', ')
  return (
    ahead.length > 0 &&
    note(`the clock of ${names} differs from ours by more than a second; ${words} by theirs`)
  )
}

/** @param {readonly { gaps?: number | null }[]} nodes */
export const gapsNote = (nodes) => {
  const gaps = nodes.reduce((sum, node) => sum + (node.gaps ?? 0), 0)
  return (
    gaps > 0 && note(`${several(gaps, 'sample')} of the nodes missing: their figures leave those seconds out`)
  )
}

/** @param {{ interrupted?: boolean, duration_s: number }} run */
export const interruptedNote = ({ interrupted, duration_s: durationS }) =>
  Boolean(interrupted) && note(`stopped by hand after ${durationS.toFixed(1)} s; the figures cover that time`)

/** 'not valid', as texts have it. @param {{ state?: State, valid: boolean }} run results of before have no state */
export const stateWords = ({ valid, state = valid ? 'valid' : 'not-valid' }) => state.replace('-', ' ')
