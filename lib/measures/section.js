// A section of run.json, declared once: its shape (from which its schema and type come), its metrics, its rows of the report,
// and the reasons why a run with it may not be quoted. Those who deal with sections go through lists of them.

import { exactly } from '../base/typed.js'
import { warningsIn } from './warnings.js'

/**
 * @import { Obj, Schema, Shaped } from '../base/shape-types.js'
 * @import { Metric } from './measure.js'
 * @import { Not, Reasons } from './warnings.js'
 *
 * @typedef {any} Run run.json; its own section is there
 * @typedef {Record<string, string | Not>} Rows texts by their labels
 */
/** @template T @typedef {Metric & { value?: (section: T, run: Run) => number | null, axis?: string }} SectionMetric value: where it is not at its name */
/**
 * @template T what it has
 * @typedef {object} Declared
 * @property {Record<string, SectionMetric<T>>} [metrics]
 * @property {(section: T, run: Run) => Rows} [rows]
 * @property {(section: T, run: Run) => Rows} [brief] its rows among the ten of a run's end
 * @property {(section: T, run: Run) => Reasons} [reasons]
 * @property {boolean} [isNeeded] every run has it
 * @property {unknown} [empty] what run.json has in its place; else it has nothing there
 */

/** @type {Schema} */
const unknownShape = {}

/** @template T @param {Run} run @param {string} name @param {((section: T, run: Run) => Rows) | undefined} rows @returns {{ label: string, text: string }[]} */
const rowsIn = (run, name, rows) =>
  Object.entries((run[name] && rows?.(run[name], run)) ?? {}).flatMap(([label, text]) =>
    text ? [{ label, text }] : [],
  )

/**
 * @template {string} N
 * @template {Schema} const S
 * @param {N} name
 * @param {S} shape
 * @param {Declared<NonNullable<Shaped<S>>>} declared
 */
export const section = (name, shape, { metrics = {}, rows, brief, reasons, ...declared }) => ({
  ...declared,
  name,
  shape,
  metrics,
  rows: (/** @type {Run} */ run) => rowsIn(run, name, rows),
  brief: (/** @type {Run} */ run) => rowsIn(run, name, brief),
  reasons: (/** @type {Run} */ run) => warningsIn((run[name] && reasons?.(run[name], run)) ?? {}),
})

/** @typedef {ReturnType<typeof section<string, any>>} Section */

/** What is in no schema, with what is there where it is missing. @param {string} name @param {unknown} empty */
export const unnamed = (name, empty) => section(name, unknownShape, { empty })

/** @param {readonly Section[]} sections @returns {Record<string, Schema>} */
export const shapesOf = (sections) =>
  Object.fromEntries(sections.flatMap(({ name, shape }) => (shape === unknownShape ? [] : [[name, shape]])))

/** @param {readonly Section[]} sections @param {Run} run */
export const rowsOf = (sections, run) => sections.flatMap(({ rows }) => rows(run))

/**
 * Shapes by paths as those of the sections that they are in.
 * @param {Readonly<Record<string, Schema>>} flat
 * @param {string | readonly string[]} type of a section
 * @returns {Record<string, Schema>}
 */
export const nestedShapes = (flat, type) => {
  /** @type {Record<string, { type: typeof type, properties: Record<string, Schema>, required: string[] }>} */
  const made = {}
  /** @type {Record<string, Schema>} */
  const sections = {}
  for (const [path, shape] of Object.entries(flat)) {
    const [name, ...rest] = path.split('.')
    if (rest.length === 0) sections[name] = shape
    else {
      made[name] ??= { type, properties: {}, required: [] }
      made[name].properties[rest.join('.')] = shape
      sections[name] = made[name]
    }
  }
  return sections
}

/** Rows of the table of metrics. @param {readonly Section[]} sections */
export const metricsOf = (sections) =>
  sections.flatMap(({ name: own, metrics }) =>
    Object.entries(metrics).map(([name, { title, unit, better, value, axis, isShare }]) => {
      const read = value && ((/** @type {Run} */ run) => (run[own] ? value(run[own], run) : null))
      return exactly([name, title, unit, better, read, axis, isShare])
    }),
  )
