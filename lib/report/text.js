// The final table: pure, from run.json's document to text that can be pasted into a document.
import { alignedTable, painter, wrapped } from './layout.js'
import { sharedEnding } from './node-names.js'
import { judgedWords } from './thresholds.js'
import { bytes, count, micros, percent, period, plainData, rate, several } from './units.js'
import { busiestMaster } from './verdict.js'
import {
  clientWords,
  commandWords,
  costWords,
  facts,
  gap,
  itemWords,
  planWords,
  rateWords,
  targetWords,
  tickWords,
} from './words.js'

/**
 * @typedef {import('./result.js').RunDocument} RunDocument
 * @typedef {ReturnType<typeof painter>} Paint
 * @typedef {{ run: RunDocument, columns: number, paint: Paint }} Page
 */

const labelWidth = 11
const shownEvents = 20

/** A label in front, its text broken at the gaps and hanging. @param {Page} page @param {string} label @param {string} text */
export const entry = ({ columns, paint }, label, text) =>
  (text ? wrapped(text, columns - labelWidth, gap) : []).map(
    (line, at) => paint.dim((at === 0 ? label : '').padEnd(labelWidth)) + line,
  )

/** @param {Page} page */
const latencyTable = ({ run, columns, paint }) => {
  const { intended, service } = run.latency_us
  const rows = [
    { name: 'from the intended moment', ...intended },
    { name: 'from the send (service)', ...service },
    ...(run.bystander_us ? [{ name: 'bystander (PING)', p90: null, p999: null, ...run.bystander_us }] : []),
  ]
  const [titles, ...lines] = alignedTable(
    [
      { title: 'latency', left: true, cell: (row) => row.name },
      { title: 'p50', cell: (row) => micros(row.p50) },
      { title: 'p90', cell: (row) => micros(row.p90), rank: 2 },
      { title: 'p99', cell: (row) => micros(row.p99) },
      { title: 'p99.9', cell: (row) => micros(row.p999), rank: 1 },
      { title: 'max', cell: (row) => micros(row.max) },
    ],
    rows,
    columns,
  )
  return [paint.dim(titles), ...lines]
}

/** The mean of what was measured. @param {import('./result.js').NodeFigures[]} nodes */
const meanOf = (nodes) => (/** @type {keyof import('./result.js').NodeFigures} */ key) => {
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

/** The host's CPU as CloudWatch has it, over all its vCPUs. @param {RunDocument} run @param {string} address */
const hostCpu = ({ cloudwatch }, address) =>
  cloudwatch?.nodes.find((node) => node.address === address)?.means.CPUUtilization

/** What CloudWatch says of caches that no address tells. @param {Page} page */
const namelessCaches = ({ run, columns }) =>
  (run.cloudwatch?.nodes ?? [])
    .filter(({ address }) => address === null)
    .flatMap(({ id, kind, role, means }) =>
      wrapped(
        facts([
          `CloudWatch ${id}${role ? ` (${role})` : ''}`,
          kind === 'node' && `CPUUtilization ${percent(means.CPUUtilization)}`,
          kind === 'node' && `EngineCPUUtilization ${percent(means.EngineCPUUtilization)}`,
          kind === 'serverless' && `${count(means.ElastiCacheProcessingUnits)} processing units a minute`,
          kind === 'serverless' && `${count(means.ThrottledCmds)} throttled commands a minute`,
        ]),
        columns,
        gap,
      ),
    )

/** @param {Page} page */
export const nodeTable = (page) => {
  const { run, columns, paint } = page
  if (run.nodes.length === 0) return []
  const ending = sharedEnding(run.nodes.map(({ address }) => address))
  const short = (/** @type {string} */ name) =>
    name.endsWith(ending) ? name.slice(0, name.length - ending.length) : name
  const told = run.cloudwatch?.nodes.some(({ address }) => address !== null)
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
    ...namelessCaches(page),
    ...wrapped(note, columns, gap).map(paint.dim),
  ]
}

/** @param {Page} page */
export const eventLines = ({ run, columns, paint }) => {
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
  return run.valid ? `every item acknowledged${held}` : 'do not quote these figures'
}

/** @param {Page} page */
const verdictLines = ({ run, columns, paint }) => {
  const word = run.valid ? paint.green(paint.bold('VALID')) : paint.red(paint.bold('NOT VALID'))
  const reasons = run.warnings.flatMap(({ message, invalidates }) => {
    const [mark, ink] = invalidates ? ['✗', paint.red] : ['!', paint.yellow]
    return wrapped(message, columns - 4).map((line, row) => `  ${row === 0 ? ink(mark) : ' '} ${line}`)
  })
  return [`${word}: ${verdictWords(run)}`, ...reasons]
}

/** @param {Page} page */
export const thresholdLines = ({ run, columns, paint }) =>
  (run.thresholds ?? []).flatMap((judged) =>
    wrapped(judgedWords(judged), columns).map(judged.passed ? paint.green : paint.red),
  )

/**
 * The run in one line: its name, what it achieved, and whether it counts.
 * @param {RunDocument} document
 */
export const headline = (document) => {
  const run = plainData(document)
  return facts([run.run, `${rate(run.rate.achieved)} items/s`, run.valid ? 'valid' : 'not valid'])
}

/**
 * @param {RunDocument} document
 * @param {{ columns?: number, color?: boolean }} [look]
 * @returns {string} lines of at most `columns`, ending in a line feed
 */
export const textReport = (document, { columns = 100, color = false } = {}) => {
  /** @type {Page} */
  const page = {
    run: plainData(document),
    columns: Math.max(60, Math.min(columns, 140)),
    paint: painter(color),
  }
  const { run, paint } = page
  const started = run.started.slice(0, 19).replace('T', ' ')
  const measured =
    run.measured_s !== null && run.measured_s < run.duration_s && `${period(run.measured_s * 1000)} measured`
  const blocks = [
    [paint.bold(`Millrace ${run.kind}${gap}${run.run}`)],
    [
      ...entry(page, 'plan', planWords(run.plan)),
      ...entry(page, 'target', targetWords(run)),
      ...entry(page, 'time', facts([`${started} UTC`, period(run.duration_s * 1000), measured])),
      ...entry(page, 'items', itemWords(run)),
      ...entry(page, 'rate', rateWords(run)),
      ...entry(page, 'ticks', tickWords(run)),
    ],
    latencyTable(page),
    nodeTable(page),
    [
      ...entry(page, 'per item', costWords(run)),
      ...entry(page, 'commands', commandWords(run)),
      ...entry(page, 'client', clientWords(run)),
    ],
    eventLines(page),
    verdictLines(page),
    thresholdLines(page),
  ]
  return `${blocks
    .filter((block) => block.length)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`
}
