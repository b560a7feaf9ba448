// The answers of the README: what the data models cost, from docs/data, beside what they can do.
import { several } from '../../lib/base/units.js'
import { netCost } from '../../lib/measures/server.js'
import { allStrategies, defaultStrategy } from '../../lib/workloads/index.js'
import { needNames, needs, unmetBy } from '../../lib/workloads/needs.js'
import {
  changeWords,
  cpuFigureOf,
  cpuRatioNamed,
  cpuWords,
  figureText,
  isClear,
  isInvalid,
  ratioNamed,
  ratioText,
} from './findings.js'
import { centre, modelRows } from './pictures.js'
import { table } from './reference.js'

/**
 * @import { ExperimentDocument } from '../../lib/result/experiment-document.js'
 * @import { Choice } from '../../lib/workloads/needs.js'
 * @import { Declaration } from '../../lib/workloads/declare.js'
 */

const memory = 'server.memory_bytes_per_item'

/** The default first, then others by what their row is called in the data. @param {ExperimentDocument} document */
const modelsIn = ({ rows }) => {
  const labels = [...new Set(rows.map(({ factors }) => String(factors.case)))]
  return labels.flatMap((label) => allStrategies().find(({ choice }) => choice?.label === label) ?? [])
}

/** @param {Declaration} declared */
const optionOf = ({ name, flags: [flag] }) => {
  if (name === defaultStrategy) return `\`${name}\` (default)`
  return `\`--${flag ? flag.name : `strategy ${name}`}\``
}

const yesOrNo = (/** @type {boolean} */ value) => (value ? 'yes' : 'no')

/** The table for choosing a model: what it can do, what it costs, when to use it. @param {ExperimentDocument} document */
export const modelsPart = (document) => {
  const { variants, rowOf } = modelRows(document)
  const cpu = cpuFigureOf(document)
  const cost = (/** @type {string} */ name, /** @type {string} */ figure) =>
    variants
      .map((variant) => rowOf(name, variant))
      .map((row) => figureText(figure, centre(row, figure)) + (isInvalid(row) ? ' †' : ''))
      .join(' / ')
  const someInvalid = document.rows.some(isInvalid)
  return [
    `Costs per item, ${variants.join(' / ')}${cpu === netCost ? '; server CPU without the idle cost of the servers' : ''}${someInvalid ? ' († some of its runs are not valid)' : ''}:`,
    '',
    table(
      [
        'model',
        'option',
        cpu === netCost ? 'server CPU' : 'server CPU (idle included)',
        'memory',
        'newest n',
        'old items expire by',
        'safe to retry',
        'use it when',
      ],
      modelsIn(document).map((declared) => {
        const { label, meets, expiry, order, use } = /** @type {Choice} */ (declared.choice)
        return [
          label,
          optionOf(declared),
          cost(label, cpu),
          cost(label, memory),
          yesOrNo(meets.includes('newest-n')) + (order ? ` (${order})` : ''),
          expiry,
          yesOrNo(meets.includes('safe-to-retry')),
          use,
        ]
      }),
    ),
  ].join('\n')
}

/** Which needs each model declares to meet. */
export const needsPart = () => {
  const models = allStrategies().filter(({ choice, model }) => choice !== null && model === null)
  return [
    table(
      ['model', ...needNames.map((name) => `\`${name}\``)],
      models.map((declared) => [
        declared.name,
        ...needNames.map((need) => yesOrNo(unmetBy(declared, [need]).length === 0)),
      ]),
    ),
    '',
    ...needNames.map((name) => `- \`${name}\`: ${needs[name].words}`),
  ].join('\n')
}

/** Where and when, in one sentence. @param {ExperimentDocument} document */
const measuredWords = ({ started, hardware, versions }) =>
  `Measured on ${started.slice(0, 10)} on ${hardware?.replace('linux', 'Linux')}, with Redis ${versions.servers.map((version) => version.replace(/^valkey/, 'Valkey')).join(' and ')}`

const mostBullets = 5

/** What a second shard gains, where it was measured. @param {Map<string, ExperimentDocument>} experiments @returns {string[]} */
const shardBullet = (experiments) => {
  const [hot] = experiments.get('shards')?.ratios ?? []
  const [ten] = experiments.get('ten-sorted-sets')?.ratios ?? []
  if (!hot || !ten || !isClear(hot) || !isClear(ten)) return []
  return [
    `**One sorted set lives on one shard**: of three masters, the one with it uses ${ratioText(hot)} times the CPU of the least busy. With ten sorted sets the busiest uses ${changeWords(ten, 'CPU')} than with one ([data](docs/reference/results/shards.md)).`,
  ]
}

/** The findings with machine, date and server version. @param {Map<string, ExperimentDocument>} experiments */
export const answersPart = (experiments) => {
  const document = experiments.get('models')
  if (!document) throw new Error('docs/data/models.ndjson is missing')
  const to = (/** @type {string} */ name) => `${name} / sorted set`
  const cpuChange = (/** @type {string} */ name) => {
    const ratio = cpuRatioNamed(document, to(name))
    return changeWords(ratio, cpuWords(ratio))
  }
  const both = (/** @type {string} */ name) =>
    `${cpuChange(name)} and ${changeWords(ratioNamed(document, to(name), memory), 'memory')}`
  const single = cpuRatioNamed(document, to('script per item'))
  const { rowOf, variants } = modelRows(document)
  const [older, newer] = variants
  const bytes = (/** @type {string} */ variant) =>
    figureText(memory, centre(rowOf('sorted set', variant), memory))
  const bullets = [
    `**List**: ${both('list')}. It keeps the newest n, not the last t seconds.`,
    `**Values in the sorted set**: ${both('sorted set of values')}. It fits values that never change.`,
    `**A script call per item**: ${isClear(single) ? `${ratioText(single)} times the ${cpuWords(single)}` : cpuChange('script per item')}.`,
    ...shardBullet(experiments),
    `**The version of the server matters as well**: a sorted set takes ${bytes(older)} per item on ${older} and ${bytes(newer)} on ${newer}.`,
    `**Stream**: ${both('stream')}.`,
  ]
  return [
    `${measuredWords(document)}, ${several(document.rows[0].runs.length, 'round')}. Cost per`,
    `item on ${older}, compared with the default (a sorted set of ids) in the same round, with 95 % intervals`,
    `([data](docs/data/models.ndjson)).${cpuWords(single).endsWith('(idle included)') ? ' The idle cost of the servers is in their CPU, which draws each ratio to 1:' : ' The idle cost of the servers is excluded:'}`,
    '',
    ...bullets.slice(0, mostBullets).map((bullet) => `- ${bullet}`),
  ].join('\n')
}
