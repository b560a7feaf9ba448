// The registry: a reader is one file and one line here.
import { actualValue } from './actual-value.js'
import { hash } from './hash.js'
import { hashTtl } from './hash-ttl.js'
import { list } from './list.js'
import { listHll } from './list-hll.js'
import { script } from './script.js'
import { set } from './set.js'
import { sortedSet } from './sorted-set.js'
import { stream } from './stream.js'

/**
 * @typedef {import('./context.js').ReadContext} ReadContext
 * @typedef {import('./declare.js').Declaration} Declaration
 */

/** @type {Readonly<Record<string, (context: ReadContext) => Declaration>>} by the strategy that wrote */
export const readers = Object.freeze({
  'sorted-set': sortedSet,
  'script-batch': sortedSet,
  'script-item': sortedSet,
  'actual-value': actualValue,
  list,
  'list-hll': listHll,
  set,
  hash,
  stream,
  'hash-ttl': hashTtl,
})

/** The reader of a plan. @param {ReadContext} context @returns {Declaration} */
export const readerOf = (context) =>
  context.plan.mode === 'script' ? script(context) : readers[context.plan.strategy](context)
