/**
 * The rows of a table of cases, a line each, whose cells stand between arrows; \n in a cell ends a line of it.
 * @param {string} text of String.raw
 */
export const rowsOf = (text) =>
  text
    .trim()
    .split('\n')
    .map((row) => row.split(' -> ').map((cell) => cell.replaceAll(String.raw`\n`, '\n')))
