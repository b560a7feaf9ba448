// All charts, in the order in which a report shows them.
import { backlog } from '../../charts/backlog.js'
import { bystander } from '../../charts/bystander.js'
import { cloudWatchCharts } from '../../charts/cloudwatch.js'
import { commands } from '../../charts/commands.js'
import { cpu } from '../../charts/cpu.js'
import { distribution } from '../../charts/distribution.js'
import { fetches } from '../../charts/fetches.js'
import { heatMap } from '../../charts/heat-map.js'
import { itemBytes } from '../../charts/item-bytes.js'
import { itemCost } from '../../charts/item-cost.js'
import { itemsRead } from '../../charts/items-read.js'
import { latency } from '../../charts/latency.js'
import { memory } from '../../charts/memory.js'
import { overview, PANELS } from '../../charts/overview.js'
import { rate } from '../../charts/rate.js'
import { rateLatency } from '../../charts/rate-latency.js'
import { ratiosChart } from '../../charts/ratios.js'
import { rowFigures } from '../../charts/row-figures.js'
import { FOLDS } from './folds.js'

/**
 * @import { ExperimentDocument } from '../result/experiment-document.js'
 * @import { ExperimentRecord, RunRecord } from '../result/record.js'
 * @import { Picture } from './draw.js'
 */

export const RUN_CHARTS = Object.freeze([
  overview,
  cpu,
  rate,
  itemsRead,
  fetches,
  backlog,
  latency,
  rateLatency,
  heatMap,
  distribution,
  bystander,
  itemCost,
  commands,
  itemBytes,
  memory,
])

/** @typedef {Picture & { name: string }} NamedPicture */

/** @type {Map<unknown, string>} */
const folds = new Map([
  [heatMap, FOLDS.latency],
  [distribution, FOLDS.latency],
  [bystander, FOLDS.latency],
  [itemCost, FOLDS.cost],
  [commands, FOLDS.cost],
  [itemBytes, FOLDS.cost],
  [memory, FOLDS.nodes],
])

/**
 * The charts of a run that have something to show.
 * @param {RunRecord} record
 * @returns {NamedPicture[]}
 */
export const runPictures = (record) => {
  const found = [...RUN_CHARTS, ...cloudWatchCharts(record)].flatMap((one) => {
    const { option, ...named } = one
    const shown = option(record)
    return shown ? [{ ...named, option: shown, one }] : []
  })
  const hasOverview = found[0]?.one === overview
  return found.map(({ one, ...picture }) => {
    if (one === overview) return picture
    if (PANELS.includes(one))
      return hasOverview ? { ...picture, inOverview: /** @type {true} */ (true) } : picture
    return one === backlog ? picture : { ...picture, fold: folds.get(one) ?? FOLDS.nodes }
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
