// What the report of a run says.

import { bytes, count, micros, percent, period, plainData, rate } from '../base/units.js'
import { FIGURES, figureNamed, grossCost, netCost } from '../result/figures.js'
import { stateWords } from '../result/verdict.js'
import { cell, figureCell, shownFigure } from './cells.js'
import * as fetchWords from './fetch-text.js'
import { FOLDS } from './folds.js'
import { verdictWords } from './text.js'
import * as words from './words.js'

/**
 * @typedef {import('./sections.js').Table} Table
 * @typedef {import('./sections.js').Sections} Sections
 */

const highlightsOf = {
  producer: [
    'rate.achieved',
    'latency.intended.p99',
    'server.cpu_us_per_item',
    'server.memory_bytes_per_item',
    'hottest_master.cpu_pct',
    'bystander.p99',
  ],
  consumer: [
    'rate.items',
    'fetches.duration_ms.p50',
    'fetches.duration_ms.p99',
    'freshness_ms.p50',
    'replication_ms.p99',
    'replica.cpu_pct',
  ],
}

const capital = (/** @type {string} */ text) => text[0].toUpperCase() + text.slice(1)

/** The cost of an item without the idle cost, where that is known. @param {string} name @param {any} run */
const leading = (name, run) => {
  const net = name === grossCost ? figureNamed(netCost) : null
  return net && net.value(run) !== null ? net : figureNamed(name)
}

const percentileNames = /** @type {const} */ (['p50', 'p90', 'p99', 'p999', 'max'])
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
          const value = figures?.[key]
          const us = typeof value === 'number' ? value * (unit === 'ms' ? 1000 : 1) : null
          return cell(micros(us), us)
        }),
      ]),
    },
  ]
}

/** @param {any} run @returns {Table[]} */
const nodesTable = (run) => {
  if (run.nodes.length === 0) return []
  const told = words.hasHostCpu(run)
  const ofHost = 'CPUUtilization is CloudWatch’s, of the host over all its vCPUs. '
  return [
    {
      title: 'Nodes',
      fold: FOLDS.nodes,
      note: `CPU in percent of one core: engine is the main thread, process all threads. ${told ? ofHost : ''}A gap is a second without an answer.`,
      columns: [
        { title: 'node', left: true },
        { title: 'shard' },
        { title: 'role', left: true },
        { title: 'engine' },
        { title: 'process' },
        { title: 'commands/s' },
        { title: 'memory' },
        { title: 'gaps' },
        ...(told ? [{ title: 'CPUUtilization' }] : []),
      ],
      rows: run.nodes.map((/** @type {import('../result/document.js').NodeFigures} */ node) => {
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
          ...(told ? [cell(percent(hostPct), hostPct ?? null)] : []),
        ]
      }),
    },
  ]
}

/** @param {any} run @returns {Table[]} */
const eventsTable = ({ events }) =>
  events.length === 0
    ? []
    : [
        {
          title: 'Events',
          fold: 'Events',
          columns: [{ title: 'at' }, { title: 'kind', left: true }, { title: 'what', left: true }],
          rows: events.map((/** @type {{ at_ms: number, kind: string, text: string }} */ event) => [
            cell(`${(event.at_ms / 1000).toFixed(1)} s`, event.at_ms),
            cell(event.kind),
            cell(event.text),
          ]),
        },
      ]

/** Every figure by the name that thresholds and comparisons use. @param {any} run @returns {Table} */
const figuresTable = (run) => ({
  title: 'All metrics',
  note: 'By the names that --threshold takes.',
  fold: 'All metrics',
  columns: [{ title: 'name', left: true }, { title: 'meaning', left: true }, { title: 'value' }],
  rows: FIGURES.flatMap(({ name, title, value }) => {
    const found = value(run)
    return found === null ? [] : [[cell(name), cell(title), figureCell(name, found)]]
  }),
})

/** @param {any} run @returns {Table} */
const planTable = ({ plan }) => ({
  title: 'The plan, word for word',
  fold: 'The plan, word for word',
  columns: [
    { title: 'setting', left: true },
    { title: 'value', left: true },
  ],
  rows: Object.entries(plan).map(([name, value]) => [
    cell(name),
    cell(typeof value === 'object' ? JSON.stringify(value) : String(value)),
  ]),
})

