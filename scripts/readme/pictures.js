// The two pictures of the README, light and dark, drawn from docs/data.

import { measureNamed } from '../../lib/result/metrics.js'
import { centreOf } from '../../lib/result/statistics.js'
import { modelsChart } from '../pictures/models.js'
import { shardAddedChart } from '../pictures/shard-added.js'
import { countersPictures } from './counters.js'
import { cpuFigureOf, cpuRatioNamed, cpuWords, differenceWords, isClear } from './findings.js'
import { membershipPictures } from './membership.js'
import { pictureFile } from './picture-file.js'
import { queriesPictures } from './queries.js'
import { queuesPictures } from './queues.js'

/**
 * @import { ExperimentDocument, ExperimentRow } from '../../lib/result/experiment-document.js'
 * @import { RunData } from './data.js'
 */

const themes = /** @type {const} */ (['light', 'dark'])

/** @param {Record<string, { title: string, height: number, option: Record<string, any> }>} pictures */
const allInBothThemes = (pictures) =>
  Object.assign({}, ...Object.entries(pictures).map(([name, picture]) => inBothThemes(name, picture)))

/** @param {string} name @param {{ title: string, height: number, option: Record<string, any> }} picture */
const inBothThemes = (name, { title, height, option }) =>
  Object.fromEntries(
    themes.map((theme) => [
      `charts/measured/${name}-${theme}.svg`,
      pictureFile({ title, note: '', option }, { theme, width: 900, height }),
    ]),
  )

/** `list (Redis 7.0)` is the case `list` in the variant `Redis 7.0`. @param {ExperimentDocument} document */
export const modelRows = ({ rows }) => {
  const cases = [...new Set(rows.map(({ factors }) => String(factors.case)))]
  const variants = [...new Set(rows.map(({ factors }) => String(factors.variant)))]
  const rowOf = (/** @type {string} */ name, /** @type {string} */ variant) =>
    rows.find(({ factors }) => factors.case === name && factors.variant === variant)
  return { cases, variants, rowOf }
}

/** What is printed of a row. @param {ExperimentRow | undefined} row @param {string} figure */
export const centre = (row, figure) => row?.figures[figure] && centreOf(row.figures[figure])

/** @param {ExperimentDocument} document */
const modelsPicture = (document) => {
  const { cases, variants, rowOf } = modelRows(document)
  const figure = cpuFigureOf(document)
  const cpu = (/** @type {string} */ name) =>
    Math.min(...variants.map((variant) => centre(rowOf(name, variant), figure) ?? Number.POSITIVE_INFINITY))
  const rows = cases.toSorted((a, b) => cpu(a) - cpu(b))
  const looksOf = [
    { color: '@c1', symbol: 'circle' },
    { color: '@c2', symbol: 'diamond' },
  ]
  return {
    title: modelsFinding(document),
    ...modelsChart({
      rows,
      series: variants.map((name, at) => ({
        name,
        ...looksOf[at],
        figures: rows.map((row) => rowOf(row, name)?.figures),
      })),
      panels: [
        { figure, left: 168, width: 330 },
        { figure: 'server.memory_bytes_per_item', left: 548, width: 330 },
      ].map((panel) => {
        const { title, unit } = measureNamed(panel.figure)
        return { ...panel, axis: `${title}, mean and 95 % interval`, unit }
      }),
    }),
  }
}

/** The title of the first picture, and what its text says. @param {ExperimentDocument} document */
export const modelsFinding = (document) => {
  const ratio = cpuRatioNamed(document, 'list / sorted set')
  return isClear(ratio)
    ? `A list costs ${differenceWords(ratio)} ${cpuWords(ratio)} per item than a sorted set`
    : `No clear difference in ${cpuWords(ratio)} per item between a list and a sorted set`
}

/**
 * Files of the README's pictures, by path.
 * @param {Map<string, ExperimentDocument>} experiments
 * @param {RunData | null} shardAdded
 * @returns {Record<string, string>}
 */
export const pictureFiles = (experiments, shardAdded) => {
  const models = experiments.get('models')
  const membership = experiments.get('membership')
  const counters = experiments.get('counters')
  return {
    ...(models && inBothThemes('models', modelsPicture(models))),
    ...(shardAdded && inBothThemes('add-shard', shardAddedChart(shardAdded))),
    ...(membership && allInBothThemes(membershipPictures(membership))),
    ...(counters && allInBothThemes(countersPictures(counters))),
    ...allInBothThemes(queriesPictures(experiments)),
    ...allInBothThemes(queuesPictures(experiments)),
  }
}

/**
 * A picture that follows the reader's light or dark page.
 * @param {string} path without the theme
 * @param {string} words what it shows, for who cannot see it
 */
export const pictureMarkup = (path, words) =>
  [
    '<picture>',
    `  <source media="(prefers-color-scheme: dark)" srcset="${path}-dark.svg">`,
    `  <img alt="${words.replaceAll('"', '&quot;')}" src="${path}-light.svg">`,
    '</picture>',
  ].join('\n')
