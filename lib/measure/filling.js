// When a queue will be full, by how it fills: a straight line through what was seen until a quarter of it was, and the moment in
// which the first job was refused. A clock is handed in with each look; times are milliseconds of the run.

/**
 * @typedef {object} Filling
 * @property {number | null} predicted_ms when it would be full
 * @property {number | null} predicted_at_ms when that was known
 * @property {number | null} full_ms the first refusal
 */

const enough = 0.25
const leastSamples = 3

export const fillingOf = () => {
  const samples = /** @type {{ atMs: number, part: number }[]} */ ([])
  /** @type {Filling} */
  const filling = { predicted_ms: null, predicted_at_ms: null, full_ms: null }

  const predict = () => {
    const mean = (/** @type {(one: typeof samples[number]) => number} */ of) =>
      samples.reduce((sum, one) => sum + of(one), 0) / samples.length
    const [midMs, midPart] = [mean(({ atMs }) => atMs), mean(({ part }) => part)]
    const slope =
      mean(({ atMs, part }) => (atMs - midMs) * (part - midPart)) / mean(({ atMs }) => (atMs - midMs) ** 2)
    return slope > 0 ? midMs + (1 - midPart) / slope : null
  }
  return {
    filling,
    /** @param {number} atMs @param {number} part of its limit */
    look(atMs, part) {
      if (filling.predicted_at_ms !== null || filling.full_ms !== null) return
      samples.push({ atMs, part })
      if (part < enough || samples.length < leastSamples) return
      filling.predicted_ms = predict()
      filling.predicted_at_ms = atMs
    },
    /** @param {number} atMs */
    refused(atMs) {
      filling.full_ms ??= atMs
    },
  }
}
