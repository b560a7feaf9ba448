// A seeded source of random choices (mulberry32): a failing case comes back with its seed.

/** @typedef {ReturnType<typeof seeded>} Random */

/** A standard normal value (Box and Muller). @param {() => number} next */
export const normal = (next) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())

export const seeded = (/** @type {number} */ seed) => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  /** 0..n-1 @param {number} n */
  const below = (n) => Math.floor(next() * n)
  return {
    next,
    below,
    chance: (/** @type {number} */ p) => next() < p,
    /** @template T @param {readonly T[]} list @returns {T} */
    pick: (list) => list[below(list.length)],
    bytes: (/** @type {number} */ length) => Buffer.from(Array.from({ length }, () => below(256))),
    /** @template T @param {T[]} list @returns {T[]} */
    shuffled: (list) => {
      const out = [...list]
      for (let i = out.length - 1; i > 0; i--) {
        const j = below(i + 1)
        const held = out[i]
        out[i] = out[j]
        out[j] = held
      }
      return out
    },
  }
}
