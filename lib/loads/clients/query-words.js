// Words for queries: what was loaded, whether the answers were right, how long they took, and what changed meanwhile.

import { percentileOf } from '../../base/samples.js'
import { asPercent, bytes, count, micros, percent, rate, several } from '../../base/units.js'

/**
 * @import { WriteRun as Run } from '../../result/document.js'
 * @import { Clients } from './open.js'
 */

const indexesWords = (/** @type {number} */ n) => `${count(n)} ${n === 1 ? 'index' : 'indexes'}`
const gap = ' · '
const facts = (/** @type {(string | false)[]} */ words) => words.filter(Boolean).join(gap)

/** What clients ask. @param {Run['plan'] & { clients: Clients, own: { selectivity: number, sortBy: string } }} plan */
export const queriesWords = ({ quantity, nominalHz, clients, own }) => {
  const load = nominalHz === null ? 'closed loop' : `${rate(nominalHz)} queries/s`
  const beside =
    clients.updateWriters > 0
      ? `, ${several(clients.updateWriters, 'writer')} beside ${clients.updateWriters === 1 ? 'it' : 'them'}`
      : ''
  return `${several(clients.connections, 'client')}, ${load}, ${asPercent(own.selectivity)} of ${count(quantity)} documents, sorted by ${own.sortBy}${beside}`
}

/** @param {NonNullable<Run['load']>} load */
const loadWords = ({ keys, seconds, data_bytes: data, ...indexed }) =>
  facts([
    `${count(keys)} documents in ${micros(seconds * 1e6)}`,
    data != null && `${bytes(data)}, ${bytes(data / keys)} each`,
    indexed.indexes !== undefined && indexWords(indexed),
  ])

/** @param {Omit<NonNullable<Run['load']>, 'keys' | 'seconds' | 'data_bytes'>} indexed */
const indexWords = ({ indexes, index_when: when, index_seconds: seconds, index_bytes: size }) => {
  const what = indexesWords(indexes ?? 0)
  const us = (seconds ?? 0) * 1e6
  if (when === 'before') return `${what} built with them, ready ${micros(us)} later`
  return `${what} built after it in ${micros(us)}${size == null ? '' : `, ${bytes(size)}`}`
}

/** @param {NonNullable<Run['queries']>} queries @param {number} offered */
const answerWords = ({ checked, right, wrong, partial, busy, timeout, selectivity }, offered) =>
  facts([
    `${count(checked)} checked`,
    right === checked && checked > 0 ? 'all right' : `${count(right)} right`,
    wrong > 0 && `${count(wrong)} wrong`,
    partial > 0 && `${count(partial)} partial`,
    busy > 0 && `${count(busy)} BUSY (${percent((busy / offered) * 100)})`,
    timeout > 0 && `${count(timeout)} timed out (${percent((timeout / offered) * 100)})`,
    selectivity != null && `${asPercent(selectivity)} of the documents match`,
  ])

/** @param {NonNullable<Run['updates']>} updates */
const updateWords = ({ writers, acked, offered, rate: aSecond, latency_us: latency }) => {
  const [p50, p99] = [percentileOf(latency?.service, 'p50'), percentileOf(latency?.service, 'p99')]
  return facts([
    `${several(writers, 'writer')}`,
    `${count(acked)} updates${acked < offered ? ` of ${count(offered)}` : ''}`,
    aSecond != null && `${rate(aSecond)}/s`,
    p50 !== null && `p50 ${micros(p50)}`,
    p99 !== null && `p99 ${micros(p99)}`,
  ])
}

/** @param {Run['load']} load */
const loadRow = (load) => (load ? [{ label: 'loaded', text: loadWords(load) }] : [])

/** Documents that change, and what is left of the updates. @param {Pick<Run, 'load' | 'documents'>} run */
const documentRows = ({ load, documents }) => {
  if (!documents) return []
  const { updates, uncertain, survived, lost: gaps, conflicts } = documents
  const lost = gaps ?? 0
  const lostText = lost > 0 ? ` (${percent((lost / updates) * 100)})` : ''
  const gone = lost > 0 ? `${uncertain > 0 ? 'at least ' : ''}${count(lost)} lost${lostText}` : 'none lost'
  const text = facts([
    `${count(updates)} acknowledged`,
    survived == null ? 'the documents could not be read' : gone,
    conflicts > 0 && `${count(conflicts)} transactions not executed, and tried again`,
  ])
  return [...loadRow(load), { label: 'updates', text }]
}

/** @param {Run} run @returns {{ label: string, text: string }[]} */
export const queryRows = ({ load, queries, updates, documents, items }) => {
  if (!queries) return documentRows({ load, documents })
  const { min_us: min, avg_us: avg, max_us: max } = queries
  return [
    ...loadRow(load),
    { label: 'answers', text: answerWords(queries, items.offered) },
    ...(avg == null
      ? []
      : [{ label: 'query time', text: `min ${micros(min)}, avg ${micros(avg)}, max ${micros(max)}` }]),
    ...(updates ? [{ label: 'updates', text: updateWords(updates) }] : []),
  ]
}
