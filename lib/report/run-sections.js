// What the report of a run says: the data behind the text, the page and Markdown.

import { rangesText } from '../base/ranges.js'
import { percentileOf } from '../base/samples.js'
import { exactly } from '../base/typed.js'
import { bytes, count, dash, facts, micros, percent, plainData } from '../base/units.js'
import { loadOf } from '../loads/index.js'
import { namesOfKind } from '../loads/names.js'
import { storedUnitOf, unitOf } from '../loads/words.js'
import { at } from '../measures/fold.js'
import { factsIn, ofReaders, reading, timesByWarning } from '../measures/index.js'
import { grossCost, netCost } from '../measures/server.js'
import { stateWords } from '../measures/warnings.js'
import { highlightsOf } from '../result/chief-metrics.js'
import { leftOutWords, measureNamed, measuresOf } from '../result/metrics.js'
import { answerRows } from './answer.js'
import { briefOf } from './brief.js'
import { cell, figureCell, shownFigure } from './cells.js'
import { FOLDS } from './folds.js'
import * as words from './words.js'

/**
 * @import { Judged } from '../result/thresholds.js'
 * @import { Measure } from '../measures/contract.js'
 * @import { ReadRun, RunDocument, WorkRun, WriteRun } from '../result/document.js'
 * @import { Sections, Table } from './cells.js'
 */

/** More boxes than this are folded away. */
const mostShown = 16
const foldedBoxes = (/** @type {readonly unknown[]} */ boxes) =>
  boxes.length <= mostShown ? {} : { fold: 'Boxes' }

/** @param {{ box: number, host: string }} box @param {readonly number[]} numbers */
const numberedCells = ({ box, host }, numbers) => [
  cell(String(box), box),
  cell(host),
  cell(rangesText(numbers), numbers[0]),
]

/** @param {{ from_s: number, to_s: number, state: string }} box */
const stayCell = ({ from_s: fromS, to_s: toS, state }) => {
  const time = `${fromS.toFixed(0)}–${toS.toFixed(0)} s`
  return cell(state === 'done' ? time : `${time}, ${state}`, fromS)
}

/** @param {WriteRun} run @returns {Table[]} */
const boxesTable = ({ fleet }) => {
  if (!fleet) return []
  return [
    {
      title: 'Boxes',
      ...foldedBoxes(fleet.boxes),
      note: 'Busy and CPU are of one core. The clock is how far that of the control is ahead of the box.',
      columns: [
        { title: 'box' },
        { title: 'host', left: true },
        { title: 'writers' },
        { title: 'rate' },
        { title: 'p99' },
        { title: 'busy' },
        { title: 'CPU' },
        { title: 'clock' },
        { title: 'there', left: true },
      ],
      rows: fleet.boxes.map((box) => [
        ...numberedCells(box, box.writers),
        cell(box.achieved == null ? '–' : count(Math.round(box.achieved)), box.achieved),
        cell(micros(box.latency_us?.p99), box.latency_us?.p99),
        cell(percent(box.busy_pct), box.busy_pct),
        cell(percent(box.cpu_pct), box.cpu_pct),
        cell(
          `${words.aheadText(box.clock.offset_ms)} ± ${micros(box.clock.uncertainty_ms * 1000)}`,
          box.clock.offset_ms,
        ),
        stayCell(box),
      ]),
    },
  ]
}

/** @param {WriteRun} run @returns {Table[]} */
const readerBoxesTable = ({ readers }) => {
  if (!readers) return []
  return [
    {
      title: 'Boxes that read',
      ...foldedBoxes(readers.boxes),
      note: `${reading.note} Busy is of one core.`,
      columns: [
        { title: 'box' },
        { title: 'host', left: true },
        { title: 'readers' },
        ...reading.columns.map(({ title }) => ({ title })),
        { title: 'busy' },
        { title: 'there', left: true },
      ],
      rows: readers.boxes.map((box) => [
        ...numberedCells(box, box.readers),
        ...reading.columns.map((column) => cell(...column.cell(box))),
        cell(percent(box.busy_pct), box.busy_pct),
        stayCell(box),
      ]),
    },
  ]
}

const capital = (/** @type {string} */ text) => text[0].toUpperCase() + text.slice(1)

const withoutIdle = new Map([
  [grossCost, netCost],
  ['server.net_bytes_per_item', 'server.net_bytes_per_item_net'],
])

