// Cells of a report's tables: the text, and what a column is ordered by.

import { formatted } from '../chart/theme.js'
import { measureNamed } from '../result/metrics.js'

/** @import { Cell } from './sections.js' */

/** A value with its unit. @param {{ unit: string }} figure @param {number | null | undefined} value */
export const shownFigure = ({ unit }, value) => formatted(unit, value)

/** @param {string} text @param {Cell['sort']} [sort] @returns {Cell} */
export const cell = (text, sort) => (sort === undefined ? { text } : { text, sort })

/** @param {string} name @param {number | null | undefined} value */
export const figureCell = (name, value) => cell(shownFigure(measureNamed(name), value), value ?? null)
