// `millrace plan staff`: one large node, or many small ones?

import { readFile, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { staffingChart } from '../../../charts/staffing.js'
import { ownOptions } from '../../../settings.js'
import { clusterLimits, leastRho, staffing, staffingAnswer } from '../../answers/staff.js'
import { typedLoadOf } from '../../answers/staffing-series.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { byteUnits, countUnits } from '../../base/scaled.js'
import { exactly } from '../../base/typed.js'
import { plainText } from '../../base/units.js'
import { readRecord } from '../../result/record.js'
import { drawAnswer, printAnswer } from '../answer.js'

/** @import { Command } from '../commands.js' */

// The options of `millrace plan staff`: what was asked, checked.
/**
 * @import { LoadUnit, Measured, NodeSeries, Points } from '../../answers/staffing-series.js'
 * @import { Values } from '../../options/values.js'
 */

/** The moments at which every node has a value, since only those have a sum. @param {Points[]} all @returns {NodeSeries[]} */
const aligned = (all) => {
  const [first, ...others] = all
  const moments = [...first.points.keys()]
    .filter((moment) => others.every(({ points }) => points.has(moment)))
    .sort((a, b) => a - b)
  return all.map(({ name, points }) => ({
    name,
    values: moments.map((moment) => /** @type {number} */ (points.get(moment))),
  }))
}

// Measured loads from files: the export of CloudWatch, or the seconds of a run.

/**
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

// biome-ignore format: a table, an option a row
export const staffOptions = ownOptions('Options', [
  { name: 'nodes', type: 'integer', range: ['1', '10000'], otherwise: 'none', help: 'nodes of this load' },
  { name: 'load', type: 'text', repeatable: ',', place: 'LOAD', otherwise: 'measured with --from',
    was: { mean: '--load mean=LOAD', sd: '--load sd=LOAD', margin: '--load margin=N', rho: '--load rho=N' },
    help: "load of a node, as in mean=12GB,sd=2GB: its mean and standard deviation (12GB, 40% or plain numbers), margin (2): standard deviations above the mean that a node has room for, and rho (0): the correlation of any two nodes' loads" },
  { name: 'replicas', type: 'integer', range: ['0', String(clusterLimits.replicas)], default: '0',
    help: 'of each shard: what they add, and which shard counts a cluster can have' },
  { name: 'from', type: 'path', repeatable: ',',
    help: 'measured loads instead of --nodes and --load: the folder of a run, or a JSON export of aws cloudwatch get-metric-data or get-metric-statistics; may be repeated, a file a node' },
  { name: 'measure', type: 'choice', choices: ['cpu', 'memory'], default: 'cpu', help: 'of a run: cpu or memory' },
  { name: 'role', type: 'choice', choices: ['master', 'replica', 'all'], default: 'master',
    help: 'of a run: master, replica or all' },
  { name: 'simulate', type: 'integer', range: ['1000', '10M'], otherwise: 'none',
    help: 'draw this many loads of all nodes, and print how often they overflow' },
  { name: 'seed', type: 'integer', range: ['0', '2147483648'], default: '1', help: 'of the simulation' },
  { name: 'draw', was: { chart: '--draw' }, type: 'path', help: 'draw capacity over the number of nodes, .svg or .png (NAME-dark.svg: for a dark page)' },
  { name: 'json', type: 'flag', help: 'print the answer as JSON' },
])

/** @param {string} name @param {string} given @returns {{ value: number, unit: LoadUnit }} */
const amount = (name, given) => {
  const [, digits, unit] = /^(\d[\d_]*(?:\.\d+)?) ?([a-z%]*)$/i.exec(given) ?? []
  const value = Number(digits?.replaceAll('_', ''))
  if (unit === '%') return { value, unit: 'pct' }
  const counted = countUnits.get(unit)
  if (counted !== undefined) return { value: value * counted, unit: 'number' }
  const scale = byteUnits.get(unit?.toLowerCase())
  if (scale === undefined)
    throw new OptionError(
      `--load ${name}=${plainText(given).slice(0, 40)}: must be a load as in 12GB, 40% or 100k`,
    )
  return { value: value * scale, unit: 'bytes' }
}

const numbersOfLoad = exactly({ margin: [0, 10], rho: [-1, 1] })
const namesOfLoad = ['mean', 'sd', ...Object.keys(numbersOfLoad)]

/** `mean=12GB,sd=2GB` @param {string | undefined} text @returns {Record<string, string>} */
const partsOfLoad = (text) => {
  const parts = text === undefined ? [] : text.split(',').map((part) => part.trim().split(/=(.*)/s))
  for (const [name, value] of parts) {
    if (!namesOfLoad.includes(name) || !value)
      throw new OptionError(
        `--load ${plainText(name).slice(0, 40)}: must be NAME=VALUE of ${namesOfLoad.join(', ')}, as in mean=12GB,sd=2GB`,
      )
  }
  return Object.fromEntries(parts)
}

/** @param {Record<string, string>} parts @param {'margin' | 'rho'} name */
const numberOfLoad = (parts, name) => {
  const text = parts[name]
  if (text === undefined) return
  const [least, most] = numbersOfLoad[name]
  const value = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= most))
    throw new OptionError(
      `--load ${name}=${plainText(text).slice(0, 40)}: must be a number from ${least} to ${most}`,
    )
  return value
}

