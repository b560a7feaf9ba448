// What a run answers, a row for each question: what it cost, which node worked hardest and why, what other clients
// noticed, whether the client was the limit, how long things took and how to make it shorter.

import { tooFewWords } from '../base/samples.js'
import { bytes, count, facts, micros, percent, period, plainText } from '../base/units.js'
import { readRows } from '../loads/fetches/index.js'
import { loadOf } from '../loads/index.js'
import { namesOfKind } from '../loads/names.js'
import { othersWords, storedUnitOf, unitOf } from '../loads/words.js'
import { answersIn } from '../measures/index.js'
import { timesText } from '../measures/measure.js'
import { busiestNode } from '../measures/nodes.js'
import { rowsOf as rowsIn } from '../measures/section.js'
import * as words from './words.js'

/**
 * @import { Part } from '../measures/measure.js'
 * @import { NodeFigures, RunDocument as Run, WriteRun } from '../result/document.js'
 *
 * @typedef {NonNullable<WriteRun['readers']>} Readers of a fleet
 * @typedef {{ label: string, text: string }} Row
 */

// A node that does this much more than others of its role needs a reason.
const unevenBy = 1.2
// A shorter wait for the rest of a burst needs no advice.
const burstUs = 1000

/** @param {WriteRun} run @returns {Row[]} */
const costRows = (run) => {
  const { server, plan } = run
  const { cpu_us_per_item: gross, cpu_us_per_item_net: net, net_bytes_per_item_net: netBytes } = server
  const each = `per ${unitOf(plan)}`
  const others = othersWords(run)
  const within = (/** @type {number | null | undefined} */ us) =>
    typeof us === 'number' ? ` ± ${micros(us)}` : ''
  const cpu =
    typeof net === 'number'
      ? `${micros(net)}${within(server.cpu_us_per_item_net_uncertainty)} ${each}, idle excluded; ${micros(gross)} idle included`
      : `${micros(gross)}${within(server.cpu_us_per_item_uncertainty)} ${each}${typeof gross === 'number' && !others ? ', idle included' : ''}`
  const masters = server.masters_cpu_us_per_item_net
  const beside = !others
    ? ''
    : typeof net === 'number'
      ? `; ${others}, left out within the ±`
      : `; ${others}; their part is not known${typeof masters === 'number' ? `; the masters alone, ${micros(masters)}, idle excluded` : ''}`
  const all = bytes(server.net_bytes_per_item)
  // At a high rate both are the same.
  const network =
    typeof netBytes === 'number' && bytes(netBytes) !== all
      ? `${bytes(netBytes)} ${each}, idle excluded; ${all} idle included`
      : `${all} ${each}`
  const note = server.memory_note ? ` (${plainText(server.memory_note)})` : ''
  return [
    { label: 'server CPU', text: `${cpu}${beside}` },
    {
      label: 'memory',
      text: `${bytes(server.memory_bytes_per_item)} per ${storedUnitOf(plan)}${note}`,
    },
    { label: 'network', text: network },
  ]
}

/** Why the busiest node does more than the others of its role. @param {Run} run @param {NodeFigures} busiest @param {number | null} others */
const whyBusiest = ({ target, nodes }, busiest, others) => {
  const peers = nodes.filter(({ role }) => role === busiest.role)
  if (peers.length < 2 || others === null) return ''
  if ((busiest.engine_cpu_pct ?? 0) < others * unevenBy)
    return `; the others do about as much (${percent(others)})`
  const shared = (target?.shared_keys ?? []).filter(({ shard }) => shard === busiest.shard)
  const all = target?.shared_keys?.length ?? 0
  const keys =
    shared.length === 1
      ? `: its shard has ${plainText(shared[0].key)}, ${all === 1 ? 'the one key that every item is also written to' : `one of ${all} keys that items are also written to`}`
      : shared.length > 1
        ? `: its shard has ${shared.length} of the ${all} keys that items are also written to`
        : ''
  return `; the others ${percent(others)}${keys}`
}

