// Lifetimes of items: one for all, or uniform between two. A pure function of an item's number and the seed.
import { mix } from '../base/random.js'

/** @typedef {{ ttlS: number, ttlLeastS?: number | null, seed: number }} LifetimeFields ttlLeastS: null: all have ttlS */

const salt = 0x2c1b3c6d
const saltOfAge = 0x71e4d9

/** The shortest, in seconds. @param {Omit<LifetimeFields, 'seed'>} fields */
export const shortestS = ({ ttlS, ttlLeastS = null }) => ttlLeastS ?? ttlS

/** Seconds of item n. @param {LifetimeFields} fields @returns {(n: number) => number} */
export const lifetimeOf = ({ ttlS, ttlLeastS = null, seed }) => {
  if (ttlLeastS === null) return () => ttlS
  const own = mix(mix(seed) ^ salt)
  const span = ttlS - ttlLeastS + 1
  return (n) => ttlLeastS + Math.floor((mix(mix(n) ^ own) / 2 ** 32) * span)
}

/** Seconds that item n has left where it was written at any time of its lifetime, at least one. @param {LifetimeFields} fields @returns {(n: number) => number} */
export const leftOf = (fields) => {
  const lifetime = lifetimeOf(fields)
  const own = mix(mix(fields.seed) ^ saltOfAge)
  return (n) => 1 + Math.floor((mix(mix(n) ^ own) / 2 ** 32) * lifetime(n))
}

/** `3 s`, `60 to 600 s` @param {Omit<LifetimeFields, 'seed'>} fields */
export const lifetimeWords = ({ ttlS, ttlLeastS = null }) =>
  ttlLeastS === null ? `${ttlS} s` : `${ttlLeastS} to ${ttlS} s`

/** As --ttl has it. @param {Omit<LifetimeFields, 'seed'>} fields */
export const typedLifetime = ({ ttlS, ttlLeastS = null }) =>
  ttlLeastS === null ? `${ttlS}s` : `${ttlLeastS}s-${ttlS}s`
