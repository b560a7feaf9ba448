// Measured loads from files: the export of CloudWatch, or the seconds of a run.
import { readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { OptionError } from '../base/errors.js'
import { plainText } from '../base/units.js'
import { readRecord } from '../result/record.js'
import { aligned } from './staffing-series.js'

/**
 * @import { LoadUnit, Measured, Points } from './staffing-series.js'
 *
 * @typedef {'cpu' | 'memory'} Measure
 * @typedef {'master' | 'replica' | 'all'} Role
 * @typedef {{ unit: LoadUnit, what: string, nodes: Points[] }} Loads
 */

// A spread needs this many moments.
const leastMoments = 10

/** @type {Record<string, LoadUnit>} */
const unitsOf = { Percent: 'pct', Bytes: 'bytes' }

/** The unit by a metric's name, where the export has none. @param {string} name @returns {LoadUnit} */
const unitNamed = (name) =>
  /Utilization|Percentage/.test(name) ? 'pct' : /Bytes|Memory/.test(name) ? 'bytes' : 'number'

/** @param {unknown} moment ISO, or epoch seconds */
const epochMs = (moment) => (typeof moment === 'number' ? moment * 1000 : Date.parse(String(moment)))

/** @param {[unknown, unknown][]} pairs */
const pointsOf = (pairs) => {
  const points = pairs.map(
    ([moment, value]) => /** @type {[number, number]} */ ([epochMs(moment), Number(value)]),
  )
  return new Map(points.filter(([moment, value]) => Number.isFinite(moment) && Number.isFinite(value)))
}

const statistics = ['Average', 'Maximum', 'Sum', 'Minimum', 'SampleCount']

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === 'object' && value !== null

/** @param {unknown} value @returns {unknown[]} */
const listOf = (value) => (Array.isArray(value) ? value : [])

/** Objects of a list. @param {unknown} value */
const objectsOf = (value) => listOf(value).filter(isObject)

/**
 * `aws cloudwatch get-metric-data` (a result a node) or `get-metric-statistics` (a file a node).
 * @param {unknown} found
 * @param {string} path
 * @returns {Loads | null} null: it is neither
 */
const cloudWatchLoads = (found, path) => {
  if (!isObject(found)) return null
  if (Array.isArray(found.MetricDataResults)) {
    const results = objectsOf(found.MetricDataResults)
    const label = plainText(String(results[0]?.Label ?? ''))
    const nodes = new Map()
    // A long export comes in pages, which repeat the id.
    for (const { Id: id, Label: name = id, Timestamps: moments, Values: values } of results) {
      const known = nodes.get(id) ?? { name: plainText(String(name)), points: new Map() }
      const measured = listOf(values)
      for (const [moment, value] of pointsOf(listOf(moments).map((at, row) => [at, measured[row]])))
        known.points.set(moment, value)
      nodes.set(id, known)
    }
    return { unit: unitNamed(label), what: label, nodes: [...nodes.values()] }
  }
  if (Array.isArray(found.Datapoints)) {
    const all = objectsOf(found.Datapoints)
    const [point = {}] = all
    const statistic = statistics.find((name) => typeof point[name] === 'number') ?? 'Average'
    const points = pointsOf(all.map((each) => [each.Timestamp, each[statistic]]))
    const label = plainText(String(found.Label ?? ''))
    const unit = unitsOf[String(point.Unit)] ?? unitNamed(label)
    return { unit, what: label, nodes: [{ name: basename(path, '.json'), points }] }
  }
  return null
}

const ofRun = /** @type {const} */ ({
  cpu: { unit: 'pct', what: 'engine CPU', key: 'engine_cpu_pct' },
  memory: { unit: 'bytes', what: 'memory', key: 'memory_bytes' },
})

/** The measured seconds of a run, by node. @param {string} folder @param {Measure} measure @param {Role} role @returns {Promise<Loads>} */
const runLoads = async (folder, measure, role) => {
  const record = await readRecord(folder)
  if (record.kind !== 'run') throw new OptionError(`${folder} is an experiment: give the folder of one run`)
  const { unit, what, key } = ofRun[measure]
  /** @type {Map<string, Map<number, number>>} */
  const nodes = new Map()
  for (const { at_ms: atMs, phase, nodes: rows = [] } of record.seconds) {
    if (phase !== 'measuring') continue
    for (const row of rows) {
      const value = row[key]
      if ((role !== 'all' && row.role !== role) || typeof value !== 'number') continue
      const points = nodes.get(row.address) ?? new Map()
      nodes.set(row.address, points.set(atMs, value))
    }
  }
  return { unit, what, nodes: [...nodes].map(([name, points]) => ({ name, points })) }
}

/** @param {string} path @param {Measure} measure @param {Role} role @returns {Promise<Loads>} */
const loadsIn = async (path, measure, role) => {
  const about = await stat(path).catch((cause) => {
    throw new OptionError(`--from ${path} cannot be read (${cause.code})`, { cause })
  })
  if (about.isDirectory()) return runLoads(path, measure, role)
  if (basename(path) === 'intervals.ndjson') return runLoads(join(path, '..'), measure, role)
  const found = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch((cause) => {
      throw new OptionError(`--from ${path} is not JSON`, { cause })
    })
  const loads = cloudWatchLoads(found, path)
  if (!loads)
    throw new OptionError(
      `--from ${path}: neither the folder of a run nor an export of 'aws cloudwatch get-metric-data' or 'get-metric-statistics'`,
    )
  return loads
}

/**
 * @param {string[]} paths folders of runs, their intervals.ndjson, or exports of CloudWatch
 * @param {{ measure: Measure, role: Role }} options for runs
 * @returns {Promise<Measured>}
 */
export const measuredLoads = async (paths, { measure, role }) => {
  const files = await Promise.all(paths.map((path) => loadsIn(path, measure, role)))
  const [{ unit, what }] = files
  const other = files.find((file) => file.unit !== unit)
  if (other) throw new OptionError(`--from: ${what} and ${other.what} are not in the same unit`)
  const all = files.flatMap(({ nodes }) => nodes)
  if (all.length === 0) throw new OptionError(`--from ${paths.join(', ')}: no node has a measured ${what}`)
  const nodes = aligned(all)
  const moments = nodes[0].values.length
  if (moments < leastMoments)
    throw new OptionError(
      `--from ${paths.join(', ')}: ${moments} moments have a value of all ${nodes.length} nodes; a spread needs ${leastMoments}`,
    )
  return { unit, what, nodes, moments }
}
