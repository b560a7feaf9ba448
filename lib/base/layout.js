// Text in a given number of columns. Pure, without colour unless asked for.

/** @param {boolean} on */
export const painter = (on) => {
  const ink = (/** @type {number} */ open, /** @type {number} */ close) => (/** @type {string} */ text) =>
    on && text ? `\x1b[${open}m${text}\x1b[${close}m` : text
  return { bold: ink(1, 22), dim: ink(2, 22), red: ink(31, 39), green: ink(32, 39), yellow: ink(33, 39) }
}

/** Shortened in the middle, as the ends tell hosts apart. @param {string} text @param {number} width */
export const shortened = (text, width) => {
  if (text.length <= width) return text
  const tail = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`
}

// Keeps a number with its unit.
const spaces = / (?!(?:%|[µm]?s|[kMGT]?B)(?!\p{L}))/u

/**
 * Lines of at most `width` columns, broken where `gap` is; a piece wider than a line is broken at its
 * spaces, and a word wider than that is cut.
 * @param {string} text
 * @param {number} width
 * @param {string} [gap]
 * @returns {string[]}
 */
export const wrapped = (text, width, gap = ' ') => {
  const pieces = text
    .split(gap === ' ' ? spaces : gap)
    .flatMap((piece) =>
      piece.length <= width ? piece : gap === ' ' ? cut(piece, width) : wrapped(piece, width),
    )
  /** @type {string[]} */
  const lines = []
  for (const piece of pieces) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + gap.length + piece.length <= width)
      lines[lines.length - 1] = line + gap + piece
    else lines.push(piece)
  }
  return lines
}

/** @param {string} word @param {number} width */
const cut = (word, width) =>
  Array.from({ length: Math.ceil(word.length / width) }, (_, at) => word.slice(at * width, (at + 1) * width))

/**
 * A text behind its mark, its further lines under the first.
 * @param {string} mark one column wide, coloured or not
 * @param {string} text
 * @param {number} width
 * @param {string} [indent]
 */
export const marked = (mark, text, width, indent = '  ') =>
  wrapped(text, width - indent.length - 2).map((line, row) => `${indent}${row === 0 ? mark : ' '} ${line}`)

/** A line between blocks of lines; those without any are left out. @param {string[][]} blocks */
export const blocksText = (blocks) =>
  `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => string} cell
 * @property {boolean} [left] aligned left; numbers are aligned right
 * @property {number} [rank] the highest rank leaves first where the width is short; none stays
 * @property {boolean} [whole] of the first column: others leave before it is shortened
 */

/** Shortened cells; those that would look alike are numbered. @param {string[]} cells @param {number} width */
const apart = (cells, width) => {
  const short = cells.map((cell) => shortened(cell, width))
  return cells.map((cell, at) => {
    const alike = [...new Set(cells.filter((_, other) => short[other] === short[at]))]
    if (alike.length === 1) return short[at]
    const number = ` #${alike.indexOf(cell) + 1}`
    return `${shortened(cell, width - number.length)}${number}`
  })
}

/**
 * Rows as aligned columns under their titles. Too wide, the first column is shortened, then columns leave.
 * @template Row
 * @param {Column<Row>[]} columns
 * @param {Row[]} rows
 * @param {number} width
 * @returns {string[]} the titles, then a line a row
 */
export const alignedTable = (columns, rows, width) => {
  const measured = columns.map((column) => {
    const cells = [column.title, ...rows.map(column.cell)]
    return { ...column, cells, width: Math.max(...cells.map((cell) => cell.length)) }
  })
  const excess = () => measured.reduce((sum, column) => sum + column.width + 2, -2) - width
  const first = measured[0]
  const narrow = (/** @type {number} */ floor) => {
    first.width = Math.max(Math.min(floor, first.width), first.width - Math.max(0, excess()))
  }
  if (!first.whole) narrow(24)
  while (excess() > 0) {
    const last = Math.max(...measured.map(({ rank = 0 }) => rank))
    if (last === 0) break
    measured.splice(
      measured.findIndex(({ rank }) => rank === last),
      1,
    )
  }
  narrow(8)
  first.cells = apart(first.cells, first.width)
  const line = (/** @type {number} */ at) =>
    measured
      .map(({ cells, left, width: columnWidth }) => {
        const cell = shortened(cells[at], columnWidth)
        return left ? cell.padEnd(columnWidth) : cell.padStart(columnWidth)
      })
      .join('  ')
      .trimEnd()
  return [...rows.keys(), rows.length].map(line)
}

/**
 * Names at the left, and what is to be read of them wrapped at the right.
 * @param {readonly [left: string, right: string][]} rows
 * @param {number} columns
 */
export const twoColumns = (rows, columns) => {
  const indent = Math.min(26, Math.max(...rows.map(([left]) => left.length)) + 4)
  return rows.flatMap(([left, right]) => {
    const lines = wrapped(right, columns - indent)
    const isLong = left.length + 4 > indent
    const first = isLong
      ? [`  ${left}`, ...lines.splice(0, 1).map((line) => ' '.repeat(indent) + line)]
      : [`  ${left.padEnd(indent - 2)}${lines.shift()}`]
    return [...first, ...lines.map((line) => ' '.repeat(indent) + line)]
  })
}
