// Which options of traffic have no meaning together, or for a strategy.

import { namesOfWriters } from '../loads/names-of-strategy.js'
import { isEven, scheduleIn } from '../traffic/even.js'
import { isDrawn } from '../traffic/items.js'
import { lifetimeFault, storesValues } from '../workloads/command-features.js'
import { strategyNamed } from '../workloads/index.js'

/** @import { Rule } from './conflicts.js' */

/** @type {readonly Rule[]} */
export const trafficRules = [
  (s, named) =>
    s.order === 'split' &&
    namesOfWriters(s.strategy).inBatches &&
    `${named('order')} split is of clients: writers have ranges of their own already`,

  (s, named) => {
    if (isEven(s.arrivals)) return
    // Jobs of a queue have a rate without --rate.
    if (strategyNamed(s.strategy).queue && s.rate === undefined) return
    if (!namesOfWriters(s.strategy).inBatches)
      return typeof s.rate !== 'number' && `${named('arrivals')} needs --rate with a number`
    if (scheduleIn(s) === 'none') return `${named('arrivals')}: without a schedule nothing is due`
    return s.intervals !== undefined && `${named('intervals')} with ${named('arrivals')}: give --duration`
  },

  (s, named) =>
    s.once &&
    isDrawn(s) &&
    `${named(s.churn === undefined ? 'order' : 'churn')} with ${named('once')}: each item is new, and written once`,

  (s, named) =>
    (s.order ?? 'sequential') !== 'sequential' &&
    (s.connections ?? 1) > 1 &&
    namesOfWriters(s.strategy).inBatches &&
    `${named('connections')} with ${named('order')}: on several connections a write of an item could pass an earlier one`,

  (s, named) =>
    s.shift !== undefined &&
    !/^(zipf|hot):/.test(s.order ?? '') &&
    `${named('shift')} moves which items are popular: it needs --popularity zipf:THETA or hot:ITEMS%:DRAWS%`,

  (s, named) =>
    s.order?.startsWith('recent:') &&
    s.churn === undefined &&
    `${named('order')} ${s.order} needs --churn: without new items none is recent`,

  (s, named) =>
    ['command line', 'file'].includes(s.given.valueBytes) &&
    !storesValues(s.strategy) &&
    `${named('valueBytes')}: ${s.strategy} stores no values`,

  (s, named) => {
    const fault = s.ttlLeastS === null ? null : lifetimeFault(s.strategy)
    return (
      fault !== null && `${named('ttlS')} from ${s.ttlLeastS} to ${s.ttlS} s: ${fault}; give one lifetime`
    )
  },
]
