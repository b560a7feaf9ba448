// The registry: a strategy is one file and one line here.
import { actualValue } from './actual-value.js'
import { hash } from './hash.js'
import { hashTtl } from './hash-ttl.js'
import { list } from './list.js'
import { listHll } from './list-hll.js'
import { scriptBatch, scriptItem } from './scripts.js'
import { set } from './set.js'
import { sortedSet } from './sorted-set.js'
import { stream } from './stream.js'

/** @type {Readonly<Record<string, (context: import('./context.js').Context) => import('./declare.js').Step[]>>} */
export const strategies = Object.freeze({
  'sorted-set': sortedSet,
  'actual-value': actualValue,
  'script-batch': scriptBatch,
  'script-item': scriptItem,
  list,
  'list-hll': listHll,
  set,
  hash,
  stream,
  'hash-ttl': hashTtl,
})
