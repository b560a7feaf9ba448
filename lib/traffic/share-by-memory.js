// The share of hits by memory, between the points of a miss ratio curve. Pure.

/** @typedef {readonly (readonly [bytes: number, pct: number])[]} Rising both rise */

/** Shares of a sample may fall by a little where they do not rise. @param {readonly { memory_bytes: number, policy_pct: number | null, lru_pct: number }[]} points @returns {Rising} */
export const risingOf = (points) => {
  let most = 0
  return points.map(({ memory_bytes: at, policy_pct, lru_pct }) => {
    most = Math.max(most + 1e-3, policy_pct ?? lru_pct)
    return [at, most]
  })
}

/**
 * Percent of the hits by memory, and back: a smooth line through the points that rises as they do, over the logarithm of the memory.
 * @param {{ points: Rising }} curve
 */
export const shareOver = ({ points }) => {
  const xs = points.map(([bytes]) => Math.log(bytes))
  const ys = points.map(([, pct]) => pct)
  const steps = xs.slice(1).map((x, i) => (ys[i + 1] - ys[i]) / (x - xs[i]))
  // Monotone by Fritsch and Butland: no slope is above what keeps the line between its points.
  const slopes = xs.map((_, i) => {
    const [before, after] = [steps[i - 1] ?? steps[i], steps[i] ?? steps[i - 1]]
    return before * after <= 0 ? 0 : (2 * before * after) / (before + after)
  })
  const at = (/** @type {number} */ bytes) => {
    const x = Math.log(bytes)
    const last = xs.length - 1
    if (x <= xs[0]) return ys[0] + (x - xs[0]) * steps[0]
    if (x >= xs[last]) return ys[last] + (x - xs[last]) * Math.max(1e-3, steps[last - 1])
    const i =
      Math.max(
        1,
        xs.findIndex((one) => one >= x),
      ) - 1
    const h = xs[i + 1] - xs[i]
    const t = (x - xs[i]) / h
    return (
      ys[i] * (1 + 2 * t) * (1 - t) ** 2 +
      ys[i + 1] * t * t * (3 - 2 * t) +
      h * (slopes[i] * t * (1 - t) ** 2 - slopes[i + 1] * t * t * (1 - t))
    )
  }
  return {
    at,
    /** @param {number} pct */
    bytesFor(pct) {
      let [low, high] = [xs[0] - 2, xs[xs.length - 1] + 2]
      for (let step = 0; step < 50; step++) {
        const middle = (low + high) / 2
        if (at(Math.exp(middle)) < pct) low = middle
        else high = middle
      }
      return Math.exp(high)
    },
  }
}
