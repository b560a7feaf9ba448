// 'Did you mean ...?'

/**
 * Letters to add, remove or replace; two neighbours in the wrong order are one.
 * @param {string} a
 * @param {string} b
 */
const editDistance = (a, b) => {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const [before, row] = [rows[i - 1], [i]]
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        ...[before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)],
        ...(isSwapped && i > 1 && j > 1 ? [rows[i - 2][j - 2] + 1] : []),
      )
    }
    rows.push(row)
  }
  return rows[a.length][b.length]
}

/**
 * The name that was probably meant.
 * @param {string} name
 * @param {readonly string[]} names
 * @returns {string | undefined}
 */
export const nearest = (name, names) => {
  const [best] = names
    .filter((candidate) => candidate.length > 1)
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)
  if (best && best.distance <= Math.max(1, name.length / 3)) return best.candidate
  const stem = name.replace(/s$/, '')
  return stem.length > 2 ? names.find((candidate) => candidate.startsWith(stem)) : undefined
}
