// Structures that hold every id: they differ only in the rows of this table.
import { each, family, n, strategy } from '../declare.js'
import { restOfId, wholeId } from './ids.js'
import { added, exact, structures } from './parts.js'

/**
 * @import { Family } from '../declare.js'
 * @import { PlanFields } from './parts.js'
 * @import { IdForm } from './ids.js'
 */

/** What an id takes without anything around it. @type {Readonly<Record<IdForm, number>>} */
const bareBytes = Object.freeze({ hex: 32, binary: 16, integer: 6 })

/** @param {PlanFields} t */
const idBytes = (t) => bareBytes[t.ids]

/**
 * In 2^n structures by partition, the rest of an id is a field or a member of its own.
 * @param {string} type
 * @param {number} bytesAnId
 * @param {string} title
 * @param {string} command
 * @param {readonly string[]} [before] the id
 * @param {readonly string[]} [after] it
 */
const byPartition = (type, bytesAnId, title, command, before = [], after = []) => ({
  name: `membership-${type}`,
  title,
  options: exact.options,
  key: (/** @type {PlanFields} */ t) =>
    structures(t, { name: type.padEnd(4, '_'), type, bytes: 100, bytesAnId: bytesAnId + idBytes(t) }),
  add: (/** @type {PlanFields} */ t, /** @type {Family} */ key) =>
    each(command, [key, ...before, restOfId(t.ids, t.bits), ...after], added),
})

const rows = [
  {
    name: 'membership-flat',
    title: 'SETNX of a key for each id',
    options: exact.options.filter((option) => option !== 'partitions'),
    key: (/** @type {PlanFields} */ t) =>
      family('bench:flat:xx:{id}', 'string', {
        of: { id: wholeId(t.ids) },
        keys: t.quantity,
        bytes: 63 + idBytes(t),
        shape: { head: 'bench:flat:', rest: /^xx:.+$/s },
      }),
    add: (/** @type {PlanFields} */ _, /** @type {Family} */ key) => each('SETNX', [key, '1'], added),
  },
  byPartition('hash', 70, 'HSETNX in hashes by partition', 'HSETNX', [], ['1']),
  byPartition('set', 70, 'SADD to sets by partition', 'SADD'),
  byPartition('zset', 122, 'ZADD NX to sorted sets by partition', 'ZADD', ['NX', '0']),
  {
    name: 'membership-bitmap',
    title: 'SETBIT of one bitmap, ids being the numbers 1 to N',
    options: exact.options.filter((option) => option !== 'partitions' && option !== 'ids'),
    key: (/** @type {PlanFields} */ t) =>
      family('bench:bits', 'string', { keys: 1, bytes: t.quantity / 8 + 100 }),
    // The reply is the previous value of the bit.
    add: (/** @type {PlanFields} */ _, /** @type {Family} */ key) =>
      each('SETBIT', [key, n, '1'], { counts: { zero: 'new', one: 'known' } }),
  },
]

export const membershipStructures = rows.map(({ key, add, ...row }) =>
  strategy({
    ...exact,
    ...row,
    keys: (/** @type {PlanFields} */ t) => ({ key: key(t) }),
    operations: (/** @type {PlanFields} */ t, k) => ({ add: [add(t, k.key)] }),
  }),
)
