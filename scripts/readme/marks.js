// Generated parts of README.md and docs/ are between two comments: <!-- name:start --> and <!-- name:end -->.
import { posix } from 'node:path'

/** @param {string} page @param {string} name @param {string} file for the complaint */
const placeOf = (page, name, file) => {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const from = page.indexOf(start)
  const to = page.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${file} lacks ${start} or ${end}`)
  return { from: from + start.length, to }
}

/**
 * The page with the part between two marks replaced.
 * @param {string} page
 * @param {string} name of the marks
 * @param {string} part
 * @param {string} [file]
 */
export const between = (page, name, part, file = 'the page') => {
  const { from, to } = placeOf(page, name, file)
  return `${page.slice(0, from)}\n\n${part}\n\n${page.slice(to)}`
}

/**
 * A part whose links start at the root of the repository, with links that start at its page.
 * @param {string} file of the page
 * @param {string} part
 */
export const linkedFrom = (file, part) =>
  part.replaceAll(
    /(\]\(|(?:src|srcset)=")((?:docs|charts)\/[^)"]+)/g,
    (_, before, target) => before + posix.relative(posix.dirname(file), target),
  )
