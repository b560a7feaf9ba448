// Names of keys in patterns, for the tests of a profile.
import { patternsOf } from '../../lib/answers/profile/fold.js'

/** Patterns that count their names. */
export const countedPatterns = () =>
  patternsOf(
    () => ({ count: 0 }),
    (into, from) => (into.count += from.count),
  )

/** A word of letters for each number. @param {number} n */
export const lettersOf = (n) => n.toString(26).replace(/\d/g, (d) => 'qrstuvwxyz'[Number(d)])