/** @param {Run} run @returns {Row[]} */
const busiestRow = (run) => {
  const busiest = busiestNode(run)
  if (!busiest || busiest.engine_cpu_pct === null) return []
  const others = run.nodes
    .filter((node) => node.role === busiest.role && node.address !== busiest.address)
    .map((node) => node.engine_cpu_pct ?? 0)
  const mean =
    others.length > 0
      ? others.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) / others.length
      : null
  return [
    {
      label: `busiest ${busiest.role}`,
      text: `${plainText(busiest.address)}, main thread ${percent(busiest.engine_cpu_pct)} of a core${whyBusiest(run, busiest, mean)}`,
    },
  ]
}

/** What measures say. @param {Run | Readers} run @param {Part} part @returns {Row[]} */
const measureRows = (run, part) => answersIn(part, run, unitOf(run.plan))

/** Items of a batch are due at the same moment, and wait for each other. @param {WriteRun} run */
const burstWords = ({ plan, latency_us: latency }) => {
  const { pacing, items, chunks, spacingMs } = plan
  const burst = items / chunks
  if (!namesOfKind(plan).inBatches || pacing !== 'open' || plan.rate === 'max' || !(burst > 1) || !spacingMs)
    return ''
  // A longer wait for the next burst has another cause.
  const p50 = latency.intended?.p50 ?? 0
  if (p50 < burstUs || p50 > spacingMs * 1000) return ''
  return `${count(burst)} items are due at once every ${period(spacingMs)}, so most of it is the wait for the rest of the burst: --pacing smooth spaces them evenly`
}

/** @param {WriteRun} run @returns {Row[]} */
const latencyRows = (run) => {
  const { intended, service } = run.latency_us
  const times = timesText(intended, 1, ['p50', 'p90', 'p99', 'max'])
  if (!intended || !times) return []
  const own = timesText(service, 1, ['p50', 'p99'])
  const scheduled = run.plan.rate !== 'max' && run.rate.nominal !== null
  const text = scheduled
    ? `${times} from the due time${own ? ` (service time ${own})` : ''}`
    : `${timesText(service, 1, ['p50', 'p90', 'p99', 'max'])} (service time)`
  const why = burstWords(run)
  const few = tooFewWords(intended, 'p99')
  return [
    { label: 'latency', text },
    ...(few ? [{ label: '', text: few }] : []),
    ...(why ? [{ label: '', text: why }] : []),
  ]
}

/** @param {WriteRun} run @returns {Row[]} */
const lostRow = (run) =>
  run.items.acked === run.items.offered ? [] : [{ label: `${unitOf(run.plan)}s`, text: words.itemWords(run) }]

/** @param {WriteRun} run @returns {Row[]} */
const writerRows = (run) => [
  { label: 'rate', text: words.rateWords(run) },
  ...lostRow(run),
  ...rowsIn(loadOf(run).sections, run),
  ...costRows(run),
  ...busiestRow(run),
  ...measureRows(run, 'beside'),
  ...latencyRows(run),
  ...(run.readers ? readRows(run.readers, 'reads') : []),
  ...words.boxesRow(run),
]

/** @param {Run} run @returns {Row[]} */
const eventsRow = ({ events }) => {
  /** @type {Record<string, number>} */
  const kinds = {}
  for (const { kind } of events) kinds[kind] = (kinds[kind] ?? 0) + 1
  const seen = Object.entries(kinds).map(([kind, n]) => `${kind} ${count(n)}`)
  return seen.length > 0 ? [{ label: 'events', text: `${facts(seen)} (listed below)` }] : []
}

/** @param {Run} run @returns {Row[]} */
const rowsOf = (run) => {
  const { words: own } = loadOf(run)
  if (!own.rows) return writerRows(/** @type {WriteRun} */ (run))
  return [...own.rows(run), ...busiestRow(run), ...measureRows(run, 'beside')].filter(({ text }) => text)
}

/** @param {Run} run @returns {Row[]} */
export const answerRows = (run) => [...rowsOf(run), ...eventsRow(run), ...words.cacheRows(run)]
