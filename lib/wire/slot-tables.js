// Memory of the table that a server in a cluster keeps for each slot with a key. Pure.
import { slotCount } from './slot.js'

// Measured with SETEX of one key in each of 4,096 slots, less a second key in each; given back with the last key.
// Redis 8 keeps a histogram of key sizes for each slot besides. 6.2 and 7.0: none.
const slotBytes = { redis8: 2680, redis74: 200, valkey9: 360, valkey8: 220 }

/** @param {string} version as the target reports it: '8.2.3', 'valkey 9.1.2' */
export const slotTableBytes = (version) => {
  const [, name, major, minor] = /^(?:(\w+) )?(\d+)\.(\d+)/.exec(version) ?? []
  const number = Number(major) + Number(minor) / 100
  if (name === 'valkey') return number >= 9 ? slotBytes.valkey9 : number >= 8 ? slotBytes.valkey8 : 0
  return number >= 8 ? slotBytes.redis8 : number >= 7.04 ? slotBytes.redis74 : 0
}

/** How many of these slots have a key if keys are uniform over all slots. @param {number} slots @param {number} keys */
export const slotsUsed = (slots, keys) => slots * (1 - (1 - 1 / slotCount) ** keys)