/** @param {any} run */
const askedAndFound = (run) => {
  const time = words.facts([
    words.moment(run.started),
    period(run.duration_s * 1000),
    typeof run.measured_s === 'number' &&
      run.measured_s < run.duration_s &&
      `${period(run.measured_s * 1000)} measured`,
  ])
  const target = { label: 'target', text: words.targetWords(run) }
  const ofKind =
    run.kind === 'consumer'
      ? [
          { label: 'plan', text: fetchWords.planWords(run) },
          target,
          { label: 'time', text: time },
          { label: 'fetches', text: fetchWords.fetchWords(run) },
          { label: 'read', text: fetchWords.readWords(run) },
          { label: 'verified', text: fetchWords.verifyWords(run) },
          { label: 'served', text: fetchWords.servedWords(run) },
          { label: 'clocks', text: fetchWords.clockWords(run) },
        ]
      : [
          { label: 'plan', text: words.planWords(run.plan) },
          target,
          { label: 'time', text: time },
          ...words.loadRows(run),
          { label: run.plan.flow === 'clients' ? 'each costs' : 'per item', text: words.costWords(run) },
          { label: 'idle cost', text: words.idleWords(run) },
          { label: 'commands', text: words.commandWords(run) },
        ]
  return [
    ...ofKind,
    { label: 'client', text: words.clientWords(run) },
    ...words.cacheWords(run).map((text) => ({ label: 'CloudWatch', text })),
  ].filter(({ text }) => text)
}

/** @param {any} run */
const questionOf = ({ kind, plan }) => {
  if (kind === 'consumer')
    return `How fast and how fresh is reading ${plan.limit > 0 ? `the newest ${count(plan.limit)} items` : 'all live items'} (${plan.strategy})?`
  if (plan.flow === 'clients')
    return plan.nominalHz === null
      ? `How many operations a second do ${plan.clients.connections} connections get with ${plan.strategy}?`
      : `What does ${plan.strategy} cost at ${rate(plan.nominalHz)} operations/s?`
  if (plan.rate === 'max') return `How many items a second do the servers take with ${plan.strategy}?`
  if (plan.pacing === 'closed')
    return `What does ${plan.strategy} cost with ${count(plan.items)} items and then ${period(plan.periodMs)} of rest?`
  return `What does ${plan.strategy} cost at ${rate(plan.nominalHz)} items/s?`
}

/** @param {any} run @returns {Table[]} */
const timesOf = (run) =>
  run.kind === 'consumer'
    ? timesTable('Times', [
        { name: 'a whole fetch', figures: run.fetches.duration_ms, unit: 'ms' },
        { name: 'its ids', figures: run.fetches.ids_ms, unit: 'ms' },
        { name: 'its values', figures: run.fetches.values_ms, unit: 'ms' },
        { name: 'age of the newest item', figures: run.freshness_ms, unit: 'ms' },
        { name: 'master to replica', figures: run.replication_ms, unit: 'ms' },
      ])
    : timesTable('Latency', [
        { name: 'from the intended moment', figures: run.latency_us.intended, unit: 'us' },
        { name: 'from the send (service)', figures: run.latency_us.service, unit: 'us' },
        { name: 'bystander (PING)', figures: run.bystander_us, unit: 'us' },
      ])

/** @param {any} run @returns {Table[]} */
const thresholdsTable = ({ thresholds = [] }) =>
  thresholds.length === 0
    ? []
    : [
        {
          title: 'Thresholds',
          columns: [{ title: 'limit', left: true }, { title: 'measured' }, { title: '', left: true }],
          rows: thresholds.map(
            (/** @type {import('../result/thresholds.js').Judged} */ { threshold, name, value, passed }) => [
              cell(threshold),
              figureCell(name, value),
              cell(passed ? 'kept' : 'FAILED'),
            ],
          ),
        },
      ]

/**
 * @param {import('../result/document.js').RunDocument} document
 * @returns {Sections}
 */
export const runSections = (document) => {
  const run = plainData(document)
  const names = highlightsOf[/** @type {'producer' | 'consumer'} */ (run.kind)]
  return {
    title: `Millrace ${run.kind} · ${run.run}`,
    question: questionOf(run),
    verdict: {
      good: run.valid,
      word: capital(stateWords(run)),
      sentence: run.kind === 'consumer' ? fetchWords.verdictWords(run) : verdictWords(run),
    },
    highlights: names.flatMap((name) => {
      const figure = leading(name, run)
      const value = figure.value(run)
      const perSecond = figure.unit === 'rate' ? '/s' : ''
      return value === null
        ? []
        : [{ label: figure.title, text: `${shownFigure(figure, value)}${perSecond}` }]
    }),
    facts: askedAndFound(run),
    tables: [
      ...thresholdsTable(run),
      ...timesOf(run),
      ...nodesTable(run),
      ...eventsTable(run),
      figuresTable(run),
      planTable(run),
    ],
    warnings: run.warnings.map(
      (/** @type {{ message: string, invalidates: boolean }} */ { message, invalidates }) => ({
        text: message,
        serious: invalidates,
      }),
    ),
  }
}
