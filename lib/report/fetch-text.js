// The final table of a consumer: pure, from its document to text that can be pasted.
import { alignedTable, painter, wrapped } from './layout.js'
import { entry, eventLines, nodeTable, thresholdLines } from './text.js'
import { bytes, count, dash, micros, period, plainData, rate, several } from './units.js'
import { clientWords, facts, gap, targetWords } from './words.js'

/**
 * @typedef {import('./fetch-result.js').FetchDocument} FetchDocument
 * @typedef {ReturnType<typeof painter>} Paint
 * @typedef {{ run: any, columns: number, paint: Paint }} Page
 */

const ms = (/** @type {number | null} */ value) => micros(value === null ? null : value * 1000)

/** What is fetched, how often, by whom. @param {FetchDocument} run */
export const planWords = ({ plan, consumers }) => {
  const every =
    plan.pacing === 'closed' ? `${period(plan.periodMs)} after each fetch` : `every ${period(plan.periodMs)}`
  const all = plan.agents.length === plan.totalAgents
  const rest = all ? '' : ` of ${several(plan.totalAgents * plan.consumers, 'consumer')}`
  return facts([
    plan.strategy,
    plan.limit > 0 ? `the newest ${count(plan.limit)}` : 'all that live',
    plan.mode === 'script' ? 'by script' : !plan.values ? 'ids only' : plan.fetch.toUpperCase(),
    `${every} by ${rest ? `${consumers}${rest}` : several(consumers, 'consumer')}`,
    `ttl ${plan.ttlS} s`,
    plan.sets.length > 1 && several(plan.sets.length, 'sorted set'),
    plan.verify && 'every value verified',
    `driver ${plan.driver}`,
    plan.prefix && `prefix ${plan.prefix}`,
    plan.source === 'target' ? 'plan from the target' : 'no plan in the target',
  ])
}

/** @param {FetchDocument} run */
export const fetchWords = ({ fetches, rate: rates }) =>
  facts([
    `${count(fetches.count)} whole`,
    fetches.failed > 0 && `${count(fetches.failed)} failed`,
    `${count(fetches.overrun)} overrun`,
    `${rate(rates.achieved)}${rates.nominal === null ? '' : ` of ${rate(rates.nominal)}`} a second`,
    `${count(fetches.items_p50)} items at the median`,
  ])

/** @param {FetchDocument} run */
export const readWords = ({ fetches, rate: rates }) =>
  facts([
    `${rate(rates.items)} items/s`,
    `${bytes(rates.value_bytes)}/s of values`,
    fetches.nils > 0 && `${count(fetches.nils)} ids without a value`,
    fetches.duplicates > 0 && `${count(fetches.duplicates)} ids twice`,
    ...Object.entries(fetches.numbers).map(
      ([name, { last }]) => `${name.replaceAll('_', ' ')} ${count(last)}`,
    ),
  ])

/** @param {FetchDocument} run */
export const verifyWords = ({ verify }) => {
  if (!verify) return ''
  const { examples, checked, ...found } = verify
  const seen = Object.entries(found).filter(([, n]) => n > 0)
  return facts([
    `${count(checked)} compared byte by byte`,
    ...(seen.length > 0 ? seen.map(([what, n]) => `${count(n)} ${what}`) : ['all right']),
  ])
}

/** The command that brings the values. @param {Record<string, any>} plan */
const readCommand = ({ strategy, mode, fetch, limit }) => {
  if (mode === 'script') return 'evalsha'
  if (strategy === 'actual-value') return limit > 0 ? 'zrevrangebyscore' : 'zrangebyscore'
  const own = new Map([
    ['hash', 'hget'],
    ['hash-ttl', 'hgetall'],
    ['stream', 'xrevrange'],
  ])
  return own.get(strategy) ?? fetch
}

/** Who answered the reads, of whomever. @param {FetchDocument} run */
export const servedWords = ({ commands, plan }) =>
  facts(
    [readCommand(plan)].flatMap((/** @type {string} */ name) => {
      const [master, replica] = [commands.master[name]?.calls ?? 0, commands.replica[name]?.calls ?? 0]
      return master + replica > 0
        ? [`${name.toUpperCase()} by replicas ${count(replica)}, by masters ${count(master)}`]
        : []
    }),
  )

