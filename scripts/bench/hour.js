// The result of an hour's run of eight boxes, made after their leader was killed: how long it takes, and in how much memory.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { digits, median } from './room.js'
import { onServer } from './yardstick.js'

/** @import { Case } from './room.js' */

const run = promisify(execFile)
const path = fileURLToPath(new URL('../fleet-load.js', import.meta.url))
const boxes = 8
const limits = { seconds: 3, megabytes: 250 }

/** @type {Case} */
export const hourCase = {
  name: `the result of an hour of ${boxes} boxes`,
  round: (room) =>
    onServer(async ({ host, port }) => {
      const load = ['--boxes', String(boxes), '--seconds', String(room.seconds(20)), '--after', '3600']
      const { stdout } = await run(process.execPath, [path, `redis://${host}:${port}`, ...load])
      const { result_s: seconds, rss_mb_max: megabytes } = JSON.parse(stdout)
      return { seconds, megabytes }
    }),
  rows: (figures) =>
    /** @type {const} */ (['seconds', 'megabytes']).map((name) => {
      const most = limits[name]
      const found = median(figures[name])
      return {
        name: `${hourCase.name}: ${name}${name === 'megabytes' ? ' at most, with the boxes in the same process' : ''}`,
        limit: `at most ${most}`,
        figure: digits(found),
        met: found <= most,
      }
    }),
}
