// `millrace cloudwatch`: adds the metrics of CloudWatch to finished results.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { optionsOf } from '../../../settings.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { needPackagesOf } from '../../base/optional-packages.js'
import { plainText } from '../../base/units.js'
import { attachCloudWatch, storeJson } from '../../cloudwatch/attach.js'
import { withCloudWatchOfRuns } from '../../cloudwatch/of-experiment.js'
import { runText } from '../../report/text.js'
import { reportRun } from '../../report/write-report.js'
import { readExperiment } from '../../result/record.js'
import { screenSay as say } from '../say.js'

/** @import { Command } from '../commands.js' */
/** @typedef {{ runs: string[], experiments: string[] }} Found folders */

/** Every folder in there that holds a run; of an experiment those that its rows are made of. @param {string} folder @returns {Promise<Found>} */
const foundIn = async (folder) => {
  const experiment = await readExperiment(folder)
  if (experiment) {
    const runs = experiment.rows.flatMap((row) => row.runs.map((run) => join(folder, run)))
    return { runs, experiments: [folder] }
  }
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause) => {
    throw new OptionError(`${folder} cannot be read (${cause.code})`, { cause })
  })
  if (entries.some(({ name }) => name === 'run.json')) return { runs: [folder], experiments: [] }
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
  return together(await Promise.all(folders.sort().map(foundIn)))
}

/** @param {Found[]} found @returns {Found} */
const together = (found) => ({
  runs: found.flatMap(({ runs }) => runs),
  experiments: found.flatMap(({ experiments }) => experiments),
})

/** The numbers are stored by then: a page that cannot be drawn again does not affect them. @param {string} folder */
const redraw = async (folder) => {
  if (!existsSync(join(folder, 'report.html'))) return
  await reportRun(folder).catch((/** @type {Error} */ { message }) =>
    process.stderr.write(`${plainText(`${folder}: report.html is still the old one: ${message}`)}\n`),
  )
}

/** The table of an experiment, with what its runs have now. @param {string} folder */
const tellExperiment = async (folder) => {
  const experiment = await readExperiment(folder)
  if (!experiment) return
  await storeJson(join(folder, 'experiment.json'), await withCloudWatchOfRuns(folder, experiment))
  await redraw(folder)
}

/** @type {Command} */
export const command = {
  about: {
    words: 'RESULTS...',
    does: 'Adds the metrics of CloudWatch to finished results: folders of runs, or folders that contain some, such as that of an experiment.',
    examples: [['of an experiment on ElastiCache', 'results/experiments/2026-11-22-list --region eu-west-1']],
    more: 'An existing report.html is drawn again. Points arrive minutes late: for a run that has just ended the command waits, and Ctrl-C takes what there is.',
  },
  options: optionsOf('producer')
    .filter(({ key }) => ['awsRegion', 'replicationGroup', 'cacheClusters'].includes(key))
    .map((option) => ({ ...option, env: null })),
  isPrivate: true,
  takesWords: true,
  work: async ({ settings: { awsRegion, replicationGroup, cacheClusters }, typed: { words }, as }) => {
    if (words.length === 0) throw new OptionError(`name folders of results: ${as} RESULTS...`)
    needPackagesOf('--cloudwatch', as)
    const { runs: folders, experiments } = together(await Promise.all(words.map(foundIn)))
    if (folders.length === 0) throw new OptionError(`${words.join(', ')}: contains no run.json`)
    const stop = new AbortController()
    process.on('SIGINT', () => stop.abort())
    let failed = 0
    for (const folder of folders) {
      const whole = await attachCloudWatch({
        folder,
        wanted: {
          region: awsRegion,
          replicationGroup,
          cacheClusters: cacheClusters?.split(','),
        },
        say,
        warn: (line) => say(`${folder}: ${line}`),
        signal: stop.signal,
      })
      if (!whole) failed++
      else {
        await redraw(folder)
        const layout = { columns: process.stdout.columns, verbose: true }
        process.stdout.write(runText(/** @type {any} */ (whole), layout))
      }
    }
    if (failed < folders.length) for (const folder of experiments) await tellExperiment(folder)
    return failed > 0 ? ExitCode.target : ExitCode.done
  },
}
