// The values for the variable parts of a tick's commands.

/** @import { TickValues } from '../wire/encode.js' */

/** @param {number} epochMs @param {number} ttlS @returns {TickValues} */
export const tickValues = (epochMs, ttlS) => ({
  score: String(epochMs),
  stamp: String(epochMs),
  minute: String(Math.floor(epochMs / 60_000)),
  floor: String(epochMs - ttlS * 1000),
  due: String(epochMs * 1000),
})
