// What several readers share.
import { ids, newest, number } from './declare.js'

/**
 * @typedef {import('./context.js').ReadContext} ReadContext
 * @typedef {import('./declare.js').Moment} Moment
 * @typedef {import('./declare.js').Ask} Ask
 */

/**
 * The published fetch: ZCARD, then everything younger than the ttl, or the newest so many. Without scores the
 * newest one is asked for beside, for the freshness.
 * @param {ReadContext} context
 * @param {{ members: 'members' | 'values', scored: 'scored' | 'scored-values' }} shapes
 * @returns {(moment: Moment) => Ask[]}
 */
export const asksOfSets = ({ sets, limit, floor }, shapes) => {
  return ({ nowMs, scores }) =>
    sets.flatMap((set) => {
      const cardinality = number('cardinality', ['ZCARD', set])
      if (limit > 0) {
        // With their scores, of which a few cost little: several sets are merged by them.
        const range = [
          'ZREVRANGEBYSCORE',
          set,
          '+inf',
          floor(nowMs),
          'WITHSCORES',
          'LIMIT',
          '0',
          String(limit),
        ]
        return [cardinality, ids(range, shapes.scored)]
      }
      const range = ['ZRANGEBYSCORE', set, floor(nowMs), '+inf']
      return scores
        ? [cardinality, ids([...range, 'WITHSCORES'], shapes.scored)]
        : [cardinality, newest(['ZREVRANGE', set, '0', '0', 'WITHSCORES']), ids(range, shapes.members)]
    })
}
