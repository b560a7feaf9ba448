// The sending thread beside the least that a Node program takes for the same bytes, and the process at next to no load.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { digits, median, start } from './room.js'
import { onServer } from './yardstick.js'

/** @import { Case } from './room.js' */

const run = promisify(execFile)
const program = fileURLToPath(new URL('floor-writer.js', import.meta.url))
const batches = 10
// What runs ten times a second is compiled in the first half minute.
const warmUpS = 30

/** @param {number} rateHz @param {number} warmUpS @param {number} seconds @param {number} [pings] a second */
const floorOf = (rateHz, warmUpS, seconds, pings = 0) =>
  onServer(async ({ port }) => {
    const args = [port, rateHz, batches, warmUpS, seconds, pings].map(String)
    const found = JSON.parse((await run(process.execPath, [program, ...args])).stdout)
    if (!found.is_whole) throw new Error('the server did not answer everything that the floor has sent')
    return found
  })

/** @param {number} rateHz @returns {Case} */
const floorAt = (rateHz) => ({
  name: `sending thread and floor, ${digits(rateHz)}/s`,
  async round(room) {
    const seconds = room.seconds(20)
    const load = ['-q', String(rateHz), '-c', String(batches), '--idle-cost', 'never']
    const { client, rate } = await start(room, 'producer.js', [
      ...[...load, '--warm-up', String(warmUpS), '--duration', String(seconds + warmUpS)],
    ]).ended
    const ours = (client.thread_cpu_pct * 1e4) / rate.achieved
    const { cpu_us: floor } = await floorOf(rateHz, warmUpS, seconds)
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
})

/** @type {Case} */
const idleCase = {
  name: '100 items/s',
  async round(room) {
    const seconds = room.seconds(60)
    // What runs ten times a second, or once, is compiled in the first minute; later seconds take less.
    const idleWarmUpS = 60
    const load = [
      '-q',
      '100',
      '-c',
      String(batches),
      '--idle-cost',
      'never',
      '--warm-up',
      String(idleWarmUpS),
    ]
    const { client } = await start(room, 'producer.js', [
      ...load,
      '--duration',
      String(seconds + idleWarmUpS),
    ]).ended
    // As the bystander sends.
    const { process_pct: floor } = await floorOf(100, idleWarmUpS, seconds, 50)
    return { process: client.cpu_pct, thread: client.thread_cpu_pct, floor }
  },
  rows: ({ process: whole, thread, floor }) => [
    {
      name: `CPU at 100 items/s in ten batches, of one core (sending thread ${digits(median(thread))} %)`,
      limit: '1.5 % or less',
      figure: `${digits(median(whole))} %`,
      met: median(whole) <= 1.5,
    },
    {
      name: 'the least Node program for the same bytes and PINGs',
      limit: 'no bar',
      figure: `${digits(median(floor))} %`,
      met: null,
    },
  ],
}

export const floorCases = [floorAt(50_000), floorAt(200_000), idleCase]
