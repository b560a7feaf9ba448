/** Counts of several, added up by name. @param {readonly Record<string, number>[]} counts */
export const sums = (counts) => {
  /** @type {Record<string, number>} */
  const total = {}
  for (const each of counts) for (const name in each) total[name] = (total[name] ?? 0) + each[name]
  return total
}

/** @param {readonly number[]} values */
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
