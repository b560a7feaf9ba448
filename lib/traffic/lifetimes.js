// Lifetimes of items: one for all, or uniform between two. A pure function of an item's number and the seed.
import { mix } from '../base/random.js'

/** @typedef {{ ttlS: number, ttlLeastS?: number | null, seed: number }} LifetimeFields ttlLeastS: null: all have ttlS */

const salt = 0x2c1b3c6d

/** The shortest, in seconds. @param {Omit<LifetimeFields, 'seed'>} fields */
export const shortestS = ({ ttlS, ttlLeastS = null }) => ttlLeastS ?? ttlS

/** In seconds. @param {Omit<LifetimeFields, 'seed'>} fields */
export const meanLifetimeS = (fields) => (fields.ttlS + shortestS(fields)) / 2

/** Seconds of item n. @param {LifetimeFields} fields @returns {(n: number) => number} */
export const lifetimeOf = ({ ttlS, ttlLeastS = null, seed }) => {
  if (ttlLeastS === null) return () => ttlS
  const own = mix(mix(seed) ^ salt)
  const span = ttlS - ttlLeastS + 1
  return (n) => ttlLeastS + Math.floor((mix(mix(n) ^ own) / 2 ** 32) * span)
}

/** `3 s`, `60 to 600 s` @param {Omit<LifetimeFields, 'seed'>} fields */
export const lifetimeWords = ({ ttlS, ttlLeastS = null }) =>
  ttlLeastS === null ? `${ttlS} s` : `${ttlLeastS} to ${ttlS} s`

/** As --ttl has it. @param {Omit<LifetimeFields, 'seed'>} fields */
export const typedLifetime = ({ ttlS, ttlLeastS = null }) =>
  ttlLeastS === null ? `${ttlS}s` : `${ttlLeastS}s-${ttlS}s`
