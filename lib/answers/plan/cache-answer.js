// The answer of `millrace plan` for a cache: the memory and the nodes for shares of hits, by the curve of requests that are drawn.

import { hoursAMonth } from '../../base/prices.js'
import * as S from '../../base/shape.js'
import { bytes, count, percent, several } from '../../base/units.js'
import { answer, answerSchema, figure, table, words } from '../../report/kit.js'
import { risingOf, shareOver } from '../../traffic/share-by-memory.js'
import { ownBytes, reserved } from './nodes.js'

/**
 * @import { Shaped } from '../../base/shape-types.js'
 * @import { NodeType } from '../../base/prices.js'
 * @import { Column } from '../../report/kit.js'
 *
 * @typedef {readonly { memory_bytes: number, policy_pct: number | null, lru_pct: number }[]} Points
 */

const need = S.object({
  hit_pct: S.number,
  memory_bytes: S.said('null: no memory reaches it', S.figure),
  node: S.note,
  shards: S.figure,
  nodes: S.figure,
  monthly: S.figure,
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

const gib = 2 ** 30
const oneMore = 1e9

/** The cheapest nodes that have so much room. @param {number} memory @param {readonly NodeType[]} types @param {number} replicas */
export const nodesFor = (memory, types, replicas) => {
  const all = types.flatMap(({ name, memoryGib, hour }) => {
    const room = memoryGib * gib * (1 - reserved) - ownBytes
    if (hour === null || room <= 0) return []
    const shards = Math.ceil(memory / room)
    const nodes = shards * (1 + replicas)
    return [{ node: name, shards, nodes, monthly: nodes * hour * hoursAMonth }]
  })
  return all.reduce((best, one) => (one.monthly < best.monthly ? one : best), all[0]) ?? null
}

/**
 * @param {object} about
 * @param {Points} about.points
 * @param {number} about.ceiling_pct
 * @param {number} about.footprint_bytes
 * @param {readonly number[]} about.wanted
 * @param {readonly NodeType[]} about.types
 * @param {number} about.replicas
 * @returns {CachePlan['needs']}
 */
export const cacheNeeds = ({
  points,
  ceiling_pct: ceiling,
  footprint_bytes: whole,
  wanted,
  types,
  replicas,
}) => {
  const over = shareOver({ points: risingOf(points) })
  return wanted.map((pct) => {
    const memory = pct > ceiling ? null : Math.min(whole, over.bytesFor(pct))
    const found = memory === null ? null : nodesFor(memory, types, replicas)
    const more = memory === null ? null : Math.min(ceiling, over.at(memory + oneMore)) - pct
    return {
      hit_pct: pct,
      memory_bytes: memory,
      node: found?.node ?? null,
      shards: found?.shards ?? null,
      nodes: found?.nodes ?? null,
      monthly: found?.monthly ?? null,
      more_pct: more === null ? null : Math.max(0, more),
    }
  })
}

const none = '-'
const shown = (/** @type {(value: number) => string} */ word) => (/** @type {number | null} */ value) =>
  value === null ? none : word(value)

/** @param {string} currency @returns {Column<CachePlan['needs'][number]>[]} */
const columnsOf = (currency) => [
  figure(
    'hits',
    (one) => one.hit_pct,
    (pct) => `${pct} %`,
  ),
  figure('memory', (one) => one.memory_bytes, shown(bytes)),
  words('node', (one) => one.node ?? none),
  figure('shards', (one) => one.shards, shown(count)),
  figure(
    `${currency} a month`,
    (one) => one.monthly,
    shown((money) => money.toFixed(2)),
  ),
  figure(
    'one more GB',
    (one) => one.more_pct,
    shown((points) => `+${points.toFixed(2)} points`),
  ),
]

/** @param {CachePlan} one */
const sentence = ({ needs, currency, ceiling_pct: ceiling }) => {
  const [first] = needs.filter(({ memory_bytes: memory }) => memory !== null)
  if (!first) return `no memory reaches ${needs[0].hit_pct} % hits: ${ceiling.toFixed(2)} % are the most`
  const money = first.monthly === null ? '' : `, ${first.monthly.toFixed(2)} ${currency} a month`
  return `${first.hit_pct} % hits need ${bytes(first.memory_bytes ?? 0)}: ${first.node === null ? 'no node has a price' : `${several(first.shards ?? 0, 'shard')} of ${first.node}`}${money}`
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
  rows: ({
    policy,
    keys,
    overhead_bytes: overhead,
    footprint_bytes: whole,
    ceiling_pct: ceiling,
    replicas,
    prices,
  }) => ({
    cache: `${several(keys, 'key')}, ${policy}, ${bytes(overhead)} of each beside its value`,
    'all keys': `${bytes(whole)}, ${percent(ceiling)} hits`,
    nodes: `by memory alone, with ${several(replicas, 'replica')} each; ${prices}`,
  }),
  tables: ({ needs, currency }) => [table('Hits', needs, columnsOf(currency))],
})
