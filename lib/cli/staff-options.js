// The options of `millrace plan staff`: what was asked, checked.
import { extname } from 'node:path'
import { ownOptions } from '../../settings.js'
import { measuredLoads } from '../answers/load-files.js'
import { clusterLimits, leastRho } from '../answers/staffing.js'
import { typedLoadOf } from '../answers/staffing-series.js'
import { OptionError } from '../base/errors.js'
import { byteUnits, countUnits } from '../base/scaled.js'
import { exactly } from '../base/typed.js'
import { plainText } from '../base/units.js'

/**
 * @import { LoadUnit } from '../answers/staffing-series.js'
 * @import { Values } from '../options/values.js'
 */

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
