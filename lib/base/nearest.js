// 'Did you mean ...?'

/**
 * The name that was probably meant.
 * @param {string} name
 * @param {string[]} names
 * @returns {string | undefined}
 */
export function nearest(name, names) {
  const [best] = names
    .filter((candidate) => candidate.length > 1)
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)
  if (best && best.distance <= Math.max(1, name.length / 3)) return best.candidate
  const stem = name.replace(/s$/, '')
  return stem.length > 2 ? names.find((candidate) => candidate.startsWith(stem)) : undefined
}

/**
 * Letters to add, remove or replace; two neighbours in the wrong order are one.
 * @param {string} a
 * @param {string} b
 */
function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  let before = row
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        row[j] + 1,
        next[j - 1] + 1,
        row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwapped ? before[j - 2] + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = row
    row = next
  }
  return row[b.length]
}