/** What an item takes, idle excluded, if that is known. @param {string} name @param {RunDocument} run */
const leading = (name, run) => {
  const without = withoutIdle.get(name)
  const net = without ? measureNamed(without) : null
  return net && net.value(run) !== null ? net : measureNamed(name)
}

const percentileNames = exactly(['p50', 'p90', 'p99', 'p999', 'max'])
const percentileColumns = ['p50', 'p90', 'p99', 'p99.9', 'max'].map((title) => ({ title }))

/**
 * @param {string} title
 * @param {{ name: string, figures: Record<string, number | null> | null | undefined, unit: 'us' | 'ms' }[]} rows
 * @returns {Table[]}
 */
const timesTable = (title, rows) => {
  const known = rows.filter(({ figures }) => figures && figures.max !== null && figures.max !== undefined)
  if (known.length === 0) return []
  return [
    {
      title,
      fold: FOLDS.latency,
      columns: [{ title: 'time', left: true }, ...percentileColumns],
      rows: known.map(({ name, figures, unit }) => [
        cell(name),
        ...percentileNames.map((key) => {
          const value = percentileOf(figures, key)
          const us = value !== null ? value * (unit === 'ms' ? 1000 : 1) : null
          return cell(micros(us), us)
        }),
      ]),
    },
  ]
}

/** @param {RunDocument} run @returns {Table[]} */
const nodesTable = (run) => {
  if (run.nodes.length === 0) return []
  const hasHost = words.hasHostCpu(run)
  const ofHost = 'CPUUtilization is from CloudWatch, of the host over all its vCPUs. '
  return [
    {
      title: 'Nodes',
      fold: FOLDS.nodes,
      note: `CPU in percent of one core: engine is the main thread, process all threads. ${hasHost ? ofHost : ''}A gap is a second without an answer.`,
      columns: [
        { title: 'node', left: true },
        { title: 'shard' },
        { title: 'role', left: true },
        { title: 'engine' },
        { title: 'process' },
        { title: 'commands/s' },
        { title: 'memory' },
        { title: 'gaps' },
        ...(hasHost ? [{ title: 'CPUUtilization' }] : []),
      ],
      rows: run.nodes.map((node) => {
        const hostPct = words.hostCpu(run, node.address)
        return [
          cell(node.address),
          cell(String(node.shard), node.shard),
          cell(node.role),
          cell(percent(node.engine_cpu_pct), node.engine_cpu_pct),
          cell(percent(node.cpu_pct), node.cpu_pct),
          cell(count(node.commands_per_s), node.commands_per_s),
          cell(bytes(node.memory_bytes), node.memory_bytes),
          cell(count(node.gaps), node.gaps),
          ...(hasHost ? [cell(percent(hostPct), hostPct ?? null)] : []),
        ]
      }),
    },
  ]
}

/** @param {RunDocument} run @returns {Table[]} */
const eventsTable = ({ events }) =>
  events.length === 0
    ? []
    : [
        {
          title: 'Events',
          fold: 'Events',
          columns: [{ title: 'at' }, { title: 'kind', left: true }, { title: 'what', left: true }],
          rows: events.map((event) => [
            cell(`${(event.at_ms / 1000).toFixed(1)} s`, event.at_ms),
            cell(event.kind),
            cell(event.text),
          ]),
        },
      ]

/** Every measure by the name that thresholds and comparisons use. @param {RunDocument} run @returns {Table} */
const measuresTable = (run) => ({
  title: 'All measures',
  note: 'By the names that --threshold takes.',
  fold: 'All measures',
  more: true,
  columns: [{ title: 'name', left: true }, { title: 'meaning', left: true }, { title: 'value' }],
  rows: measuresOf(run).map(({ name, value }) => [
    cell(name),
    cell(measureNamed(name).title),
    figureCell(name, value),
  ]),
})

/** @param {RunDocument} run @returns {Table} */
const planTable = ({ plan }) => ({
  title: 'The plan, word for word',
  fold: 'The plan, word for word',
  more: true,
  columns: [
    { title: 'setting', left: true },
    { title: 'value', left: true },
  ],
  rows: Object.entries(plan).map(([name, value]) => [
    cell(name),
    cell(typeof value === 'object' ? JSON.stringify(value) : String(value)),
  ]),
})

