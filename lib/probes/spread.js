// How far a repeat of a run may come out from it: what its seconds show, and what they do not. Pure.
import { exactly, pair } from '../base/typed.js'

/**
 * @typedef {readonly [cpuS: number, items: number]} Part CPU of a node in a time, and items that were stored in it
 * @typedef {{ size: number, of: readonly Part[], open: readonly Part[] }} Parts blocks of `size` seconds in their order, and seconds that
 *   do not fill a block yet
 */

// Blocks of a long run are of several seconds: 64 at most are kept.
const mostBlocks = 64
const fewestBlocks = 3
// Two runs one after the other are up to this much further apart than their seconds explain (docs/method.md).
const betweenRuns = 0.05

const sumOf = (/** @type {readonly Part[]} */ parts) =>
  parts.reduce((/** @type {Part} */ [cpuS, items], part) => pair(cpuS + part[0], items + part[1]), pair(0, 0))

/** Blocks of twice the length. @param {Parts} parts @returns {Parts} */
const halved = ({ size, of, open }) => {
  const half = of.length >> 1
  const pairs = Array.from({ length: half }, (_, at) => sumOf(of.slice(2 * at, 2 * at + 2)))
  return { size: size * 2, of: pairs, open: [...of.slice(2 * half), ...open] }
}

/** With a second more. @param {Parts | null} parts @param {Part} second @returns {Parts} */
export const withSecond = (parts, second) => {
  const { size, of, open } = parts ?? { size: 1, of: [], open: [] }
  const all = [...open, second]
  if (all.length < size) return { size, of, open: all }
  const more = { size, of: [...of, sumOf(all)], open: [] }
  return more.of.length < mostBlocks ? more : halved(more)
}

/** One after the other: of a node that two boxes watched in turn. @param {Parts} first @param {Parts} then @returns {Parts} */
export const joined = (first, then) => {
  let [one, other] = [first, then]
  while (one.size < other.size) one = halved(one)
  while (other.size < one.size) other = halved(other)
  const all = { size: one.size, of: [...one.of, ...other.of], open: [] }
  return all.of.length < mostBlocks ? all : halved(all)
}

/** Of nodes that were watched in the same seconds; null: they were not. @param {readonly Parts[]} nodes @returns {Parts | null} */
export const sideBySide = (nodes) => {
  const [first] = nodes
  if (!first || nodes.some(({ size, of }) => size !== first.size || of.length !== first.of.length))
    return null
  const items = (/** @type {number} */ at) => Math.max(...nodes.map(({ of }) => of[at][1]))
  const of = first.of.map((_, at) =>
    exactly([nodes.reduce((sum, node) => sum + node.of[at][0], 0), items(at)]),
  )
  return { size: first.size, of, open: [] }
}

/** The 97.5 % quantile of Student's t, within 1 % from 4 degrees of freedom on. @param {number} free */
const studentT = (free) => 1.96 + 2.4 / free + 2.8 / free ** 2

/**
 * Half of the 95 % interval of a repeat, as a part of the CPU per item. Blocks follow each other, so what one has too much the next
 * may have too: covariances up to the root of their number count (Newey and West). The machine changes from run to run as much as
 * from block to block.
 * @param {Parts | null} parts
 * @returns {number | null} null: too short to be known
 */
export const repeatShare = (parts) => {
  const blocks = parts?.of.filter(([, items]) => items > 0) ?? []
  const n = blocks.length
  if (n < fewestBlocks) return null
  const [cpuS, items] = sumOf(blocks)
  if (!(cpuS > 0)) return null
  const off = blocks.map(([cpu, stored]) => cpu - (cpuS / items) * stored)
  const covariance = (/** @type {number} */ lag) =>
    off.slice(lag).reduce((sum, one, at) => sum + one * off[at], 0) / n
  const own = covariance(0)
  const lags = Math.min(n - 1, Math.max(1, Math.floor(Math.sqrt(n))))
  const longRun = Array.from(
    { length: lags },
    (_, at) => 2 * (1 - (at + 1) / (lags + 1)) * covariance(at + 1),
  ).reduce((sum, one) => sum + one, own)
  const ofMean = (studentT(n - 1) * n * Math.sqrt(Math.max(longRun, own / 4) / (n - 1))) / cpuS
  const ofRuns = (n * Math.sqrt(own)) / cpuS
  return Math.hypot(ofMean, ofRuns, betweenRuns)
}
