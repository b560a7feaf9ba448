// The final table: pure, from run.json's document to text that can be pasted into a document.

import { bytes, count, dash, micros, percent, period, plainData, rate, several } from '../base/units.js'
import { figureNamed } from '../result/figures.js'
import { busiestMaster, stateWords } from '../result/verdict.js'
import { shownFigure } from './cells.js'
import { alignedTable, blocksText, marked, painter, wrapped } from './layout.js'
import { sharedEnding } from './node-names.js'
import {
  cacheWords,
  clientWords,
  commandWords,
  costWords,
  facts,
  gap,
  hasHostCpu,
  hostCpu,
  idleWords,
  loadRows,
  moment,
  planWords,
  targetWords,
} from './words.js'

/**
 * @typedef {import('../result/document.js').RunDocument} RunDocument
 * @typedef {ReturnType<typeof painter>} Paint
 * @typedef {{ run: RunDocument, columns: number, paint: Paint }} Page
 */

const labelWidth = 11
const shownEvents = 20

/** A label in front, its text broken at the gaps and hanging. @param {Pick<Page, 'columns' | 'paint'>} page @param {string} label @param {string} text */
export const entry = ({ columns, paint }, label, text) =>
  (text ? wrapped(text, columns - labelWidth, gap) : []).map(
    (line, at) => paint.dim((at === 0 ? label : '').padEnd(labelWidth)) + line,
  )

/** @typedef {Record<'p50' | 'p90' | 'p99' | 'p999' | 'max', number | null>} Percentiles */

/**
 * @param {Pick<Page, 'columns' | 'paint'>} page
 * @param {string} title
 * @param {(Percentiles & { name: string })[]} rows
 * @param {(value: number | null) => string} told
 */
export const percentileTable = ({ columns, paint }, title, rows, told) => {
  const [titles, ...lines] = alignedTable(
    [
      { title, left: true, cell: (row) => row.name },
      { title: 'p50', cell: (row) => told(row.p50) },
      { title: 'p90', cell: (row) => told(row.p90), rank: 2 },
      { title: 'p99', cell: (row) => told(row.p99) },
      { title: 'p99.9', cell: (row) => told(row.p999), rank: 1 },
      { title: 'max', cell: (row) => told(row.max) },
    ],
    rows,
    columns,
  )
  return [paint.dim(titles), ...lines]
}

/** @param {Page} page */
const latencyTable = (page) => {
  const { latency_us: latency, bystander_us: bystander } = page.run
  const rows = [
    { name: 'from the intended moment', ...latency.intended },
    { name: 'from the send (service)', ...latency.service },
    ...(bystander ? [{ name: 'bystander (PING)', p90: null, p999: null, ...bystander }] : []),
  ]
  return percentileTable(page, 'latency', rows, micros)
}

/** The mean of what was measured. @param {import('../result/document.js').NodeFigures[]} nodes */
const meanOf = (nodes) => (/** @type {keyof import('../result/document.js').NodeFigures} */ key) => {
  const figures = nodes.map((node) => node[key]).filter((figure) => typeof figure === 'number')
  return figures.length ? figures.reduce((sum, figure) => sum + figure, 0) / figures.length : null
}

/** The nodes, then what their roles come to. @param {RunDocument} run */
const nodeRows = (run) => {
  const busiest = busiestMaster(run)
  const replicas = run.nodes.filter(({ role }) => role === 'replica')
  const mean = meanOf(replicas)
  const means = {
    engine_cpu_pct: mean('engine_cpu_pct'),
    cpu_pct: mean('cpu_pct'),
    commands_per_s: mean('commands_per_s'),
    memory_bytes: mean('memory_bytes'),
  }
  const total = { role: '', shard: '', gaps: '' }
  return [
    ...run.nodes.map((node) => ({ ...node, shard: String(node.shard), gaps: count(node.gaps) })),
    ...(busiest && run.nodes.length > 1 ? [{ ...busiest, ...total, address: 'busiest master' }] : []),
    ...(replicas.length > 1 ? [{ ...means, ...total, address: 'mean of replicas' }] : []),
  ]
}

/** @param {Page} page */
export const nodeTable = (page) => {
  const { run, columns, paint } = page
  if (run.nodes.length === 0) return []
  const ending = sharedEnding(run.nodes.map(({ address }) => address))
  const short = (/** @type {string} */ name) =>
    name.endsWith(ending) ? name.slice(0, name.length - ending.length) : name
  const told = hasHostCpu(run)
  const [titles, ...lines] = alignedTable(
    [
      { title: 'node', left: true, cell: (row) => short(row.address) },
      { title: 'shard', cell: (row) => row.shard, rank: 1 },
      { title: 'role', left: true, cell: (row) => row.role },
      { title: 'engine', cell: (row) => percent(row.engine_cpu_pct) },
      { title: 'process', cell: (row) => percent(row.cpu_pct) },
      { title: 'commands/s', cell: (row) => count(row.commands_per_s) },
      { title: 'memory', cell: (row) => bytes(row.memory_bytes) },
      { title: 'gaps', cell: (row) => row.gaps, rank: 2 },
      ...(told
        ? [{ title: 'CPUUtilization', cell: (/** @type {any} */ row) => percent(hostCpu(run, row.address)) }]
        : []),
    ],
    nodeRows(run),
    columns,
  )
  const totals = lines.splice(run.nodes.length).map(paint.bold)
  const note = facts([
    'CPU of one core: engine is the main thread, process all threads',
    told && 'CPUUtilization is that of the host, over all its vCPUs',
    ending && `nodes are <node>${ending}`,
  ])
  return [
    paint.dim(titles),
    ...lines,
    ...totals,
    ...cacheWords(run).flatMap((words) => wrapped(`CloudWatch ${words}`, columns, gap)),
    ...wrapped(note, columns, gap).map(paint.dim),
  ]
}