/** @param {WriteRun} run */
const writerFacts = (run) => [
  { label: 'items', text: words.itemWords(run) },
  { label: 'rate', text: words.rateWords(run) },
  { label: namesOfKind(run.plan).sends, text: words.tickWords(run) },
  { label: 'idle cost', text: words.idleWords(run) },
  { label: 'commands', text: words.commandWords(run) },
]

/** @param {RunDocument} run */
const measureFacts = (run) =>
  factsIn(run, unitOf(run.plan)).map(({ label, texts }) => ({
    label,
    text: facts(texts),
  }))

/** @param {readonly Measure[]} measures @param {RunDocument} run */
const timesOfMeasures = (measures, run) =>
  measures.flatMap(({ times = [] }) =>
    times.map(({ name, path, unit }) => ({ name, unit, figures: at(run, path) })),
  )

/** @param {RunDocument} run */
const factsOf = (run) =>
  [
    { label: 'run', text: run.run },
    { label: 'plan', text: words.planWords(run) },
    { label: 'target', text: words.targetWords(run) },
    { label: 'time', text: words.timeWords(run) },
    ...(loadOf(run).words.facts?.(run) ?? writerFacts(/** @type {WriteRun} */ (run))),
    { label: 'clocks', text: words.clockWords(run) },
    ...measureFacts(run),
    ...words.cacheRows(run),
  ].filter(({ text }) => text)

/** The tables of a consumer, or of all readers of a fleet. @param {string} title @param {RunDocument} run @returns {Table[]} */
const timesOfReads = (title, run) => timesTable(title, timesOfMeasures(ofReaders, run))

/** Rows for each command of a batch, timed from its last send. @param {WriteRun['latency_us']} latencies */
const timesOfCommands = ({ commands = {} }) =>
  Object.entries(commands).map(([name, figures]) => ({ name, figures, unit: exactly('us') }))

/** @param {RunDocument} run @returns {Table[]} */
const timesOf = (run) => {
  const { measures, words: own } = loadOf(run)
  if (!own.times)
    return timesTable('Latency', [
      ...timesOfMeasures(measures, run),
      ...timesOfCommands(/** @type {WriteRun} */ (run).latency_us),
    ])
  const first = own.times(run)
  const others = measures.filter(({ name }) => first.length === 0 || name !== 'latency')
  return timesTable('Times', [...first, ...timesOfMeasures(others, run)])
}

/** @param {ReadRun} run @returns {Table[]} */
const countsTable = ({ uniqueness }) => {
  const error = (/** @type {number | null} */ pct) =>
    cell(pct === null ? dash : `${pct < 0 ? '' : '+'}${pct.toFixed(2)} %`, pct)
  if (!uniqueness?.length) return []
  return [
    {
      title: 'Unique items',
      columns: [
        { title: 'structure', left: true },
        { title: 'count' },
        { title: 'truth' },
        { title: 'error' },
        { title: 'worst' },
        { title: 'nature', left: true },
      ],
      rows: uniqueness.map((row) => [
        cell(row.structure),
        cell(count(row.last), row.last),
        cell(count(row.truth), row.truth),
        error(row.error_pct),
        error(row.error_pct_worst),
        cell(row.nature),
      ]),
    },
  ]
}

/** @param {RunDocument} run @returns {Table[]} */
const thresholdsTable = ({ thresholds = [] }) =>
  thresholds.length === 0
    ? []
    : [
        {
          title: 'Thresholds',
          columns: [{ title: 'limit', left: true }, { title: 'measured' }, { title: '', left: true }],
          rows: thresholds.map(({ threshold, name, value, passed }) => [
            cell(threshold),
            figureCell(name, value),
            cell(passed ? 'passed' : value === null ? 'not measured' : 'FAILED'),
          ]),
        },
      ]

/**
 * A measure is of items; what clients do is counted in operations, and what they leave in keys.
 * @param {{ name: string, title: string }} measure
 * @param {RunDocument['plan']} plan
 */
const titleOf = ({ name, title }, plan) =>
  title.replace(/ per item\b/, ` per ${name.startsWith('server.memory') ? storedUnitOf(plan) : unitOf(plan)}`)

