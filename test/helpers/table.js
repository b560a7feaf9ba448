/** The rows of a table of cases, a line each, whose cells stand between arrows; \n in a cell ends a line of it. @param {string} text of String.raw */
export const rowsOf = (text) =>
  text
    .trim()
    .split('\n')
    .map((row) => row.split(' -> ').map((cell) => cell.replaceAll(String.raw`\n`, '\n')))

/**
 * What rows have by these names, one behind the other.
 * @template T
 * @template {keyof T} K
 * @param {readonly T[]} rows
 * @param {K[]} names
 */
export const valuesOf = (rows, ...names) => rows.flatMap((row) => names.map((name) => row[name]))

/** What rows have by these names, 'a 1, b 2': the values of a row behind each other, and the rows. @param {readonly any[]} rows @param {...string} names */
export const columns = (rows, ...names) =>
  rows.map((row) => names.map((name) => String(row[name])).join(' ')).join(', ')

/** 'a=1 b="x" c=[1,2]' as an object, with values in JSON. @param {string} text @returns {any} */
export const fieldsIn = (text) =>
  Object.fromEntries(
    Array.from(text.matchAll(/(\w+)=(\S+)/g), ([, name, value]) => [name, JSON.parse(value)]),
  )

/** A line with what is typed; an option is replaced where the line has it already. @param {string} line @param {string} typed */
export const lineWith = (line, typed) => {
  const options = typed.split(' ').filter((word) => word.startsWith('-'))
  const words = line.split(' ')
  const kept = words.filter(
    (word, i) => !options.includes(word) && !(options.includes(words[i - 1]) && !word.startsWith('-')),
  )
  return [...kept, ...typed.split(' ')].join(' ')
}
