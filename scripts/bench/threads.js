// What it costs to send with more threads at one rate: CPU an item, memory a thread, messages between threads. On a machine
// with as many cores as threads the same CPU an item means that the rate grows with the cores.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { digits, median, start } from './room.js'
import { onServer } from './yardstick.js'

/** @import { Case, Room } from './room.js' */

const sink = fileURLToPath(new URL('sink.js', import.meta.url))
const counts = [1, 2, 4, 8]
// Each thread compiles its code for itself, and eight of them have an eighth of the work to find out what is hot.
const warmUpS = 40

/** @param {Room} room @param {number} rateHz @param {number} threads */
const written = async (room, rateHz, threads) => {
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

/**
 * Work beside a server that answers without work: at a rate that no server takes, threads have more to do.
 * @param {Room} room
 * @param {(room: Room) => Promise<Record<string, number>>} work
 */
const onSink = (room, work) =>
  onServer(async ({ host, port }) => {
    const child = spawn(process.execPath, [sink, host, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [own] = await once(child.stdout, 'data')
      return await work({ ...room, env: { REDIS_HOST: host, REDIS_PORT: String(own).trim() } })
    } finally {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    }
  })

/**
 * @param {string} where
 * @param {number} rateHz
 * @param {(room: Room, work: (room: Room) => Promise<Record<string, number>>) => Promise<Record<string, number>>} beside
 * @returns {Case}
 */
const threadsCase = (where, rateHz, beside) => {
  const name = `several threads, ${digits(rateHz)}/s ${where}`
  return {
    name,
    round: (room) =>
      beside(room, async (its) => {
        const found = {}
        for (const threads of counts) Object.assign(found, await written(its, rateHz, threads))
        return found
      }),
    rows: (figures) => {
      const of = (/** @type {string} */ what, /** @type {number} */ threads) =>
        median(figures[`${what} ${threads}`])
      const us = (/** @type {string} */ what, /** @type {number} */ threads) =>
        `${digits(of(what, threads), 3)} us`
      // Rounds are pairs: the machine is slower in some.
      const ratio = (/** @type {string} */ what, /** @type {number} */ threads) =>
        median(figures[`${what} ${threads}`].map((us, round) => us / figures[`${what} 1`][round]))
      const several = counts.slice(1)
      return [
        ...several.flatMap((threads) => [
          {
            name: `${name}: CPU an item of ${threads} (${us('cpu', threads)}) / of one (${us('cpu', 1)})`,
            limit: '1.05 or less',
            figure: digits(ratio('cpu', threads)),
            met: ratio('cpu', threads) <= 1.05,
          },
          {
            name: `${name}: what sends, of ${threads} (${us('sending', threads)}) / of one (${us('sending', 1)})`,
            limit: 'no bar',
            figure: digits(ratio('sending', threads)),
            met: null,
          },
        ]),
        ...several.map((threads) => {
          const mb = (of('rss', threads) - of('rss', 1)) / threads
          return {
            name: `${name}: memory a thread, of ${threads}`,
            limit: '40 MB or less',
            figure: `${digits(mb, 1)} MB`,
            met: mb <= 40,
          }
        }),
        {
          name: `${name}: messages a second with each of 8`,
          limit: '10 or less',
          figure: digits(of('messages', 8), 1),
          met: of('messages', 8) <= 10,
        },
        {
          name: `${name}: rate of 8, achieved / target`,
          limit: '0.999 or more',
          figure: digits(of('held', 8), 4),
          met: of('held', 8) >= 0.999,
        },
      ]
    },
  }
}

export const threadCases = [
  // One thread is busy with it.
  threadsCase('to a server', 200_000, (room, work) => work(room)),
  threadsCase('to a sink', 1_000_000, onSink),
]
