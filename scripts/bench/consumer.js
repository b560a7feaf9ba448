// What reading costs, measured beside a writer on the same machine.
import { digits, median, start } from './room.js'
import { commandsPerS, onServer } from './yardstick.js'

/** @import { Case, Room } from './room.js' */

/** A consumer, as soon as there is a producer to attach to. @param {Room} room @param {string[]} args */
const read = async (room, args) => {
  for (let left = 60; ; left--) {
    try {
      const document = await start(room, 'consumer.js', [...args]).ended
      if (document.fetches.items > 0) return document
      throw new Error('nothing was there to read')
    } catch (error) {
      if (left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

/**
 * Reads beside a writer, which is stopped when all is read; its result comes last.
 * @param {Room} room
 * @param {string[]} writing
 * @param {string[][]} readings one after the other
 */
const beside = async (room, writing, readings) => {
  const writer = start(room, 'producer.js', [...writing, '--duration', '10m'])
  try {
    const documents = []
    // Until every item has been written.
    await read(room, ['--limit', '1', '--duration', '4'])
    for (const args of readings) documents.push(await read(room, args))
    writer.child.kill('SIGINT')
    return { documents, written: await writer.ended }
  } finally {
    writer.child.kill('SIGKILL')
  }
}

const fetched = 100_000

/** @type {() => Case[]} */
export const consumerCases = () => [
  {
    name: 'fetches against redis-benchmark',
    round: (room) =>
      onServer(async (endpoint) => {
        const env = { REDIS_HOST: endpoint.host, REDIS_PORT: String(endpoint.port) }
        const there = { ...room, env }
        const writing = ['-q', String(fetched), '--ttl', '10m', '--duration', '2', '--idle-cost', 'never']
        await start(there, 'producer.js', writing).ended
        const reading = ['--pacing', 'closed', '-p', '100', '--duration', String(room.seconds(8))]
        const { fetches } = await start(there, 'consumer.js', reading).ended
        const ours = (fetches.items_p50 / fetches.duration_ms.p50) * 1000
        const theirs = await commandsPerS(endpoint, room.seconds(4) * 500_000, ['GET', 'item:__rand_int__'])
        return { ratio: ours / theirs, ours, theirs }
      }),
    ratios: ({ ratio }) => [
      {
        name: 'reader: ids and values/s of a full fetch / redis-benchmark GET',
        better: 'more',
        rounds: ratio,
      },
    ],
    rows: ({ ratio, ours, theirs }) => [
      {
        name: `ids and values/s of a full fetch (${digits(median(ours), 0)}) of redis-benchmark -P 500 GET (${digits(median(theirs), 0)})`,
        limit: 'no goal',
        figure: digits(median(ratio)),
        met: true,
      },
    ],
  },
  {
    name: '300,000 items in full, beside a writer of 300,000/s',
    round: async (room) => {
      const full = ['--pacing', 'closed', '-p', '500']
      const { documents, written } = await beside(
        room,
        // A lifetime that keeps them all fresh, also where the server is too slow to write each once a second.
        ['-q', '300000', '--ttl', '60'],
        [
          ['--limit', '1', '--duration', '2'],
          [...full, '--duration', String(room.seconds(12))],
          [...full, '--duration', String(room.seconds(20)), '--driver', 'ioredis'],
        ],
      )
      const [idle, socket, ioredis] = documents
      const fetched = socket.fetches.bytes / socket.fetches.count
      return {
        socket: socket.fetches.duration_ms.p50 / 1000,
        ioredis: ioredis.fetches.duration_ms.p50 / 1000,
        ratio: ioredis.fetches.duration_ms.p50 / socket.fetches.duration_ms.p50,
        items: socket.fetches.items_p50,
        memory: ((socket.client.rss_mb_max - idle.client.rss_mb_max) * 1e6) / fetched,
        held: written.rate.achieved / written.rate.nominal,
      }
    },
    rows: ({ socket, ioredis, ratio, items, memory, held }) => [
      {
        name: `${digits(median(items), 0)} items in full, ids and GETs (the writer held ${digits(median(held) * 100, 1)} %): median fetch`,
        limit: '1 s or less',
        figure: `${digits(median(socket), 3)} s`,
        met: median(socket) <= 1,
      },
      {
        name: `the same by the ioredis driver takes ${digits(median(ioredis))} s`,
        limit: '6x or more',
        figure: `${digits(median(ratio), 1)}x`,
        met: median(ratio) >= 6,
      },
      {
        name: 'memory above an idle consumer, to the bytes fetched',
        limit: '2x or less',
        figure: `${digits(median(memory))}x`,
        met: median(memory) <= 2,
      },
    ],
  },
  {
    name: '32 consumers, the newest 1,000 every 250 ms',
    round: async (room) => {
      const load = ['--consumers', '32', '--limit', '1000', '-p', '250']
      const { documents } = await beside(
        room,
        ['-q', '50000', '-c', '10'],
        [[...load, '--duration', String(room.seconds(20))]],
      )
      const [{ fetches, client }] = documents
      return { overrun: fetches.overrun, cpu: client.cpu_pct, fetches: fetches.count }
    },
    rows: ({ overrun, cpu, fetches }) => [
      {
        name: `32 consumers, --limit 1000 every 250 ms (${digits(median(fetches), 0)} fetches): overruns`,
        limit: '0',
        figure: digits(Math.max(...overrun), 0),
        met: Math.max(...overrun) === 0,
      },
      {
        name: '32 consumers, --limit 1000 every 250 ms: CPU of the process',
        limit: 'under 30 %',
        figure: `${digits(median(cpu), 1)} %`,
        met: median(cpu) < 30,
      },
    ],
  },
]
