// Adds CloudWatch's numbers of runs to the rows of an experiment's table.
import { join } from 'node:path'
import { METRICS } from '../result/metrics.js'
import { readRunDocument } from '../result/record.js'
import { figureOfRow, quotable } from '../result/statistics.js'

/**
 * @import { ExperimentDocument } from '../result/experiment-document.js'
 * @import { Document } from '../result/metrics.js'
 */

const ours = METRICS.filter(({ name }) => name.startsWith('cloudwatch.'))

/**
 * The experiment with CloudWatch's numbers of its runs as figures of rows.
 * @param {ExperimentDocument} experiment
 * @param {ReadonlyMap<string, Document>} documents run.json by the names that rows have for runs
 * @returns {ExperimentDocument}
 */
export const withCloudWatchRows = (experiment, documents) => {
  const rows = experiment.rows.map((row) => {
    const runs = quotable(row.runs.flatMap((name) => documents.get(name) ?? []))
    const figures = ours.flatMap(({ name, value }) => {
      const samples = runs.map(value).filter((sample) => sample !== null)
      return samples.length > 0 ? [[name, figureOfRow(samples)]] : []
    })
    return { ...row, figures: { ...row.figures, ...Object.fromEntries(figures) } }
  })
  const stand = new Set(experiment.columns.map(({ name }) => name))
  const added = ours.filter(({ name }) => !stand.has(name) && rows.some(({ figures }) => name in figures))
  return { ...experiment, rows, columns: [...experiment.columns, ...added.map(({ name }) => ({ name }))] }
}

/** @param {string} folder of the experiment @param {ExperimentDocument} experiment */
export const withCloudWatchOfRuns = async (folder, experiment) => {
  const names = experiment.rows.flatMap(({ runs }) => runs)
  const documents = await Promise.all(names.map((name) => readRunDocument(join(folder, name))))
  return withCloudWatchRows(
    experiment,
    new Map(names.flatMap((name, at) => (documents[at] ? [[name, documents[at]]] : []))),
  )
}