/** Loads that were typed. @param {Values} values @param {Record<string, string>} parts */
const typedLoad = ({ nodes }, parts) => {
  const lacking =
    nodes === undefined
      ? '--nodes'
      : ['mean', 'sd'].filter((name) => !parts[name]).map((name) => `--load ${name}=`)[0]
  if (lacking)
    throw new OptionError(
      `${lacking} is missing: give --nodes and --load mean=12GB,sd=2GB, or measured loads with --from`,
    )
  const rho = numberOfLoad(parts, 'rho') ?? 0
  const mean = amount('mean', parts.mean)
  const sd = amount('sd', parts.sd)
  if (sd.unit !== mean.unit)
    throw new OptionError(`--load sd=${parts.sd}: must have the unit of mean=${parts.mean}`)
  if (!(mean.value > 0)) throw new OptionError('--load mean= must be above 0')
  if (rho < leastRho(nodes) - 1e-12)
    throw new OptionError(
      `--load rho=${rho}: ${nodes} loads cannot all be correlated below ${leastRho(nodes).toFixed(3)}`,
    )
  return { load: { nodes, mean: mean.value, sd: sd.value, rho }, unit: mean.unit, measured: null }
}

/** @param {Values} values @param {Record<string, string>} parts */
const measuredLoad = async (values, parts) => {
  const given =
    values.nodes !== undefined
      ? '--nodes'
      : ['mean', 'sd', 'rho'].filter((name) => parts[name]).map((name) => `--load ${name}=`)[0]
  if (given) throw new OptionError(`${given} does not go with --from, which measures it`)
  const { measure, role } = values
  const measured = await measuredLoads(values.from.split(','), { measure, role })
  return { load: typedLoadOf(measured.nodes).load, unit: measured.unit, measured }
}

/** @param {Values} settings of staffOptions */
export const staffRequest = async (settings) => {
  const { draw, json, load, replicas, simulate: draws, seed, from } = settings
  if (draw !== undefined && !['.svg', '.png'].includes(extname(draw)))
    throw new OptionError(`--draw ${plainText(draw)}: must end in .svg or .png`)
  const parts = partsOfLoad(load)
  const margin = numberOfLoad(parts, 'margin') ?? 2
  const found = from === undefined ? typedLoad(settings, parts) : await measuredLoad(settings, parts)
  if (draws && found.load.rho < 0)
    throw new OptionError('--simulate draws loads that share a factor: their correlation must be 0 or more')
  return { ...found, margin, replicas, simulation: draws ? { draws, seed } : null, draw, json }
}

/** @type {Command} */
export const command = {
  about: {
    words: '[--from FILE|FOLDER]',
    does: 'Computes the capacity that N separate nodes need, and that of one node for the sum of their loads, with a margin of standard deviations: how often each overflows, what a failure takes, and the same for other numbers of nodes.',
    examples: [
      ['nine nodes of 12 GB, two more or less', '--nodes 9 --load mean=12GB,sd=2GB'],
      ['the CPU of the masters of a run', '--from results/spring --measure cpu'],
    ],
  },
  options: staffOptions,
  isPrivate: true,
  work: async ({ settings }) => {
    const { draw, json, ...asked } = await staffRequest(settings)
    const answer = staffingAnswer(asked)
    if (draw) await drawAnswer(staffingChart, answer, draw)
    printAnswer(answer, json, staffing.text)
    return ExitCode.done
  },
}
