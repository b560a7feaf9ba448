// The answers of the README: what the data models cost, from docs/data, beside what they can do.
import { several } from '../../lib/base/units.js'
import {
  changeWords,
  cpuRatioNamed,
  cpuWords,
  figureText,
  isClear,
  isInvalid,
  ratioNamed,
  ratioText,
} from './findings.js'
import { centre, modelRows } from './pictures.js'
import { isSafeToRetry, table } from './reference.js'

/** @typedef {import('../../lib/result/experiment-document.js').ExperimentDocument} ExperimentDocument */

const cpu = 'server.cpu_us_per_item'
const memory = 'server.memory_bytes_per_item'

/** What no run can measure. */
const models = [
  {
    name: 'sorted set',
    strategy: 'sorted-set',
    option: '`sorted-set` (default)',
    newest: 'yes',
    expiry: 'score',
    use: 'you need ranges by time and exact expiry',
  },
  {
    name: 'sorted set of values',
    strategy: 'actual-value',
    option: '`--actual-value`',
    newest: 'yes',
    expiry: 'score',
    use: 'a value never changes: a changed value is a new member',
  },
  {
    name: 'list',
    strategy: 'list',
    option: '`--sl`',
    newest: 'yes',
    expiry: 'length',
    use: 'the newest n are enough, and an id may appear twice',
  },
  {
    name: 'set per minute',
    strategy: 'set',
    option: '`--ss`',
    newest: 'no (unordered)',
    expiry: 'minute',
    use: 'you ask which ids were active, not in which order',
  },
  {
    name: 'stream',
    strategy: 'stream',
    option: '`--strategy stream`',
    newest: 'yes',
    expiry: 'length, approximate',
    use: 'readers consume everything in order, values included',
  },
  {
    name: 'hash per item',
    strategy: 'hash',
    option: '`--strategy hash`',
    newest: 'yes',
    expiry: 'score',
    use: 'an item has fields that are read one by one',
  },
  {
    name: 'fields with a ttl',
    strategy: 'hash-ttl',
    option: '`--strategy hash-ttl`',
    newest: 'no (all live items)',
    expiry: 'its own ttl',
    use: 'the server has HSETEX or HEXPIRE and order does not matter',
  },
  {
    name: 'script per batch',
    strategy: 'script-batch',
    option: '`--ws`',
    newest: 'yes',
    expiry: 'score',
    use: 'network bytes cost more than server CPU',
  },
  {
    name: 'script per item',
    strategy: 'script-item',
    option: '`--sk`',
    newest: 'yes',
    expiry: 'score',
    use: 'each item must be stored atomically with its id',
  },
]

/** The table for choosing a model: what it can do, what it costs, when to use it. @param {ExperimentDocument} document */
export const modelsPart = (document) => {
  const { variants, rowOf } = modelRows(document)
  const cost = (/** @type {string} */ name, /** @type {string} */ figure) =>
    variants
      .map((variant) => rowOf(name, variant))
      .map((row) => figureText(figure, centre(row, figure)) + (isInvalid(row) ? ' †' : ''))
      .join(' / ')
  const someInvalid = document.rows.some(isInvalid)
  return [
    `Costs per item, ${variants.join(' / ')}${someInvalid ? ' († some of its runs are not valid)' : ''}:`,
    '',
    table(
      [
        'model',
        'option',
        'gross server CPU',
        'memory',
        'newest n',
        'old items expire by',
        'safe to retry',
        'use it when',
      ],
      models.map(({ name, strategy, option, newest, expiry, use }) => [
        name,
        option,
        cost(name, cpu),
        cost(name, memory),
        newest,
        expiry,
        isSafeToRetry(strategy) ? 'yes' : 'no',
        use,
      ]),
    ),
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
    `**One sorted set lives on one shard**: of three masters, the one with it uses ${ratioText(hot)} times the gross CPU of the least busy. With ten sorted sets the busiest uses ${ratioText(ten)} times as much ([data](docs/results.md#shards)).`,
  ]
}

/**
 * The findings with machine, date and server version.
 * @param {Map<string, ExperimentDocument>} experiments
 */
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
    `([data](docs/data/models.ndjson)).${cpuWords(single).startsWith('gross') ? ' Gross CPU has the idle cost of the servers in it, which draws each ratio to 1:' : ''}`,
    '',
    ...bullets.slice(0, mostBullets).map((bullet) => `- ${bullet}`),
  ].join('\n')
}
