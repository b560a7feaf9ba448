// Which items the writers of a process have, and at which rate they write them.
import { agentRange } from '../base/ranges.js'

/** @import { Settings } from '../../settings.js' */

// The smallest spacing that a timer of Node keeps; shorter ones bunch up.
const smoothSpacingMs = 5

/**
 * Into how many equal parts an interval is cut: as asked, or for smooth pacing as many as the timer allows.
 * @param {Pick<Settings, 'pacing' | 'periodMs' | 'chunks'>} settings
 * @param {number} smallestShare
 */
export const chunksOf = ({ pacing, periodMs, chunks }, smallestShare) =>
  pacing === 'smooth'
    ? Math.max(chunks, Math.min(smallestShare, Math.floor(periodMs / smoothSpacingMs)), 1)
    : chunks

/** @param {Pick<Settings, 'quantity' | 'totalAgents' | 'periodMs' | 'rate'>} settings @param {readonly number[]} numbers of the writers */
export const sharedAmong = ({ quantity, totalAgents, periodMs, rate }, numbers) => {
  const agents = numbers.map((agent) => ({ agent, ...agentRange(quantity, totalAgents, agent) }))
  const items = agents.reduce((sum, { count }) => sum + count, 0)
  return { nominalHz: rate === 'max' ? null : (items * 1000) / periodMs, items, agents }
}
