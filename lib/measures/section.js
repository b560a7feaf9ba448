// A section of run.json, declared once: its shape (from which its schema and type come), its metrics, its rows of the report,
// and the reasons why a run with it may not be quoted. Those who deal with sections go through lists of them.

/**
 * @import { Obj, Schema, Shaped } from '../base/shape-types.js'
 * @import { Metric } from './measure.js'
 * @import { Warning } from './warnings.js'
 *
 * @typedef {Record<string, any>} Run run.json; its own section is there
 * @typedef {false | null | undefined | ''} Not
 * @typedef {Record<string, string | Not>} Rows texts by their labels
 * @typedef {string | { message: string, invalidates: boolean } | Not} Says a text: the run may not be quoted
 * @typedef {Record<string, Says | readonly Says[]>} Reasons by their codes, the cause first
 */
/** @template T @typedef {Metric & { value?: (section: T, run: Run) => number | null, axis?: string }} SectionMetric value: where it is not at its name */
/**
 * @template T what it has
 * @typedef {object} Declared
 * @property {Record<string, SectionMetric<T>>} [metrics]
 * @property {(section: T, run: Run) => Rows} [rows]
 * @property {(section: T, run: Run) => Reasons} [reasons]
 */

/** Worth knowing, but unless it `invalidates` the numbers count. @param {string} message */
export const note = (message, invalidates = false) => ({ message, invalidates })

/** @param {string} code @param {Says | readonly Says[]} says @returns {Warning[]} */
const warningsOf = (code, says) =>
  [says]
    .flat()
    .flatMap((one) => (one ? [{ code, ...(typeof one === 'string' ? { message: one } : one) }] : []))

/**
 * @template {string} N
 * @template {Schema} const S
 * @param {N} name
 * @param {S} shape
 * @param {Declared<Shaped<S>>} declared
 */
export const section = (name, shape, { metrics = {}, rows, reasons }) => ({
  ...{ name, shape, metrics },
  /** @param {Run} run */
  rows: (run) =>
    Object.entries((run[name] && rows?.(run[name], run)) ?? {}).flatMap(([label, text]) =>
      text ? [{ label, text }] : [],
    ),
  /** @param {Run} run */
  reasons: (run) =>
    Object.entries((run[name] && reasons?.(run[name], run)) ?? {}).flatMap(([code, says]) =>
      warningsOf(code, says),
    ),
})

/** @typedef {ReturnType<typeof section<string, any>>} Section */

/** @param {readonly Section[]} sections */
export const shapesOf = (sections) => Object.fromEntries(sections.map(({ name, shape }) => [name, shape]))

/** @param {readonly Section[]} sections @param {Run} run */
export const rowsOf = (sections, run) => sections.flatMap(({ rows }) => rows(run))

/** Rows of the table of metrics. @param {readonly Section[]} sections */
export const metricsOf = (sections) =>
  sections.flatMap(({ name: own, metrics }) =>
    Object.entries(metrics).map(([name, { title, unit, better, value, axis }]) => {
      const read = value && ((/** @type {Run} */ run) => (run[own] ? value(run[own], run) : null))
      return /** @type {const} */ ([name, title, unit, better, read, axis])
    }),
  )
