// `millrace staff`: one large node, or many small ones?
import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { staffingChart } from '../../../charts/staffing.js'
import { staffingAnswer } from '../../answers/staffing-answer.js'
import { staffingText } from '../../answers/staffing-text.js'
import { plainData } from '../../base/units.js'
import { ExitCode, OptionError } from '../../errors.js'
import { staffOptions, staffRequest } from '../staff-options.js'

/** @param {import('../../answers/staffing-answer.js').StaffingAnswer} answer @param {string} path @param {boolean} dark */
const drawChart = async (answer, path, dark) => {
  const { svgOf, pngOf } = await import('../../report/draw.js')
  const { title, note, option } = staffingChart
  const svg = svgOf(
    { title, note, option: /** @type {Record<string, any>} */ (option(answer)) },
    { look: dark ? 'dark' : 'light' },
  )
  await writeFile(path, extname(path) === '.png' ? await pngOf(svg) : svg).catch((cause) => {
    throw new OptionError(`--chart ${path} cannot be written (${cause.code})`, { cause })
  })
}

/** @type {import('../commands.js').Command} */
export const command = {
  about: {
    words: '[--from FILE|FOLDER]',
    does: 'How much capacity N separate nodes need, and how much one node for the sum of their loads: with a margin of so many standard deviations, what overflows how often, after a failure, and for other numbers of nodes.',
    examples: [
      ['nine nodes of 12 GB, two more or less', '--nodes 9 --mean 12GB --sd 2GB'],
      ['the CPU of the masters of a run', '--from results/2026-11-22T11-08-08-sorted-set --measure cpu'],
    ],
  },
  options: staffOptions,
  isPrivate: true,
  work: async ({ settings }) => {
    const { chart, dark, json, ...asked } = await staffRequest(settings)
    const answer = staffingAnswer(asked)
    if (chart) await drawChart(answer, chart, dark)
    process.stdout.write(
      json
        ? `${JSON.stringify(plainData(answer), null, 2)}\n`
        : staffingText(answer, { columns: process.stdout.columns }),
    )
    return ExitCode.done
  },
}
