// Which items the writers of a process have, and at which rate they write them.
import { agentRange } from '../base/ranges.js'

/** @import { Settings } from '../../settings.js' */

/** @param {Pick<Settings, 'quantity' | 'totalAgents' | 'periodMs' | 'rate'>} settings @param {readonly number[]} numbers of the writers */
export const sharedAmong = ({ quantity, totalAgents, periodMs, rate }, numbers) => {
  const agents = numbers.map((agent) => ({ agent, ...agentRange(quantity, totalAgents, agent) }))
  const items = agents.reduce((sum, { count }) => sum + count, 0)
  return { nominalHz: rate === 'max' ? null : (items * 1000) / periodMs, items, agents }
}
