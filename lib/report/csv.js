// Tables for spreadsheets and data frames: figures as plain numbers, in the unit that their column names.
import { exactly } from '../base/typed.js'
import { measuresIn } from '../result/metrics.js'

/**
 * @import { ExperimentDocument } from '../result/experiment-document.js'
 * @import { ExperimentRecord, RunRecord } from '../result/record.js'
 */
/** @typedef {string | number | boolean | null | undefined} Value */

/** A text that a spreadsheet would take for a formula gets a quotation mark in front. @param {Value} value */
const field = (value) => {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** @param {Value[][]} rows the first holds the titles */
export const csvOf = (rows) => `${rows.map((row) => row.map(field).join(',')).join('\r\n')}\r\n`

/** @param {RunRecord} record */
const figuresCsv = ({ run }) =>
  csvOf([
    ['figure', 'unit', 'value'],
    ...measuresIn(run)
      .map(({ name, unit, value }) => [name, unit, value(run)])
      .filter(([, , value]) => value !== null),
  ])

const nodeKeys = exactly([
  'role',
  'shard',
  'engine_cpu_pct',
  'cpu_pct',
  'commands_per_s',
  'memory_bytes',
  'data_bytes',
  'keys',
  'clients',
  'net_in_bytes',
  'net_out_bytes',
  'expired',
  'evicted',
  'lag_bytes',
  'gap',
])

/** A row a node and second. @param {RunRecord} record */
const nodesCsv = ({ seconds }) =>
  csvOf([
    ['at_ms', 'node', ...nodeKeys],
    ...seconds.flatMap(({ at_ms: atMs, nodes = [] }) =>
      nodes.map((node) => [atMs, node.address, ...nodeKeys.map((key) => node[key])]),
    ),
  ])

// Nodes have rows of their own; how often there was each value is no column a value.
const notInRows = new Set(['hdr', 'nodes', 'over_ms', 'sizes', 'of'])

/** What of a second is a number, under its path; histograms and nodes are left out. @param {object} part @param {string} [path] @returns {[string, Value][]} */
const leaves = (part, path = '') =>
  Object.entries(part).flatMap(([key, value]) => {
    if (notInRows.has(key)) return []
    const name = path ? `${path}.${key}` : key
    if (value !== null && typeof value === 'object') return leaves(value, name)
    return [[name, value]]
  })

/** A row a second. @param {RunRecord} record */
const secondsCsv = ({ seconds }) => {
  const rows = seconds.map((second) => new Map(leaves(second)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  // A warm-up has no latencies: null there, percentiles later.
  const columns = names.filter((name) => !names.some((other) => other.startsWith(`${name}.`)))
  return csvOf([columns, ...rows.map((row) => columns.map((name) => row.get(name)))])
}

/** @param {ExperimentDocument} experiment */
const rowsCsv = ({ columns, rows }) => {
  const factors = [...new Set(rows.flatMap((row) => Object.keys(row.factors)))]
  return csvOf([
    [
      'row',
      ...factors,
      ...columns.flatMap(({ name }) => [
        name,
        `${name} low`,
        `${name} high`,
        `${name} samples`,
        `${name} published`,
      ]),
    ],
    ...rows.map(({ label, factors: own, figures, published }) => [
      label,
      ...factors.map((factor) => own[factor]),
      ...columns.flatMap(({ name }) => {
        const { median, low, high, samples } = figures[name] ?? {}
        return [median, low, high, samples?.join(' '), published?.[name]]
      }),
    ]),
  ])
}

/**
 * The CSV files of a report by their names.
 * @param {RunRecord | ExperimentRecord} record
 * @returns {Record<string, string>}
 */
export const csvFiles = (record) =>
  record.kind === 'run'
    ? { 'figures.csv': figuresCsv(record), 'seconds.csv': secondsCsv(record), 'nodes.csv': nodesCsv(record) }
    : { 'rows.csv': rowsCsv(record.experiment) }
