#!/usr/bin/env node
// Adds what CloudWatch says to results that stand already: node scripts/cloudwatch.js RESULTS...
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { plainText } from '../lib/base/units.js'
import { script } from '../lib/cli/script.js'
import { attachCloudWatch, storeJson } from '../lib/cloudwatch/attach.js'
import { withCloudWatchOfRuns } from '../lib/cloudwatch/of-experiment.js'
import { ExitCode, OptionError } from '../lib/errors.js'
import { fetchReport } from '../lib/report/fetch-text.js'
import { textReport } from '../lib/report/text.js'
import { reportRun } from '../lib/report/write-report.js'
import { readExperiment } from '../lib/result/record.js'

const usage = `Usage: node scripts/cloudwatch.js [options] RESULTS...

RESULTS are folders of runs, or folders that contain some, such as that of an experiment.

  --aws-region REGION        default: from the endpoint or the AWS settings
  --replication-group ID     default: from the endpoint
  --cache-clusters ID,ID     ids of the nodes; default: from their names
  -h, --help                 this text

The metrics are added to run.json and to the table of the experiment; an existing report.html is drawn again.
Points arrive minutes late: for a run that has just ended the script waits, and Ctrl-C takes what there is.`

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

/** The figures are stored by then: a page that cannot be drawn anew takes nothing from them. @param {string} folder */
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

await script({
  usage,
  options: {
    'aws-region': { type: 'string' },
    'replication-group': { type: 'string' },
    'cache-clusters': { type: 'string' },
  },
  work: async (values, words) => {
    if (words.length === 0)
      throw new OptionError('RESULTS are missing: node scripts/cloudwatch.js results/...')
    const { runs: folders, experiments } = together(await Promise.all(words.map(foundIn)))
    if (folders.length === 0) throw new OptionError(`${words.join(', ')}: no run.json in there`)
    const stop = new AbortController()
    process.on('SIGINT', () => stop.abort())
    const say = (/** @type {string} */ line) => process.stderr.write(`${plainText(line)}\n`)
    let failed = 0
    for (const folder of folders) {
      const whole = await attachCloudWatch({
        folder,
        wanted: {
          region: values['aws-region'],
          replicationGroup: values['replication-group'],
          cacheClusters: values['cache-clusters']?.split(',').filter(Boolean),
        },
        say,
        warn: (line) => say(`${folder}: ${line}`),
        signal: stop.signal,
      })
      if (!whole) failed++
      else {
        await redraw(folder)
        const text = whole.kind === 'consumer' ? fetchReport : textReport
        process.stdout.write(
          `${text(/** @type {any} */ (whole), { columns: process.stdout.columns ?? 100 })}\n`,
        )
      }
    }
    if (failed < folders.length) for (const folder of experiments) await tellExperiment(folder)
    return failed > 0 ? ExitCode.target : ExitCode.done
  },
})
