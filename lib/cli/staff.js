// `millrace staff`: one large node, or many small ones?
import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { staffingChart } from '../../charts/staffing.js'
import { measuredLoads } from '../answers/load-files.js'
import { clusterLimits, leastRho } from '../answers/staffing.js'
import { staffingAnswer } from '../answers/staffing-answer.js'
import { loadOf } from '../answers/staffing-series.js'
import { staffingText } from '../answers/staffing-text.js'
import { ExitCode, OptionError } from '../errors.js'
import { plainData, plainText } from '../report/units.js'
import { script } from './script.js'
import { byteUnits, countUnits } from './values.js'

/**
 * @typedef {import('../answers/staffing-series.js').LoadUnit} LoadUnit
 * @typedef {Record<string, any>} Values
 */

const usage = `Usage: millrace staff --nodes N --mean LOAD --sd LOAD [options]
       millrace staff --from FILE|FOLDER [...] [options]

How much capacity N separate nodes need, and how much one node for the sum of their loads: with a margin of so many
standard deviations, what overflows how often, after a failure, and for other numbers of nodes.

  --nodes N            nodes of this load (1 to 10000)
  --mean LOAD          load of a node: 12GB, 40% or a plain number
  --sd LOAD            its standard deviation, in the same unit
  --margin K           standard deviations above the mean that a node has room for (2)
  --rho R              correlation of any two nodes' loads, up to 1 (0, independent; measured with --from)
  --replicas R         of each shard, 0 to 5: what they add, and which shard counts a cluster can have (0)
  --from PATH          measured loads instead of --nodes, --mean and --sd: the folder of a run, or a JSON export of
                       aws cloudwatch get-metric-data or get-metric-statistics; may be repeated, a file a node
  --measure WHAT       of a run: cpu or memory (cpu)
  --role ROLE          of a run: master, replica or all (master)
  --simulate DRAWS     draws so many loads of all nodes and prints how often they overflow (up to 10M)
  --seed N             of the simulation (1)
  --chart FILE         draws capacity over the number of nodes, .svg or .png
  --dark               the chart for a dark page
  --json               prints the answer as JSON
  -h, --help           this text`

const text = /** @type {const} */ ({ type: 'string' })
const flag = /** @type {const} */ ({ type: 'boolean' })

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

/** @param {import('../answers/staffing-answer.js').StaffingAnswer} answer @param {string} path @param {boolean} dark */
const drawChart = async (answer, path, dark) => {
  const { svgOf, pngOf } = await import('../report/draw.js')
  const { title, note, option } = staffingChart
  const svg = svgOf(
    { title, note, option: /** @type {Record<string, any>} */ (option(answer)) },
    { look: dark ? 'dark' : 'light' },
  )
  await writeFile(path, extname(path) === '.png' ? await pngOf(svg) : svg).catch((cause) => {
    throw new OptionError(`--chart ${path} cannot be written (${cause.code})`, { cause })
  })
}

await script({
  usage,
  options: {
    ...Object.fromEntries(
      [
        'nodes',
        'mean',
        'sd',
        'margin',
        'rho',
        'replicas',
        'measure',
        'role',
        'simulate',
        'seed',
        'chart',
      ].map((name) => [name, text]),
    ),
    from: { ...text, multiple: true },
    dark: flag,
    json: flag,
  },
  work: async (values, words) => {
    if (words.length > 0)
      throw new OptionError(`a word too many: '${plainText(words[0]).slice(0, 60)}' (--help)`)
    const margin = number('margin', values.margin ?? '2', { least: 0, most: 10 })
    const replicas = number('replicas', values.replicas ?? '0', {
      least: 0,
      most: clusterLimits.replicas,
      whole: true,
    })
    if (values.chart !== undefined && !['.svg', '.png'].includes(extname(values.chart)))
      throw new OptionError(`--chart ${plainText(values.chart)}: must end in .svg or .png`)
    const found = values.from ? await measuredLoad(values) : typedLoad(values)
    const draws =
      values.simulate && number('simulate', values.simulate, { least: 1000, most: 10e6, whole: true })
    if (draws && found.load.rho < 0)
      throw new OptionError('--simulate draws loads that share a factor: --rho must be 0 or more')
    const seed = number('seed', values.seed ?? '1', { least: 0, most: 2 ** 31, whole: true })
    const answer = staffingAnswer({ ...found, margin, replicas, simulation: draws ? { draws, seed } : null })
    if (values.chart) await drawChart(answer, values.chart, values.dark === true)
    process.stdout.write(
      values.json
        ? `${JSON.stringify(plainData(answer), null, 2)}\n`
        : staffingText(answer, { columns: process.stdout.columns }),
    )
    return ExitCode.done
  },
})
