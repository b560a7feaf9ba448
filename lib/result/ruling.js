// What reasons come to: a run is valid without any, partial where only writers were absent, else not valid.

/**
 * @typedef {object} Warning
 * @property {string} code stable, for programs
 * @property {string} message
 * @property {boolean} [invalidates] false: worth knowing, but the numbers count
 * @property {string} [cause]
 */
/** @typedef {'valid' | 'partial' | 'not-valid'} State */

/** The reason that leaves a run partial where it is the only one. */
export const absentCode = 'absent-writers'

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
  return codes.every((code) => code === absentCode) ? 'partial' : 'not-valid'
}

/** 'not valid', as texts have it. @param {{ state?: State, valid: boolean }} run results of before have no state */
export const stateWords = ({ valid, state = valid ? 'valid' : 'not-valid' }) => state.replace('-', ' ')
