// The options of `millrace staff`: what was asked, checked.
import { extname } from 'node:path'
import { measuredLoads } from '../answers/load-files.js'
import { clusterLimits, leastRho } from '../answers/staffing.js'
import { loadOf } from '../answers/staffing-series.js'
import { plainText } from '../base/units.js'
import { OptionError } from '../errors.js'
import { byteUnits, countUnits } from './values.js'

/**
 * @typedef {import('../answers/staffing-series.js').LoadUnit} LoadUnit
 * @typedef {Record<string, any>} Values
 */

/** @param {string} name @param {string} given @param {{ least: number, most: number, whole?: boolean }} range */
const number = (name, given, { least, most, whole = false }) => {
  const [, digits, unit] = /^(-?\d[\d_]*(?:\.\d+)?)([kM]?)$/.exec(given) ?? []
  const value = Number(digits?.replaceAll('_', '')) * (countUnits.get(unit) ?? 1)
  if (!(value >= least && value <= most) || (whole && !Number.isInteger(value)))
    throw new OptionError(
      `--${name} ${plainText(given).slice(0, 40)}: must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}`,
    )
  return value
}

/** @param {string} name @param {string} given @returns {{ value: number, unit: LoadUnit }} */
const amount = (name, given) => {
  const [, digits, unit] = /^(\d[\d_]*(?:\.\d+)?) ?([a-z%]*)$/i.exec(given) ?? []
  const value = Number(digits?.replaceAll('_', ''))
  if (unit === '%') return { value, unit: 'pct' }
  const counted = countUnits.get(unit)
  if (counted !== undefined) return { value: value * counted, unit: 'count' }
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
  const nodes = number('nodes', values.nodes, { least: 1, most: 10_000, whole: true })
  const mean = amount('mean', values.mean)
  const sd = amount('sd', values.sd)
  if (sd.unit !== mean.unit)
    throw new OptionError(`--sd ${values.sd}: must have the unit of --mean ${values.mean}`)
  if (!(mean.value > 0)) throw new OptionError('--mean must be above 0')
  const rho = number('rho', values.rho ?? '0', { least: -1, most: 1 })
  if (rho < leastRho(nodes) - 1e-12)
    throw new OptionError(
      `--rho ${values.rho}: ${nodes} loads cannot all be correlated below ${leastRho(nodes).toFixed(3)}`,
    )
  return { load: { nodes, mean: mean.value, sd: sd.value, rho }, unit: mean.unit, measured: null }
}

/** @param {Values} values */
const measuredLoad = async (values) => {
  const given = ['nodes', 'mean', 'sd', 'rho'].find((name) => values[name] !== undefined)
  if (given) throw new OptionError(`--${given} does not go with --from, which measures it`)
  const { measure = 'cpu', role = 'master' } = values
  if (measure !== 'cpu' && measure !== 'memory') throw new OptionError('--measure must be cpu or memory')
  if (!['master', 'replica', 'all'].includes(role))
    throw new OptionError('--role must be master, replica or all')
  const measured = await measuredLoads(values.from, { measure, role })
  return { load: loadOf(measured.nodes).load, unit: measured.unit, measured }
}

/** @param {Values} values as they were typed @param {string[]} words that belong to no option */
export const staffRequest = async (values, words) => {
  if (words.length > 0)
    throw new OptionError(`a word too many: '${plainText(words[0]).slice(0, 60)}' (--help names all options)`)
  const { chart, dark = false, json = false } = values
  if (chart !== undefined && !['.svg', '.png'].includes(extname(chart)))
    throw new OptionError(`--chart ${plainText(chart)}: must end in .svg or .png`)
  const margin = number('margin', values.margin ?? '2', { least: 0, most: 10 })
  const replicas = number('replicas', values.replicas ?? '0', {
    least: 0,
    most: clusterLimits.replicas,
    whole: true,
  })
  const draws =
    values.simulate && number('simulate', values.simulate, { least: 1000, most: 10e6, whole: true })
  const seed = number('seed', values.seed ?? '1', { least: 0, most: 2 ** 31, whole: true })
  const found = values.from ? await measuredLoad(values) : typedLoad(values)
  if (draws && found.load.rho < 0)
    throw new OptionError('--simulate draws loads that share a factor: their correlation must be 0 or more')
  return { ...found, margin, replicas, simulation: draws ? { draws, seed } : null, chart, dark, json }
}
