// The sending thread beside the least that a Node program takes for the same bytes.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { digits, median, start } from './room.js'
import { onServer } from './yardstick.js'

/** @import { Case } from './room.js' */

const run = promisify(execFile)
const program = fileURLToPath(new URL('floor-writer.js', import.meta.url))
const rateHz = 50_000
const batches = 10

/** @type {Case} */
export const floorCase = {
  name: 'sending thread and floor',
  async round(room) {
    const seconds = room.seconds(20)
    const load = ['-q', String(rateHz), '-c', String(batches), '--idle-cost', 'never']
    const { client, rate } = await start(room, 'producer.js', [
      ...[...load, '--warm-up', '2', '--duration', String(seconds + 2)],
    ]).ended
    const ours = (client.thread_cpu_pct * 1e4) / rate.achieved
    const floor = await onServer(async ({ port }) => {
      const args = [port, rateHz, batches, seconds].map(String)
      const { cpu_us: us, is_whole: isWhole } = JSON.parse(
        (await run(process.execPath, [program, ...args])).stdout,
      )
      if (!isWhole) throw new Error('the server did not answer everything that the floor has sent')
      return us
    })
    return { ours, floor, ratio: ours / floor, process: client.cpu_us_per_item }
  },
  rows: ({ ours, floor, ratio, process: whole }) => [
    {
      name: `sending thread (${digits(median(ours), 3)} us an item, process ${digits(median(whole), 3)}) / the least for the same bytes (${digits(median(floor), 3)}), ${digits(rateHz)}/s`,
      limit: '1.3 or less',
      figure: digits(median(ratio)),
      met: median(ratio) <= 1.3,
    },
  ],
}
