// Which command of a mix is next: a table in a drawn order that has each of them at its share, over and over. So how many
// of a kind came before number n is known without counting. Pure.
import { mix as hashed } from '../../base/random.js'
import { mixPattern } from './template.js'

/** @import { MixCommand, MixOperation } from './mix.js' */

const places = 65_536

/** How many places each command has: its share, at least one. @param {readonly number[]} shares */
export const placesOfShares = (shares) => {
  const whole = shares.reduce((sum, share) => sum + share, 0)
  const exact = shares.map((share) => (share / whole) * places)
  const counts = exact.map((one) => Math.max(1, Math.floor(one)))
  const order = exact.map((one, i) => ({ i, rest: one - counts[i] })).sort((a, b) => b.rest - a.rest)
  let left = places - counts.reduce((sum, n) => sum + n, 0)
  for (let k = 0; left > 0; k++, left--) counts[order[k % order.length].i]++
  for (; left < 0; left++) counts[counts.indexOf(Math.max(...counts))]--
  return counts
}

/** @param {readonly MixOperation[]} operations @param {number} seed */
export const mixScheduleOf = (operations, seed) => {
  // Each at a drawn moment of its turn: no command runs ahead of another by more than one. A moment and its command are
  // one number, as numbers are sorted ten times as fast as objects.
  const turns = new Float64Array(places)
  const salt = hashed(seed)
  let next = 0
  for (const [kind, count] of placesOfShares(operations.map(({ share }) => share)).entries())
    for (let i = 0; i < count; i++) {
      const at = (i + hashed(salt ^ (kind * places + i)) / 2 ** 32) / count
      turns[next++] = Math.floor(at * 2 ** 37) * places + kind
    }
  const table = Uint16Array.from(turns.sort(), (turn) => turn % places)
  /** @type {Map<string, Uint32Array>} */
  const counted = new Map()
  const countsOf = (/** @type {string} */ placeholder, /** @type {string} */ pattern) => {
    const isNamed = (/** @type {MixCommand} */ { args, keyArgs }) =>
      args.some(
        (parts, i) =>
          keyArgs.has(i) &&
          mixPattern(parts) === pattern &&
          parts.some((part) => typeof part === 'object' && part.name === placeholder),
      )
    const names = operations.map(({ commands }) => commands.some(isNamed))
    const sums = new Uint32Array(places + 1)
    for (let i = 0; i < places; i++) sums[i + 1] = sums[i] + (names[table[i]] ? 1 : 0)
    return sums
  }
  return {
    /** The kind of each command in turn. */
    picks: () => {
      let next = 0
      return () => table[next++ % places]
    },
    /** How many operations before number n name a key of the pattern so. @param {string} placeholder @param {string} pattern */
    before: (placeholder, pattern) => {
      const name = `${placeholder} ${pattern}`
      const sums = counted.get(name) ?? countsOf(placeholder, pattern)
      counted.set(name, sums)
      return (/** @type {number} */ n) => Math.floor((n - 1) / places) * sums[places] + sums[(n - 1) % places]
    },
  }
}
