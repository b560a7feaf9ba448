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
