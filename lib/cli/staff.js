// `millrace staff`: one large node, or many small ones?
import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { staffingChart } from '../../charts/staffing.js'
import { staffingAnswer } from '../answers/staffing-answer.js'
import { staffingText } from '../answers/staffing-text.js'
import { plainData } from '../base/units.js'
import { ExitCode, OptionError } from '../errors.js'
import { script } from './script.js'
import { staffRequest } from './staff-options.js'

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

/** @param {import('../answers/staffing-answer.js').StaffingAnswer} answer @param {string} path @param {boolean} dark */
const drawChart = async (answer, path, dark) => {
  const { missingFor, svgOf, pngOf } = await import('../report/draw.js')
  const isPng = extname(path) === '.png'
  const missing = missingFor(isPng ? 'png' : 'svg')
  if (missing) throw new OptionError(`--chart ${path}: ${missing}`)
  const { title, note, option } = staffingChart
  const svg = svgOf(
    { title, note, option: /** @type {Record<string, any>} */ (option(answer)) },
    { look: dark ? 'dark' : 'light' },
  )
  await writeFile(path, isPng ? await pngOf(svg) : svg).catch((cause) => {
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
    const { chart, dark, json, ...asked } = await staffRequest(values, words)
    const answer = staffingAnswer(asked)
    if (chart) await drawChart(answer, chart, dark)
    process.stdout.write(
      json
        ? `${JSON.stringify(plainData(answer), null, 2)}\n`
        : staffingText(answer, { columns: process.stdout.columns }),
    )
    return ExitCode.done
  },
})
