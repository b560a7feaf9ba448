// Which boxes are there before a run begins, and which are missing: one decision, which the leader makes from the boxes'
// descriptions.
import { rangesText } from '../base/ranges.js'
import { period, several } from '../base/units.js'
import { leaseKey } from '../servers/leases.js'

/**
 * @import { Control } from './control.js'
 *
 * @typedef {object} BoxDescription what a box says of itself
 * @property {string} id
 * @property {'producer' | 'consumer'} kind
 * @property {readonly number[]} agents numbers of its writers, or readers
 * @property {string} host
 * @property {number} pid
 * @property {string} version of Millrace
 * @property {number} cores
 * @property {number} offset_ms how far the control's clock is ahead of its own
 * @property {number} uncertainty_ms
 * @property {boolean} ready
 *
 * @typedef {Readonly<{ start: true, missing: readonly number[] } | { refused: string } | { wait: true }>} Decision
 */

/** Leaves out texts of other programs. @param {Record<string, string>} texts @returns {BoxDescription[]} */
export const descriptionsIn = (texts) =>
  Object.values(texts).flatMap((text) => {
    try {
      const description = JSON.parse(text)
      return Array.isArray(description?.agents) && typeof description.id === 'string' ? [description] : []
    } catch {
      return []
    }
  })

/** The boxes that hold the leases of their numbers. @param {readonly BoxDescription[]} descriptions @param {readonly (string | null)[]} holders texts of leases */
const liveBoxes = (descriptions, holders) => {
  const tokens = holders.flatMap((text) => {
    try {
      return JSON.parse(text ?? 'null')?.token ?? []
    } catch {
      return []
    }
  })
  return descriptions.filter(({ id }) => tokens.includes(id))
}

/** Readers share no numbers with the writers. */
export const readersName = 'run'

/** Keys of all numbers of a run. @param {string} head @param {number} writers @param {number} readers */
const leasesIn = (head, writers, readers) => {
  const keysOf = (/** @type {number} */ totalAgents, /** @type {string} */ name) =>
    Array.from({ length: totalAgents }, (_, i) =>
      leaseKey({ prefix: head, totalAgents, ...(name && { readers: name }) }, i + 1),
    )
  return [...keysOf(writers, ''), ...keysOf(readers, readersName)]
}

/** How many readers a run has. @param {string | null | undefined} text of what they share */
export const readersIn = (text) => Number(text ? JSON.parse(text).totalAgents : 0)

/** The boxes' descriptions, and the boxes that hold the numbers now. @param {Control} control @param {number} writers */
export const liveNow = async ({ keys, client, boxes, holders }, writers) => {
  const readers = readersIn(await client.hget(keys.run, 'readers'))
  const [texts, leases] = await Promise.all([boxes(), holders(leasesIn(keys.head, writers, readers))])
  const descriptions = descriptionsIn(texts)
  return { descriptions, live: liveBoxes(descriptions, leases) }
}

/**
 * @param {object} known
 * @param {readonly BoxDescription[]} known.live boxes that hold leases
 * @param {number} known.writers
 * @param {number} known.waitedMs since the first box joined
 * @param {number} known.withinMs
 * @param {boolean} known.partial may begin without all of them
 * @returns {Decision}
 */
export const decisionOf = ({ live, writers, waitedMs, withinMs, partial }) => {
  const there = new Set(
    live.flatMap(({ kind, ready, agents }) => (kind === 'producer' && ready ? agents : [])),
  )
  const missing = Array.from({ length: writers }, (_, i) => i + 1).filter((n) => !there.has(n))
  if (missing.length === 0) return { start: true, missing }
  if (waitedMs < withinMs) return { wait: true }
  if (partial && there.size > 0) return { start: true, missing }
  const unready = live.filter(({ kind, ready }) => kind === 'producer' && !ready)
  const slow = unready.length > 0 ? `; not ready: ${unready.map(({ host }) => host).join(', ')}` : ''
  return {
    refused: `after ${period(withinMs)} (--join-within) ${several(there.size, 'writer')} of ${writers} ${there.size === 1 ? 'is' : 'are'} ready, and ${missing.length === 1 ? 'writer' : 'writers'} ${rangesText(missing)} ${missing.length === 1 ? 'is' : 'are'} missing${slow}; start them, or begin without them with --partial`,
  }
}