/** @param {Page} page */
const eventLines = ({ run, columns, paint }) => {
  const seconds = run.events.map(({ at_ms: atMs }) => `${(atMs / 1000).toFixed(1)} s`)
  const width = Math.max(labelWidth, ...seconds.map((text) => text.length + 2))
  const lines = run.events
    .slice(0, shownEvents)
    .flatMap(({ kind, text }, at) =>
      wrapped(`${kind}: ${text}`, columns - width).map(
        (line, row) => paint.dim((row === 0 ? seconds[at] : '').padEnd(width)) + line,
      ),
    )
  const more = run.events.length - shownEvents
  return more > 0
    ? [...lines, `${' '.repeat(width)}and ${several(more, 'event')} more in events.ndjson`]
    : lines
}

/** @param {RunDocument} run */
export const verdictWords = (run) => {
  const held = run.rate.nominal === null || run.plan.pacing === 'closed' ? '' : ', at the rate asked'
  if (run.state === 'partial') return 'do not quote these figures as those of the whole load'
  return run.valid
    ? `every ${run.plan.flow === 'clients' ? 'operation' : 'item'} acknowledged${held}`
    : 'do not quote these figures'
}

/** A part of a load must not pass for the whole: this comes first. @param {Page} page */
const partialLines = ({ run, columns, paint }) =>
  run.state === 'partial'
    ? run.warnings
        .filter(({ invalidates }) => invalidates)
        .flatMap(({ message }) => wrapped(`PARTIAL: ${message}`, columns).map(paint.red))
    : []

/** @param {Page} page @param {string} sentence */
const verdictLines = ({ run, columns, paint }, sentence) => {
  const state = paint.bold(stateWords(run).toUpperCase())
  const word = run.valid ? paint.green(state) : paint.red(state)
  const reasons = run.warnings.flatMap(({ message, invalidates }) =>
    marked(invalidates ? paint.red('✗') : paint.yellow('!'), message, columns),
  )
  return [`${word}: ${sentence}`, ...reasons]
}

/** What became of a limit. @param {import('../result/thresholds.js').Judged} judged */
const judgedWords = ({ threshold, name, value, passed }) => {
  const found = value === null ? `${dash} (not measured)` : shownFigure(figureNamed(name), value)
  return `threshold ${passed ? 'kept' : 'FAILED'}: ${threshold}, measured ${found}`
}

/** @param {Page} page */
const thresholdLines = ({ run, columns, paint }) =>
  (run.thresholds ?? []).flatMap((judged) =>
    wrapped(judgedWords(judged), columns).map(judged.passed ? paint.green : paint.red),
  )

/**
 * The run in one line: its name, what it achieved, and whether it counts.
 * @param {RunDocument} document
 */
export const headline = (document) => {
  const run = plainData(document)
  return facts([run.run, `${rate(run.rate.achieved)} items/s`, stateWords(run)])
}

/**
 * What every run is told as: its name, blocks of its own, its events, its verdict.
 * @param {any} document
 * @param {{ columns?: number, color?: boolean }} look
 * @param {(page: any) => string[][]} blocksOf
 * @param {(run: any) => string} sentenceOf
 * @returns {string} lines of at most `columns`, ending in a line feed
 */
export const runText = (document, { columns = 100, color = false }, blocksOf, sentenceOf) => {
  /** @type {Page} */
  const page = {
    run: plainData(document),
    columns: Math.max(60, Math.min(columns, 140)),
    paint: painter(color),
  }
  const { run, paint } = page
  return blocksText([
    [paint.bold(`Millrace ${run.kind}${gap}${run.run}`), ...partialLines(page)],
    ...blocksOf(page),
    eventLines(page),
    verdictLines(page, sentenceOf(run)),
    thresholdLines(page),
  ])
}

/** @param {Page} page */
const blocksOf = (page) => {
  const { run } = page
  const measured =
    run.measured_s !== null && run.measured_s < run.duration_s && `${period(run.measured_s * 1000)} measured`
  return [
    [
      ...entry(page, 'plan', planWords(run.plan)),
      ...entry(page, 'target', targetWords(run)),
      ...entry(page, 'time', facts([moment(run.started), period(run.duration_s * 1000), measured])),
      ...loadRows(run).flatMap(({ label, text }) => entry(page, label, text)),
    ],
    latencyTable(page),
    nodeTable(page),
    [
      ...entry(page, run.plan.flow === 'clients' ? 'each costs' : 'per item', costWords(run)),
      ...entry(page, 'idle cost', idleWords(run)),
      ...entry(page, 'commands', commandWords(run)),
      ...entry(page, 'client', clientWords(run)),
    ],
  ]
}

/**
 * @param {RunDocument} document
 * @param {{ columns?: number, color?: boolean }} [look]
 */
export const textReport = (document, look = {}) => runText(document, look, blocksOf, verdictWords)
