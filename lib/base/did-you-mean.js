/**
 * Whether so many edits make b of a: a letter added, removed or replaced, or two neighbours swapped.
 * @type {(a: string, b: string, edits: number) => boolean}
 */
const isWithin = (a, b, edits) => {
  if (a === '' || b === '') return a.length + b.length <= edits
  if (a[0] === b[0]) return isWithin(a.slice(1), b.slice(1), edits)
  const isSwapped = a[0] === b[1] && a[1] === b[0]
  const steps = [[1, 0], [0, 1], [1, 1], ...(isSwapped ? [[2, 2]] : [])]
  return edits > 0 && steps.some(([i, j]) => isWithin(a.slice(i), b.slice(j), edits - 1))
}

/** The name that was probably meant. @param {string} name @param {readonly string[]} names */
const nearest = (name, names) => {
  const whole = names.find((one) => one.endsWith(`.${name}`))
  if (whole) return whole
  // Of names with one letter, each is one edit from every other.
  const known = names.filter((one) => one.length > 1 || name.length === 1)
  for (let edits = 0; edits <= Math.min(4, Math.max(1, name.length / 3)); edits++) {
    const like = known.find((one) => isWithin(name, one, edits))
    if (like) return like
  }
  const stem = name.replace(/s$/, '')
  return stem.length > 2 ? names.find((one) => one.startsWith(stem)) : undefined
}

/**
 * The end of a message about an unknown name; empty if no known name is like it.
 * @param {string} name @param {readonly string[]} names those that are known
 * @param {(like: string) => string} [written] how the message writes a name
 */
export const didYouMean = (name, names, written = (like) => like) => {
  const like = nearest(name, names)
  return like ? `; did you mean ${written(like)}?` : ''
}

/**
 * The same where other programs have words of their own for a name.
 * @param {string} name @param {readonly string[]} names @param {Readonly<Record<string, string>>} elsewhere
 */
export const nameHint = (name, names, elsewhere) => {
  const word = name.toLowerCase()
  const meant = Object.hasOwn(elsewhere, word) ? elsewhere[word] : ''
  return names.includes(meant.split(' ', 1)[0]) ? `; for ${name} take ${meant}` : didYouMean(name, names)
}
