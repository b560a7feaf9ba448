// The answer of `millrace plan` for a cache: the memory and the nodes for shares of hits, by the curve of requests that are drawn.

import * as S from '../../base/shape.js'
import { bytes, count, percent, several } from '../../base/units.js'
import { answer, answerSchema, figure, table, words } from '../../report/kit.js'
import { risingOf, shareOver } from '../../traffic/share-by-memory.js'
import { candidateOf, cheapest } from './nodes.js'

/**
 * @import { Shaped } from '../../base/shape-types.js'
 * @import { NodeType } from '../../base/prices.js'
 * @import { Column } from '../../report/kit.js'
 * @import { Wishes } from './nodes.js'
 *
 * @typedef {readonly { memory_bytes: number, policy_pct: number | null, lru_pct: number }[]} Points
 */

const need = S.object({
  hit_pct: S.number,
  memory_bytes: S.said('null: no memory reaches it', S.figure),
  node: S.note,
  ...S.each(['shards', 'nodes', 'monthly'], S.figure),
  more_pct: S.said('hits that one more GB of memory adds, in points', S.figure),
})

const schema = answerSchema('plan-cache', {
  strategy: S.text,
  policy: S.text,
  ...S.each(['keys', 'rate', 'replicas', 'overhead_bytes', 'ceiling_pct', 'footprint_bytes'], S.number),
  currency: S.text,
  prices: S.text,
  needs: S.list(need),
})
/** @typedef {Shaped<typeof schema>} CachePlan */
/** @typedef {CachePlan['needs'][number]} Need */

const nothing = { spread: 0, fixed: 0 }
// Its memory alone is planned: what it costs besides needs a calibration.
const demanded = { rate: 0, items: 1, keys: 0, cpuUs: nothing, replicaUs: null }
const traffic = { bytesIn: nothing, bytesOut: nothing, ecpu: nothing }
/** @type {Omit<Wishes, 'replicas'>} */
const wishes = { headroom: 0, forkS: 0, speed: 1, growth: 0, survive: 'none' }

const oneMore = 1e9

/** @param {Points} points @param {Pick<CachePlan, 'ceiling_pct' | 'footprint_bytes' | 'replicas'>} known @param {readonly number[]} wanted @param {readonly NodeType[]} types @returns {Need[]} */
export const cacheNeeds = (points, { ceiling_pct, footprint_bytes, replicas }, wanted, types) => {
  const over = shareOver({ points: risingOf(points) })
  const nodesFor = (/** @type {number} */ spread) => {
    const demand = { ...demanded, ...traffic, memory: { spread, fixed: 0 } }
    return cheapest(types.map((type) => candidateOf(demand, type, { ...wishes, replicas })))
  }
  return wanted.map((pct) => {
    const memory = pct > ceiling_pct ? null : Math.min(footprint_bytes, over.bytesFor(pct))
    const {
      node = null,
      shards = null,
      nodes = null,
      monthly = null,
    } = (memory !== null && nodesFor(memory)) || {}
    const more = memory === null ? null : Math.max(0, Math.min(ceiling_pct, over.at(memory + oneMore)) - pct)
    return { hit_pct: pct, memory_bytes: memory, node, shards, nodes, monthly, more_pct: more }
  })
}

const none = '-'
/** @param {string} title @param {'memory_bytes' | 'shards' | 'monthly' | 'more_pct'} name @param {(value: number) => string} word @returns {Column<Need>} */
const known = (title, name, word) =>
  figure(
    title,
    (one) => one[name],
    (value) => (value === null ? none : word(value)),
  )

/** @param {string} currency @returns {Column<Need>[]} */
const columnsOf = (currency) => [
  figure(
    'hits',
    (one) => one.hit_pct,
    (pct) => `${pct} %`,
  ),
  known('memory', 'memory_bytes', bytes),
  words('node', (one) => one.node ?? none),
  known('shards', 'shards', count),
  known(`${currency} a month`, 'monthly', (money) => money.toFixed(2)),
  known('one more GB', 'more_pct', (points) => `+${points.toFixed(2)} points`),
]

/** @param {CachePlan} one */
const sentence = ({ needs, currency, ceiling_pct: ceiling }) => {
  // What was asked for comes first.
  const [{ hit_pct: pct, memory_bytes: memory, node, shards, monthly }] = needs
  if (memory === null) return `no memory reaches ${pct} % hits: ${ceiling.toFixed(2)} % are the most`
  const on = node === null ? 'no node has room' : `${several(Number(shards), 'shard')} of ${node}`
  const money = monthly === null ? '' : `, ${monthly.toFixed(2)} ${currency} a month`
  return `${pct} % hits need ${bytes(memory)}: ${on}${money}`
}

export const cachePlan = answer({
  kind: 'plan-cache',
  schema,
  verdict: (/** @type {CachePlan} */ one) => ({
    title: 'Memory for hits',
    question: '',
    word: '',
    good: true,
    sentence: sentence(one),
  }),
  rows: ({ policy, keys, overhead_bytes, footprint_bytes, ceiling_pct, replicas, prices }) => ({
    cache: `${several(keys, 'key')}, ${policy}, ${bytes(overhead_bytes)} of each beside its value (Redis 7 with jemalloc)`,
    'all keys': `${bytes(footprint_bytes)}, ${percent(ceiling_pct)} hits`,
    nodes: `by memory alone, with ${several(replicas, 'replica')} each; ${prices}`,
  }),
  tables: ({ needs, currency }) => [
    table(
      'Hits',
      [...needs].sort((a, b) => a.hit_pct - b.hit_pct),
      columnsOf(currency),
    ),
  ],
})