/** @param {FetchDocument} run */
export const clockWords = ({ clocks }) => {
  const offsets = clocks.map(({ offset_ms: offsetMs }) => offsetMs)
  if (offsets.length === 0) return ''
  const [low, high] = [Math.min(...offsets), Math.max(...offsets)]
  const rtt = Math.max(...clocks.map(({ rtt_ms: rttMs }) => rttMs))
  return `servers' clocks ${low.toFixed(2)} to ${high.toFixed(2)} ms from ours, known to ${(rtt / 2).toFixed(2)} ms`
}

/** @param {Page} page */
const timeTable = ({ run, columns, paint }) => {
  const rows = [
    { name: 'a whole fetch', ...run.fetches.duration_ms },
    { name: 'its ids', ...run.fetches.ids_ms },
    { name: 'its values', ...run.fetches.values_ms },
    { name: 'age of the newest item', ...run.freshness_ms },
    { name: 'master to replica', ...run.replication_ms },
  ].filter(({ max }) => max !== null)
  if (rows.length === 0) return []
  const [titles, ...lines] = alignedTable(
    [
      { title: 'time', left: true, cell: (row) => row.name },
      { title: 'p50', cell: (row) => ms(row.p50) },
      { title: 'p90', cell: (row) => ms(row.p90), rank: 2 },
      { title: 'p99', cell: (row) => ms(row.p99) },
      { title: 'p99.9', cell: (row) => ms(row.p999), rank: 1 },
      { title: 'max', cell: (row) => ms(row.max) },
    ],
    rows,
    columns,
  )
  return [paint.dim(titles), ...lines]
}

/** @param {Page} page */
const countTable = ({ run, columns, paint }) => {
  if (!run.uniqueness?.length) return []
  const error = (/** @type {number | null} */ pct) =>
    pct === null ? dash : `${pct < 0 ? '' : '+'}${pct.toFixed(2)} %`
  const [titles, ...lines] = alignedTable(
    [
      { title: 'unique items', left: true, cell: (row) => row.structure },
      { title: 'count', cell: (row) => count(row.last) },
      { title: 'truth', cell: (row) => count(row.truth) },
      { title: 'error', cell: (row) => error(row.error_pct) },
      { title: 'worst', cell: (row) => error(row.error_pct_worst), rank: 1 },
      { title: 'nature', left: true, cell: (row) => row.nature, rank: 2 },
    ],
    /** @type {import('../measure/uniqueness.js').CountRow[]} */ (run.uniqueness),
    columns,
  )
  return [paint.dim(titles), ...lines]
}

/** @param {FetchDocument} run */
export const verdictWords = (run) => {
  const right = run.verify && run.plan.knowsBytes ? ', and every value right' : ''
  return run.valid ? `every fetch on time and whole${right}` : 'do not quote these figures'
}

/** @param {Page} page */
const verdictLines = ({ run, columns, paint }) => {
  const word = run.valid ? paint.green(paint.bold('VALID')) : paint.red(paint.bold('NOT VALID'))
  const reasons = run.warnings.flatMap((/** @type {{ message: string, invalidates: boolean }} */ warning) => {
    const [mark, ink] = warning.invalidates ? ['✗', paint.red] : ['!', paint.yellow]
    return wrapped(warning.message, columns - 4).map(
      (line, row) => `  ${row === 0 ? ink(mark) : ' '} ${line}`,
    )
  })
  return [`${word}: ${verdictWords(run)}`, ...reasons]
}

/**
 * @param {FetchDocument} document
 * @param {{ columns?: number, color?: boolean }} [look]
 * @returns {string} lines of at most `columns`, ending in a line feed
 */
export const fetchReport = (document, { columns = 100, color = false } = {}) => {
  /** @type {Page} */
  const page = {
    run: plainData(document),
    columns: Math.max(60, Math.min(columns, 140)),
    paint: painter(color),
  }
  const { run, paint } = page
  const started = run.started.slice(0, 19).replace('T', ' ')
  const blocks = [
    [paint.bold(`Millrace consumer${gap}${run.run}`)],
    [
      ...entry(page, 'plan', planWords(run)),
      ...entry(page, 'target', targetWords(run)),
      ...entry(page, 'time', facts([`${started} UTC`, period(run.duration_s * 1000)])),
      ...entry(page, 'fetches', fetchWords(run)),
      ...entry(page, 'read', readWords(run)),
      ...entry(page, 'verified', verifyWords(run)),
    ],
    timeTable(page),
    countTable(page),
    nodeTable(page),
    [
      ...entry(page, 'served', servedWords(run)),
      ...entry(page, 'clocks', clockWords(run)),
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
