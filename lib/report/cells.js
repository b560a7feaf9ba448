// What a report says, before it is text, Markdown or a page, and the cells of its tables.

import { formatted } from '../chart/theme.js'
import { measureNamed } from '../result/metrics.js'

/**
 * @import { Brief } from './brief.js'
 *
 * @typedef {object} Cell
 * @property {string} text
 * @property {number | string | null} [sort] by which a column is ordered, where it is not the text
 * @property {string} [detail] less important, behind or below it
 * @property {string} [link] relative
 *
 * @typedef {object} Table
 * @property {string} title
 * @property {string} [note]
 * @property {{ title: string, left?: boolean }[]} columns
 * @property {Cell[][]} rows
 * @property {true} [more] of the page alone: no text shows it
 * @property {string} [fold] the title under which the page folds it away
 *
 * @typedef {object} Sections
 * @property {string} title
 * @property {string} question what was asked
 * @property {{ good: boolean, neutral?: boolean, isQuotable?: boolean, word: string, sentence: string }} verdict neutral: neither good
 *   news nor bad; isQuotable: its numbers count, by default if it is good
 * @property {Brief} [brief] of a run: its end in ten lines
 * @property {{ label: string, text: string }[]} [answer] of a run: what it cost, and why
 * @property {string} [repeat] the command line that repeats it
 * @property {{ label: string, text: string }[]} highlights
 * @property {{ label: string, text: string }[]} facts
 * @property {Table[]} tables
 * @property {{ text: string, serious: boolean }[]} warnings
 * @property {true} [remarksLast] of the warnings only the serious ones come before the picture
 * @property {{ text: string, passed: boolean }[]} [limits]
 */

/** A value with its unit. @param {{ unit: string }} figure @param {number | null | undefined} value */
export const shownFigure = ({ unit }, value) => formatted(unit, value)

/** @param {string} text @param {Cell['sort']} [sort] @returns {Cell} */
export const cell = (text, sort) => (sort === undefined ? { text } : { text, sort })

/** @param {string} name @param {number | null | undefined} value */
export const figureCell = (name, value) => cell(shownFigure(measureNamed(name), value), value ?? null)
