// `millrace plan scale`: how many workers a rate needs, by finished runs of workers.
import { scalingChart } from '../../../charts/scaling.js'
import { ownOptions } from '../../../settings.js'
import { scaling, scalingAnswer } from '../../answers/scale.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { countUnits, scaled } from '../../base/scaled.js'
import { drawAnswer, printAnswer } from '../answer.js'

/** @import { Command } from '../commands.js' */

/** @param {string} text */
const ratesIn = (text) =>
  text.split(',').map((part) => {
    const rate = scaled(part, countUnits)
    if (rate === undefined || rate <= 0)
      throw new OptionError(`--rate must be jobs a second such as 5000,30k, not '${part.slice(0, 40)}'`)
    return rate
  })

/** @type {Command} */
export const command = {
  about: {
    words: 'RESULTS...',
    does: 'Fits the universal scalability law to the runs of workers in these folders: how the rate grows with the number of workers, where it stops growing, and how many workers each rate needs.',
    examples: [['of an experiment', 'results/queues --rate 5000,30000']],
  },
  // biome-ignore format: a table, an option a row
  options: ownOptions('Options', [
    { name: 'rate', was: { rates: '--rate' }, key: 'rates', type: 'text', place: 'RATES', default: '5000,30000', help: 'jobs a second that the workers must do' },
    { name: 'workers', was: { 'box-workers': '--workers' }, key: 'boxWorkers', type: 'integer', range: ['1', '100000'], otherwise: 'as many as were measured',
      help: 'most workers on a box' },
    { name: 'draw', was: { chart: '--draw' }, type: 'path', help: 'draw it, as .svg or .png (NAME-dark.svg: for a dark page)' },
    { name: 'json', type: 'flag', help: 'print the answer as JSON' },
  ]),
  isPrivate: true,
  takesWords: true,
  work: async ({ settings: { rates, boxWorkers, draw, json }, typed: { words }, as }) => {
    if (words.length === 0) throw new OptionError(`name folders of results: ${as} RESULTS...`)
    const answer = await scalingAnswer(words, { rates: ratesIn(rates), boxWorkers: boxWorkers ?? null })
    if (draw) await drawAnswer(scalingChart, answer, draw)
    printAnswer(answer, json, scaling.text)
    return ExitCode.done
  },
}