/** Whether the run counts, with its first reason where it does not. @param {RunDocument} run */
const verdictOf = (run) => {
  const reason = run.warnings.find(({ invalidates }) => invalidates)
  const broken = run.valid ? brokenLimit(run) : undefined
  if (broken)
    return {
      good: false,
      isQuotable: true,
      word: broken.value === null ? 'Cannot tell' : 'Failed',
      sentence:
        broken.value === null
          ? `${broken.threshold}, ${untoldWords(run)(broken)}`
          : `${broken.threshold}, measured ${measuredWords(run)(broken)}`,
    }
  return {
    good: run.valid,
    word: capital(stateWords(run)),
    sentence: run.valid ? loadOf(run).words.good(run) : (reason?.message ?? 'do not quote these numbers'),
  }
}

/** What a threshold measured. @param {RunDocument} run @returns {(limit: Judged) => string} */
const measuredWords =
  (run) =>
  ({ name, value }) =>
    `${shownFigure(measureNamed(name), value)}${lateWords(name, run)}`

/** Why a threshold cannot be told. @param {RunDocument} run @returns {(limit: Judged) => string} */
const untoldWords =
  (run) =>
  ({ name }) =>
    leftOutWords(name, run)

const percentiles = exactly(['p50', 'p90', 'p99', 'p999', 'max'])

/** What a threshold on the latency from the due time would have seen from when it was sent. @param {string} name @param {RunDocument} run */
const lateWords = (name, run) => {
  const at = percentiles.find((one) => name === `latency.intended.${one}`)
  if (!at || !('ticks' in run) || !('latency_us' in run) || !words.sentLateWords(run, at)) return ''
  const value = run.latency_us.service?.[at]
  return ` (${shownFigure(measureNamed(`latency.service.${at}`), value)} from when it was sent)`
}

/** The outcome of the thresholds, without the one that is in the verdict. @param {RunDocument} run */
const limitsOf = (run) => {
  const first = run.valid ? brokenLimit(run) : undefined
  return (run.thresholds ?? [])
    .filter((limit) => limit !== first)
    .map((limit) => ({
      passed: limit.passed,
      text:
        limit.value === null
          ? `threshold cannot be told: ${limit.threshold}, ${untoldWords(run)(limit)}`
          : `threshold ${limit.passed ? 'passed' : 'FAILED'}: ${limit.threshold}, measured ${measuredWords(run)(limit)}`,
    }))
}

/** A limit that the run did not keep, before one that was not measured. @param {RunDocument} run */
const brokenLimit = ({ thresholds = [] }) =>
  thresholds.find(({ passed, value }) => !passed && value !== null) ??
  thresholds.find(({ passed }) => !passed)

/** Without the first reason, which is in the verdict. @param {RunDocument} run */
const warningsOf = ({ warnings, valid }) => {
  const first = valid ? -1 : warnings.findIndex(({ invalidates }) => invalidates)
  return warnings
    .filter((one, at) => at !== first && !timesByWarning.has(one.code))
    .map(({ message, invalidates }) => ({ text: message, serious: invalidates === true }))
}

/** @param {RunDocument} document @returns {Sections & Required<Pick<Sections, 'brief' | 'answer'>>} */
export const runSections = (document) => {
  const run = plainData(document)
  const { document: kind, words: own } = loadOf(run)
  const names = highlightsOf[kind]
  const known = new Map(measuresOf(run).map(({ name, value }) => [name, value]))
  return {
    title: `Millrace: ${own.does} ${run.plan.strategy} · ${run.run}`,
    question: words.sentenceOf(run),
    verdict: verdictOf(run),
    brief: briefOf(run, { shown: measuredWords(run), why: untoldWords(run) }),
    answer: answerRows(run),
    repeat: run.command_line,
    highlights: names.flatMap((name) => {
      const measure = leading(name, run)
      const value = known.get(measure.name) ?? null
      const perSecond = measure.unit === 'rate' ? '/s' : ''
      return value === null
        ? []
        : [{ label: titleOf(measure, run.plan), text: `${shownFigure(measure, value)}${perSecond}` }]
    }),
    facts: factsOf(run),
    tables: [
      ...thresholdsTable(run),
      ...countsTable(run),
      ...timesOf(run),
      ...(run.readers ? timesOfReads('Reads', run.readers) : []),
      ...boxesTable(run),
      ...readerBoxesTable(run),
      ...nodesTable(run),
      ...eventsTable(run),
      measuresTable(run),
      planTable(run),
    ],
    warnings: warningsOf(run),
    limits: limitsOf(run),
  }
}
