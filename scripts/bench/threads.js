// What it costs to send with more threads at one rate: CPU an item, memory a thread, messages between threads. On a machine
// with as many cores as threads the same CPU an item means that the rate grows with the cores.
import { digits, median, start } from './room.js'

/** @import { Case, Room } from './room.js' */

const counts = [1, 2, 4, 8]
// One thread is busy with it.
const rateHz = 200_000
// Each thread compiles its code for itself, and eight of them have an eighth of the work to find out what is hot.
const warmUpS = 40

/** @param {Room} room @param {number} threads */
const written = async (room, threads) => {
  const seconds = room.seconds(30)
  const load = ['-q', String(rateHz), '-t', '8', '-a', 'all', '-c', '10', '--threads', String(threads)]
  const { ended, counted } = start(room, 'scripts/bench/counted-threads.js', [
    ...[...load, '--duration', String(warmUpS + seconds), '--warm-up', String(warmUpS)],
    ...['--idle-cost', 'never'],
  ])
  const { client, rate, duration_s: durationS } = await ended
  const [, orders, answers] = /threads: (\d+) (\d+)/.exec(counted()) ?? []
  const shares = /** @type {{ cpu_pct: number }[]} */ (
    threads > 1 ? Object.values(client.threads) : [{ cpu_pct: client.thread_cpu_pct }]
  )
  const sendingPct = shares.reduce((sum, { cpu_pct: pct }) => sum + pct, 0)
  return {
    [`cpu ${threads}`]: client.cpu_us_per_item,
    [`sending ${threads}`]: (sendingPct * 1e4) / rate.achieved,
    [`rss ${threads}`]: client.rss_mb_max,
    [`held ${threads}`]: rate.achieved / rate.nominal,
    [`messages ${threads}`]: (Number(orders) + Number(answers)) / durationS / threads,
  }
}

/** @param {(what: string, threads: number) => number} of @param {number} threads */
const cpuWords = (of, threads) =>
  `${digits(of('cpu', threads), 3)} us, of which ${digits(of('sending', threads), 3)} by what sends`

/** @type {Case} */
export const threadsCase = {
  name: 'threads at one rate',
  async round(room) {
    const found = {}
    for (const threads of counts) Object.assign(found, await written(room, threads))
    return found
  },
  rows: (figures) => {
    const of = (/** @type {string} */ what, /** @type {number} */ threads) =>
      median(figures[`${what} ${threads}`])
    // Rounds are pairs: the machine is slower in some.
    const ratio = (/** @type {number} */ threads) =>
      median(figures[`cpu ${threads}`].map((us, round) => us / figures['cpu 1'][round]))
    const several = counts.slice(1)
    return [
      ...several.map((threads) => ({
        name: `client CPU an item with ${threads} threads (${cpuWords(of, threads)}) / with one (${cpuWords(of, 1)}), at ${digits(rateHz)}/s`,
        limit: '1.05 or less',
        figure: digits(ratio(threads)),
        met: ratio(threads) <= 1.05,
      })),
      ...several.map((threads) => {
        const mb = (of('rss', threads) - of('rss', 1)) / threads
        return {
          name: `memory a thread, of ${threads}`,
          limit: '40 MB or less',
          figure: `${digits(mb, 1)} MB`,
          met: mb <= 40,
        }
      }),
      {
        name: 'messages a second with each of 8 threads',
        limit: '10 or less',
        figure: digits(of('messages', 8), 1),
        met: of('messages', 8) <= 10,
      },
      {
        name: 'rate of 8 threads, achieved / target',
        limit: '0.999 or more',
        figure: digits(of('held', 8), 4),
        met: of('held', 8) >= 0.999,
      },
    ]
  },
}
