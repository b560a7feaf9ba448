// The options of `millrace plan staff`: what was asked, checked.
import { extname } from 'node:path'
import { ownOptions } from '../../settings.js'
import { measuredLoads } from '../answers/load-files.js'
import { clusterLimits, leastRho } from '../answers/staffing.js'
import { typedLoadOf } from '../answers/staffing-series.js'
import { OptionError } from '../base/errors.js'
import { byteUnits, countUnits } from '../base/scaled.js'
import { plainText } from '../base/units.js'

/**
 * @import { LoadUnit } from '../answers/staffing-series.js'
 *
 * @typedef {Record<string, any>} Values
 */

// biome-ignore format: a table, an option a row
export const staffOptions = ownOptions('Options', [
  { name: 'nodes', type: 'integer', range: ['1', '10000'], otherwise: 'none', help: 'nodes of this load' },
  { name: 'mean', type: 'text', place: 'LOAD', help: 'load of a node: 12GB, 40% or a plain number' },
  { name: 'sd', type: 'text', place: 'LOAD', help: 'its standard deviation, in the same unit' },
  { name: 'margin', type: 'number', range: ['0', '10'], default: '2',
    help: 'standard deviations above the mean that a node has room for' },
  { name: 'rho', type: 'number', range: ['-1', '1'], otherwise: '0; measured with --from',
    help: "correlation of any two nodes' loads" },
  { name: 'replicas', type: 'integer', range: ['0', String(clusterLimits.replicas)], default: '0',
    help: 'of each shard: what they add, and which shard counts a cluster can have' },
  { name: 'from', type: 'path', repeatable: ',',
    help: 'measured loads instead of --nodes, --mean and --sd: the folder of a run, or a JSON export of aws cloudwatch get-metric-data or get-metric-statistics; may be repeated, a file a node' },
  { name: 'measure', type: 'choice', choices: ['cpu', 'memory'], default: 'cpu', help: 'of a run: cpu or memory' },
  { name: 'role', type: 'choice', choices: ['master', 'replica', 'all'], default: 'master',
    help: 'of a run: master, replica or all' },
  { name: 'simulate', type: 'integer', range: ['1000', '10M'], otherwise: 'none',
    help: 'draw this many loads of all nodes, and print how often they overflow' },
  { name: 'seed', type: 'integer', range: ['0', '2147483648'], default: '1', help: 'of the simulation' },
  { name: 'chart', type: 'path', help: 'draw capacity over the number of nodes, .svg or .png' },
  { name: 'dark', type: 'flag', help: 'the chart for a dark page' },
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
      `--${name} ${plainText(given).slice(0, 40)}: must be a load as in 12GB, 40% or 100k`,
    )
  return { value: value * scale, unit: 'bytes' }
}

/** @param {Values} values @param {string[]} names */
const missing = (values, names) => names.filter((name) => values[name] === undefined)

/** Loads that were typed. @param {Values} values */
const typedLoad = (values) => {
  const lacking = missing(values, ['nodes', 'mean', 'sd'])
  if (lacking.length > 0)
    throw new OptionError(
      `--${lacking[0]} is missing: give --nodes, --mean and --sd, or measured loads with --from`,
    )
  const { nodes, rho = 0 } = values
  const mean = amount('mean', values.mean)
  const sd = amount('sd', values.sd)
  if (sd.unit !== mean.unit)
    throw new OptionError(`--sd ${values.sd}: must have the unit of --mean ${values.mean}`)
  if (!(mean.value > 0)) throw new OptionError('--mean must be above 0')
  if (rho < leastRho(nodes) - 1e-12)
    throw new OptionError(
      `--rho ${rho}: ${nodes} loads cannot all be correlated below ${leastRho(nodes).toFixed(3)}`,
    )
  return { load: { nodes, mean: mean.value, sd: sd.value, rho }, unit: mean.unit, measured: null }
}

/** @param {Values} values */
const measuredLoad = async (values) => {
  const given = ['nodes', 'mean', 'sd', 'rho'].find((name) => values[name] !== undefined)
  if (given) throw new OptionError(`--${given} does not go with --from, which measures it`)
  const { measure, role } = values
  const measured = await measuredLoads(values.from.split(','), { measure, role })
  return { load: typedLoadOf(measured.nodes).load, unit: measured.unit, measured }
}

/** @param {Values} settings of staffOptions */
export const staffRequest = async (settings) => {
  const { chart, dark, json, margin, replicas, simulate: draws, seed, from } = settings
  if (chart !== undefined && !['.svg', '.png'].includes(extname(chart)))
    throw new OptionError(`--chart ${plainText(chart)}: must end in .svg or .png`)
  const found = from === undefined ? typedLoad(settings) : await measuredLoad(settings)
  if (draws && found.load.rho < 0)
    throw new OptionError('--simulate draws loads that share a factor: their correlation must be 0 or more')
  return { ...found, margin, replicas, simulation: draws ? { draws, seed } : null, chart, dark, json }
}
