// Cells of a calibration, the points that are measured: a short D-optimal design of points drawn by seed, so that a dozen
// cells separate the terms of a model, and held-out points, drawn by seed too. Pure.
import { inverse, Matrix } from 'ml-matrix'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { mix } from '../../base/random.js'

/**
 * @typedef {object} Cell
 * @property {number} items that the structure holds, all written in each interval
 * @property {number} valueBytes
 * @property {number} members items in a command, at most
 * @property {number} connections
 *
 * @typedef {Record<keyof Cell, [least: number, most: number]>} Ranges
 */

/** @type {Readonly<Ranges>} */
export const ranges = Object.freeze({
  items: [1000, 1_000_000],
  valueBytes: [3, 10_000],
  members: [1, 1000],
  connections: [1, 8],
})

// The data set must fit a small server, and the interval must not take too long.
const mostBytes = 400e6
const longestIntervalS = 7
const busiest = 0.35
const fastestHz = 60_000
const besideValue = 300

/** Seconds of a server's main thread for an item, roughly. @param {Cell} cell */
const roughS = ({ items, valueBytes, members }) =>
  (0.7 * (1 + 1 / members) + 0.0006 * valueBytes + 0.06 * Math.log2(items)) / 1e6

/** Items a second: few enough for any machine, and enough to write all of them in an interval. @param {Cell} cell */
export const rateOfCell = (cell) =>
  Math.max(Math.min(fastestHz, 0.2 / roughS(cell)), cell.items / longestIntervalS)

/** @param {Cell} cell */
const isPossible = (cell) =>
  cell.items * (cell.valueBytes + besideValue) <= mostBytes && rateOfCell(cell) * roughS(cell) <= busiest

/** A source of numbers in [0, 1). @param {number} seed */
const drawsFrom = (seed) => {
  const random = xoroshiro128plus(mix(seed))
  return () => (random.next() >>> 0) / 2 ** 32
}

/** A point, each factor uniform on a logarithmic scale. @param {() => number} next @param {Ranges} within @returns {Cell} */
const drawn = (next, within) => {
  for (;;) {
    const cell = /** @type {Cell} */ (
      Object.fromEntries(
        Object.entries(within).map(([name, [least, most]]) => [
          name,
          Math.round(least * (most / least) ** next()),
        ]),
      )
    )
    if (isPossible(cell)) return cell
  }
}

/** Points of the whole range, by seed. @param {number} seed @param {number} count @param {Ranges} [within] */
export const heldOut = (seed, count, within = ranges) => {
  const next = drawsFrom(seed ^ 0x68656c64)
  return Array.from({ length: count }, () => drawn(next, within))
}

/** The columns of a cost model for a cell, as parts of the cost. @param {Cell} cell */
const columns = (cell) => {
  const { items, valueBytes, members } = cell
  const cost = roughS(cell) * 1e6
  const kb = valueBytes / 1000
  return [1, 1 / members, kb, Math.log2(items), kb * Math.log2(items), Math.min(2, kb)].map((x) => x / cost)
}

const candidates = 300
const exchanges = 3

// These cells of a design separate the terms; the others are spread over the range, where a term may be curved.
const designedShare = 2 / 3

/**
 * The most informative cells: each is exchanged for the candidate that makes the determinant of the information largest.
 * The last third is drawn.
 * @param {number} seed
 * @param {number} count
 * @param {Ranges} [within]
 * @returns {Cell[]} in random order
 */
export const designedCells = (seed, count, within = ranges) => {
  const designed = Math.round(count * designedShare)
  const next = drawsFrom(seed ^ 0x64657369)
  const points = Array.from({ length: candidates }, () => drawn(next, within))
  const rows = points.map((point) => Matrix.rowVector(columns(point)))
  const size = rows[0].columns
  /** @param {readonly number[]} chosen @returns {number} the candidate that adds most */
  const best = (chosen) => {
    const information = Matrix.eye(size, size, 1e-9)
    for (const at of chosen) information.add(rows[at].transpose().mmul(rows[at]))
    const variance = inverse(information)
    const gain = (/** @type {number} */ at) =>
      chosen.includes(at) ? -1 : rows[at].mmul(variance).mmul(rows[at].transpose()).get(0, 0)
    return points.reduce((most, _, at) => (gain(at) > gain(most) ? at : most), 0)
  }
  /** @type {number[]} */
  const chosen = []
  while (chosen.length < designed) chosen.push(best(chosen))
  for (let round = 0; round < exchanges; round++)
    for (let i = 0; i < designed; i++) {
      chosen.splice(0, 1)
      chosen.push(best(chosen))
    }
  const others = Array.from({ length: count - designed }, () => drawn(next, within))
  return shuffled([...chosen.map((at) => points[at]), ...others], next)
}

/** @template T @param {readonly T[]} all @param {() => number} next @returns {T[]} */
const shuffled = (all, next) =>
  all
    .map((one) => ({ one, key: next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ one }) => one)

/** In the middle of all ranges: measured repeatedly, it shows drift. @type {Cell} */
export const referenceCell = Object.freeze({ items: 20_000, valueBytes: 200, members: 100, connections: 1 })

const tickMs = 100
const shortestMs = 50
const usualWindowS = 3

/** The options of a run of the cell. @param {Cell} cell @param {{ windowS?: number }} [options] */
export const optionsOfCell = (cell, { windowS = usualWindowS } = {}) => {
  const wholeMs = (cell.items * 1000) / rateOfCell(cell)
  const periodMs =
    wholeMs < tickMs ? Math.max(shortestMs, Math.ceil(wholeMs)) : Math.round(wholeMs / tickMs) * tickMs
  const warmUpMs = periodMs + 500
  return {
    quantity: cell.items,
    valueSize: String(cell.valueBytes),
    maxMembers: cell.members,
    connections: cell.connections,
    period: `${periodMs}ms`,
    chunks: Math.max(1, Math.round(periodMs / tickMs)),
    ttl: `${Math.ceil((3 * periodMs) / 1000) + 30}s`,
    warmUp: `${warmUpMs}ms`,
    duration: `${warmUpMs + windowS * 1000}ms`,
    idleCost: /** @type {const} */ ('never'),
  }
}
