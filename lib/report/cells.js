// Cells of a report's tables: the text, and what a column is ordered by.
import { figureNamed, shownFigure } from './figures.js'

/** @typedef {import('./sections.js').Cell} Cell */

/** @param {string} text @param {Cell['sort']} [sort] @returns {Cell} */
export const cell = (text, sort) => (sort === undefined ? { text } : { text, sort })

/** @param {string} name @param {number | null | undefined} value */
export const figureCell = (name, value) => cell(shownFigure(figureNamed(name), value), value ?? null)
