// How well a sample fits the distribution that it should be from. Seeds are fixed, so a test that passes always does.

/** 0.1 % of all samples of a distribution are farther from it. @param {number} samples */
export const ksLimit = (samples) => 1.95 / Math.sqrt(samples)

/** The Kolmogorov-Smirnov distance. @param {readonly number[]} sample @param {(x: number) => number} below the probability of values up to x */
export const ksDistance = (sample, below) => {
  const sorted = [...sample].sort((a, b) => a - b)
  let distance = 0
  for (const [i, x] of sorted.entries()) {
    const p = below(x)
    distance = Math.max(distance, Math.abs(p - i / sorted.length), Math.abs(p - (i + 1) / sorted.length))
  }
  return distance
}

/**
 * Chi-square as standard deviations of the normal distribution (Wilson and Hilferty); 0.1 % of all samples are above 3.1.
 * Those that are expected less than ten times are taken together.
 * @param {ArrayLike<number>} found
 * @param {ArrayLike<number>} expected
 */
export const chiSquare = (found, expected) => {
  let [chi, freedom, rare, counted] = [0, -1, 0, 0]
  const add = () => {
    chi += (counted - rare) ** 2 / rare
    freedom++
    rare = 0
    counted = 0
  }
  for (let i = 0; i < expected.length; i++) {
    rare += expected[i]
    counted += found[i]
    if (rare >= 10) add()
  }
  if (rare > 0) add()
  const spread = 2 / (9 * freedom)
  return { z: ((chi / freedom) ** (1 / 3) - (1 - spread)) / Math.sqrt(spread), freedom }
}
