// How fast a share of the items changes: `10%/h`.
import { timeUnits } from '../base/scaled.js'

/** Items a millisecond; undefined where the text is no pace. @param {string} text @returns {number | undefined} */
export const paceOf = (text) => {
  const [, percent, unit] = /^(\d+(?:\.\d+)?)%\/(s|m|h)$/.exec(text) ?? []
  const perMs = Number(percent) / 100 / Number(timeUnits.get(unit))
  return perMs > 0 ? perMs : undefined
}
