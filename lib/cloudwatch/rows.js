// What CloudWatch says of the runs of an experiment, as figures of its rows. Pure.
import { MEASURES } from '../result/measures.js'
import { figureOfRow, quotable } from '../result/statistics.js'

/**
 * @import { ExperimentDocument } from '../result/experiment-document.js'
 * @import { Document } from '../result/measures.js'
 */

const ours = MEASURES.filter(({ name }) => name.startsWith('cloudwatch.'))

/**
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
