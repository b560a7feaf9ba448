// Parts of README.md and docs/ that a program writes are between two marks.

/**
 * A text with what stands between two marks written anew.
 * @param {string} text
 * @param {string} name of the marks
 * @param {string} part
 */
export const between = (text, name, part) => {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const from = text.indexOf(start)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the page lacks ${start} or ${end}`)
  return `${text.slice(0, from + start.length)}\n\n${part}\n\n${text.slice(to)}`
}
