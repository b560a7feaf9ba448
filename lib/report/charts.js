// The charts of a run or an experiment that have something to show.
import { cloudWatchCharts } from '../../charts/cloudwatch.js'
import { RUN_CHARTS } from '../../charts/index.js'
import { overview, PANELS } from '../../charts/overview.js'
import { ratiosChart } from '../../charts/ratios.js'
import { rowFigures } from '../../charts/row-figures.js'
import { FOLDS } from './folds.js'

/**
 * @import { ExperimentDocument } from '../result/experiment-document.js'
 * @import { ExperimentRecord, RunRecord } from '../result/record.js'
 * @import { Picture } from './draw.js'
 */

/** @typedef {Picture & { name: string }} NamedPicture */

/** The charts of a run that have something to show. @param {RunRecord} record @returns {NamedPicture[]} */
export const runPictures = (record) => {
  const found = [...RUN_CHARTS, ...cloudWatchCharts(record)].flatMap((one) => {
    const { option, fold, ...named } = one
    const shown = option(record)
    return shown ? [{ ...named, option: shown, one, fold }] : []
  })
  const hasOverview = found[0]?.one === overview
  return found.map(({ one, fold, ...picture }) => {
    if (PANELS.includes(one) && hasOverview) return { ...picture, inOverview: true }
    return fold ? { ...picture, fold: FOLDS[fold] } : picture
  })
}

/**
 * The ratios of an experiment, and a chart for each of its figures.
 * @param {ExperimentDocument} experiment
 * @returns {NamedPicture[]}
 */
export const experimentPictures = (experiment) => {
  const ratios = ratiosPicture(experiment)
  const figures = figurePictures(experiment)
  // Without ratios the metrics are all that there is to see.
  return ratios.length === 0
    ? figures
    : [...ratios, ...figures.map((picture) => ({ ...picture, fold: FOLDS.metrics }))]
}

/** @param {ExperimentDocument} experiment @returns {NamedPicture[]} */
const ratiosPicture = (experiment) => {
  const { option, ...named } = ratiosChart
  const shown = option(experiment)
  return shown ? [{ ...named, option: shown }] : []
}

/** @param {ExperimentDocument} experiment @returns {NamedPicture[]} */
const figurePictures = (experiment) =>
  experiment.columns
    .filter(({ chart }) => chart !== false)
    .flatMap(({ name, title }) => {
      const { option, ...named } = rowFigures(name, experiment)
      const shown = option(experiment)
      return shown ? [{ ...named, title: title ?? named.title, option: shown }] : []
    })

/** An experiment of phases has the charts of its run besides. @param {RunRecord | ExperimentRecord} record */
export const picturesOf = (record) =>
  record.kind === 'run'
    ? runPictures(record)
    : [
        ...experimentPictures(record.experiment),
        ...(record.timeline
          ? runPictures(record.timeline).filter(({ option }) => option.yAxis.type !== 'category')
          : []),
      ]
