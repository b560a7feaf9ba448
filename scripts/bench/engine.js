// What an operation costs in the client alone: every load over sockets in memory, in a process of its own. Beside another
// checkout at the same moment, so that whatever else the machine does slows both, 3 % show that no test would notice.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { OptionError } from '../../lib/base/errors.js'
import { loads } from './engine-loads.js'
import { digits, median } from './room.js'

/** @import { Case, Room } from './room.js' */

const run = promisify(execFile)
const here = fileURLToPath(new URL('../..', import.meta.url))
const most = 1.03

const scriptOf = (/** @type {string} */ checkout) => join(resolve(checkout), 'scripts/bench/engine-loads.js')

/** @param {string} checkout @param {string} name @param {Room} room */
const nanoseconds = async (checkout, name, { seconds }) => {
  const { stdout } = await run(process.execPath, [scriptOf(checkout), name, String(seconds(6) * 500)])
  return Number(stdout)
}

/** @param {string | null} against folder of another checkout @returns {Case[]} */
export const engineCases = (against) => {
  if (against !== null && !existsSync(scriptOf(against)))
    throw new OptionError(`--against ${against}: no scripts/bench/engine-loads.js there`)
  return Object.keys(loads).map((name) => ({
    name: `engine: ${name}`,
    /** @returns {Promise<Record<string, number>>} */
    async round(room) {
      const sides = against === null ? { ours: here } : { ours: here, theirs: against }
      const played = Object.entries(sides).map(async ([side, checkout]) => [
        side,
        await nanoseconds(checkout, name, room),
      ])
      return Object.fromEntries(await Promise.all(played))
    },
    rows({ ours, theirs }) {
      const what = `${name}: CPU an operation, ns`
      if (!theirs) return [{ name: what, limit: 'no bar', figure: digits(median(ours), 0), met: null }]
      const ratio = median(ours.map((value, i) => value / theirs[i]))
      return [
        {
          name: `${what} (${digits(median(ours), 0)}) to that of ${against} (${digits(median(theirs), 0)})`,
          limit: `${most} or less`,
          figure: digits(ratio, 3),
          met: ratio <= most,
        },
      ]
    },
  }))
}
