// The table of an experiment with what CloudWatch said of its runs, where they stand.
import { join } from 'node:path'
import { readRunDocument } from '../result/record.js'
import { withCloudWatchRows } from './rows.js'

/** @import { ExperimentDocument } from '../result/experiment-document.js' */

/**
 * @param {string} folder of the experiment
 * @param {ExperimentDocument} experiment
 */
export const withCloudWatchOfRuns = async (folder, experiment) => {
  const names = experiment.rows.flatMap(({ runs }) => runs)
  const documents = await Promise.all(names.map((name) => readRunDocument(join(folder, name))))
  return withCloudWatchRows(
    experiment,
    new Map(names.flatMap((name, at) => (documents[at] ? [[name, documents[at]]] : []))),
  )
}
