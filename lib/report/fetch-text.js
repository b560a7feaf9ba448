// The final table of a consumer: pure, from its document to text that can be pasted.

import { bytes, count, dash, micros, period, rate, several } from '../base/units.js'
import { alignedTable } from './layout.js'
import { entry, nodeTable, percentileTable, runText } from './text.js'
import { clientWords, facts, moment, targetWords } from './words.js'

/**
 * @typedef {import('../result/fetch-document.js').FetchDocument} FetchDocument
 * @typedef {Omit<import('./text.js').Page, 'run'> & { run: any }} Page
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
    plan.mode === 'script' ? 'by script' : plan.values ? plan.valuesBy.toUpperCase() : 'ids only',
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
export const verifyWords = ({ verify, plan }) => {
  if (!verify) return ''
  const { examples, checked, ...found } = verify
  const seen = Object.entries(found).filter(([, n]) => n > 0)
  const right = checked > 0 ? 'all right' : plan.knowsBytes ? '' : 'only whether values are there'
  return facts([
    checked > 0 ? `${count(checked)} compared byte by byte` : 'nothing compared',
    ...(seen.length > 0 ? seen.map(([what, n]) => `${count(n)} ${what}`) : [right]),
  ])
}

/** Who answered the reads, of whomever. @param {FetchDocument} run */
export const servedWords = ({ commands, plan }) =>
  facts(
    [plan.valuesBy].flatMap((/** @type {string} */ name) => {
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
const timeTable = (page) => {
  const { run } = page
  const rows = [
    { name: 'a whole fetch', ...run.fetches.duration_ms },
    { name: 'its ids', ...run.fetches.ids_ms },
    ...(run.plan.values ? [{ name: 'its values', ...run.fetches.values_ms }] : []),
    { name: 'age of the newest item', ...run.freshness_ms },
    { name: 'master to replica', ...run.replication_ms },
  ].filter(({ max }) => max !== null)
  return rows.length === 0 ? [] : percentileTable(page, 'time', rows, ms)
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
const blocksOf = (page) => {
  const { run } = page
  return [
    [
      ...entry(page, 'plan', planWords(run)),
      ...entry(page, 'target', targetWords(run)),
      ...entry(page, 'time', facts([moment(run.started), period(run.duration_s * 1000)])),
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
  ]
}

/**
 * @param {FetchDocument} document
 * @param {{ columns?: number, color?: boolean }} [look]
 */
export const fetchReport = (document, look = {}) => runText(document, look, blocksOf, verdictWords)
