// The cost of writing for the client, beside other clients, and for the server.
import { existsSync } from 'node:fs'
import { peerPath, peers } from '../../lib/servers/peers.js'
import { allStrategies } from '../../lib/workloads/index.js'
import { digits, median, start } from './room.js'
import { commandsPerS, onServer } from './yardstick.js'

/** @import { Case, Room } from './room.js' */

/** One producer, on a private embedded target. @param {Room} room @param {string[]} args */
const write = (room, args) => start(room, 'producer.js', args).ended

/** @param {any} document */
const engine = ({ nodes }) => nodes.find((/** @type {any} */ node) => node.role === 'master').engine_cpu_pct

// Above this share of its main thread, the server is the limit of a run.
const isFull = (/** @type {number[]} */ busy) => median(busy) >= 95

/** redis-benchmark with the same SETEX. @param {Room} room */
const redisBenchmark = (room) =>
  onServer(({ host, port }) =>
    commandsPerS({ host, port }, room.seconds(6) * 500_000, [
      'SETEX',
      'item:__rand_int__',
      '3',
      'x'.repeat(128),
    ]),
  )

/** @param {string} name @param {string[]} target @returns {Case} */
const drivers = (name, target) => ({
  name: `drivers on ${name}`,
  round: async (room) => {
    const load = [...most, '--duration', String(room.seconds(6)), '--warm-up', '1', ...target]
    const socket = await write(room, load)
    const ioredis = await write(room, [...load, '--driver', 'ioredis'])
    return {
      socket: socket.client.cpu_us_per_item,
      ioredis: ioredis.client.cpu_us_per_item,
      ratio: ioredis.client.cpu_us_per_item / socket.client.cpu_us_per_item,
    }
  },
  ratios: ({ ratio }) => [
    { name: `writer: client CPU per item, ioredis / socket, ${name}`, better: 'more', rounds: ratio },
  ],
  rows: ({ socket, ioredis, ratio }) => [
    {
      name: `client CPU an item, ${name}: socket ${digits(median(socket), 3)} us, ioredis ${digits(median(ioredis))} us`,
      limit: '1/30 or less',
      figure: `1/${digits(median(ratio), 0)}`,
      met: median(ratio) >= 30,
    },
  ],
})

const most = ['-q', '50000', '--rate', 'max']

/** The first seconds create every key, which costs a server more than to write it again. @param {Room} room @param {number} q */
const inTenChunks = async (room, q) => {
  const args = ['-q', String(q), '-c', '10', '--warm-up', '3', '--duration', String(room.seconds(60))]
  const result = await write(room, args)
  const { p50, p99 } = result.ticks.lateness_us
  return {
    asked: q,
    held: result.rate.achieved / result.rate.nominal,
    cpu: result.client.cpu_pct,
    p50: p50 / 1000,
    p99: p99 / 1000,
    engine: engine(result),
  }
}

/** @param {string} what @param {number[]} p50 @param {number[]} p99 */
const latenessRows = (what, p50, p99) => [
  {
    name: `${what}: lateness of the first byte, p50`,
    limit: 'under 1 ms',
    figure: `${digits(median(p50), 3)} ms`,
    met: median(p50) < 1,
  },
  {
    name: `${what}: lateness of the first byte, p99`,
    limit: 'under 10 ms',
    figure: `${digits(median(p99), 2)} ms`,
    met: median(p99) < 10,
  },
]

/** @type {Case[]} */
export const writerCases = [
  drivers('one server', []),
  drivers('three shards', ['--cluster', '--replicas', '0']),
  {
    name: 'against redis-benchmark',
    round: async (room) => {
      const ours = await write(room, [...most, '--duration', String(room.seconds(6))])
      const theirs = await redisBenchmark(room)
      return { ratio: ours.rate.achieved / theirs, engine: engine(ours), ours: ours.rate.achieved, theirs }
    },
    ratios: ({ ratio }) => [
      { name: 'writer: items/s at --rate max / redis-benchmark SETEX', better: 'more', rounds: ratio },
    ],
    rows: ({ ratio, engine: busy, ours, theirs }) => [
      {
        name: `items/s at --rate max (${digits(median(ours), 0)}) of redis-benchmark -P 500 SETEX (${digits(median(theirs), 0)})`,
        limit: '0.80 or more',
        figure: digits(median(ratio)),
        met: median(ratio) >= 0.8,
      },
      {
        name: "server's main thread at --rate max",
        limit: '95 % or more',
        figure: `${digits(median(busy), 1)} %`,
        met: median(busy) >= 95,
      },
    ],
  },
  {
    name: '300,000 items/s from one process',
    round: async (room) => {
      const result = await write(room, ['-q', '300000', '--duration', String(room.seconds(60))])
      const { rate, client } = result
      return {
        held: rate.achieved / rate.nominal,
        engine: engine(result),
        cpu: client.cpu_pct,
        rss: client.rss_mb_max,
        encode: client.encode_ms,
      }
    },
    rows: ({ held, engine: busy, cpu, rss, encode }) => [
      {
        name: `300,000 items/s: achieved / nominal (server's main thread ${digits(median(busy), 0)} % busy)`,
        limit: '0.999 or more',
        figure: digits(median(held), 4),
        met: median(held) >= 0.999,
        full: isFull(busy),
      },
      {
        name: '300,000 items/s: CPU of the process',
        limit: '12 % or less',
        figure: `${digits(median(cpu), 1)} %`,
        met: median(cpu) <= 12,
        full: isFull(busy),
      },
      {
        name: '300,000 items/s: memory',
        limit: 'under 256 MB',
        figure: `${digits(median(rss), 0)} MB`,
        met: median(rss) < 256,
      },
      {
        name: 'encoding 300,000 items',
        limit: 'under 1 s',
        figure: `${digits(median(encode), 0)} ms`,
        met: median(encode) < 1000,
      },
    ],
  },
  {
    name: '300,000 items/s in ten chunks',
    round: (room) => inTenChunks(room, 300_000),
    rows: ({ p50, p99, engine: busy }) =>
      latenessRows('300,000 items/s in ten chunks', p50, p99).map((row) => ({ ...row, full: isFull(busy) })),
  },
  {
    name: 'half of what the server takes, in ten chunks',
    round: async (room) => {
      const { rate } = await write(room, [...most, '--duration', String(room.seconds(6))])
      return inTenChunks(room, Math.round(rate.achieved / 2e4) * 1e4)
    },
    rows: ({ asked, held, cpu, p50, p99 }) => {
      const what = `${digits(median(asked), 0)} items/s, half of the server's most, in ten chunks`
      return [
        {
          name: `${what}: achieved / nominal (CPU ${digits(median(cpu), 1)} %)`,
          limit: '0.999 or more',
          figure: digits(median(held), 4),
          met: median(held) >= 0.999,
        },
        ...latenessRows('the same', p50, p99),
      ]
    },
  },
  {
    name: 'sizes of an interval',
    round: async (room) => {
      const figures = []
      for (const q of ['10000', '100000', '1000000']) {
        // A lifetime that outlasts the longest interval, and a warm-up that holds it: the server's work is the same.
        const args = ['--rate', 'max', '--ttl', '60', '--duration', '18', '--warm-up', '8']
        const { client } = await write(room, ['-q', q, ...args])
        figures.push(client.cpu_us_per_item)
      }
      return {
        spread: Math.max(...figures) / Math.min(...figures),
        small: figures[0],
        middle: figures[1],
        large: figures[2],
      }
    },
    rows: ({ spread, small, middle, large }) => [
      {
        name: `us an item at 10,000 / 100,000 / 1,000,000 an interval: ${[small, middle, large].map((f) => digits(median(f), 3)).join(' / ')}`,
        limit: 'within 1.5x',
        figure: `${digits(median(spread))}x`,
        met: median(spread) <= 1.5,
      },
    ],
  },
  {
    name: '100,000 items of 10 kB',
    round: async (room) => {
      const { client, rate } = await write(room, [
        '-q',
        '100000',
        '--value-size',
        '10000',
        '--rate',
        'max',
        '--duration',
        String(room.seconds(6)),
      ])
      return { rss: client.rss_mb_max, rate: rate.achieved }
    },
    rows: ({ rss, rate }) => [
      {
        name: `100,000 items of 10 kB (${digits(median(rate), 0)} items/s): memory`,
        limit: 'under 400 MB',
        figure: `${digits(median(rss), 0)} MB`,
        met: median(rss) < 400,
      },
    ],
  },
  {
    name: 'eight agents against one',
    round: async (room) => {
      // A rate that every server sustains, since dropped items would change the costs of the two differently.
      const args = ['-q', '100000', '--duration', String(room.seconds(10)), '--warm-up', '1']
      const one = await write(room, args)
      const eight = await write(room, [...args, '-t', '8', '-a', 'all'])
      return { ratio: eight.client.cpu_us_per_item / one.client.cpu_us_per_item }
    },
    rows: ({ ratio }) => [
      {
        name: 'client CPU of 8 agents in one process to 1, same total',
        limit: '1.25x or less',
        figure: `${digits(median(ratio))}x`,
        met: median(ratio) <= 1.25,
      },
    ],
  },
]

/** Where to cut variadic commands: what a bystander feels, and what it costs. @returns {Case} */
export const members = () => ({
  name: 'members',
  round: async (room) => {
    /** @type {Record<string, number>} */
    const figures = {}
    for (const n of ['10', '100', '300', '1000', '3000', '10000', '0']) {
      const { server, bystander_us: felt } = await write(room, [
        '-q',
        '200000',
        '--max-members',
        n,
        '--duration',
        String(room.seconds(10)),
      ])
      figures[`${n} cpu`] = server.cpu_us_per_item
      figures[`${n} p99`] = felt.p99 / 1000
      figures[`${n} max`] = felt.max / 1000
    }
    return figures
  },
  rows: (figures) =>
    ['10', '100', '300', '1000', '3000', '10000', '0'].map((n) => ({
      name: `--max-members ${n}: server CPU ${digits(median(figures[`${n} cpu`]), 3)} us an item, bystander p99 ${digits(median(figures[`${n} p99`]))} ms`,
      limit: 'bystander max',
      figure: `${digits(median(figures[`${n} max`]), 1)} ms`,
      met: true,
    })),
})

/** Fields with a lifetime need a newer server: beside the default strategy on the same one, where it was fetched. */
const onNewerServer = () => {
  const newest = peers.findLast(({ name }) => name.startsWith('valkey'))
  const bin = newest && peerPath(newest, process.env)
  if (!bin || !existsSync(bin)) return []
  return ['sorted-set', 'hash-ttl'].map((strategy) => ({
    name: `${newest.name}, --strategy ${strategy}`,
    args: ['--server-bin', bin, '--strategy', strategy],
  }))
}

/** Every strategy at the same rate on one server: the README's table of costs. @returns {Case} */
export const strategyCosts = () => {
  const flags = allStrategies()
    .filter(({ play }) => play.flow === 'ticks')
    .filter(({ variants }) => variants === null)
    .map(({ name }) => ['--strategy', name])
  const sets = [
    ['--ns', '10'],
    ['--with', 'extra-sorted-sets=1'],
  ]
  const all = [...[...flags, ...sets].map((args) => ({ name: args.join(' '), args })), ...onNewerServer()]
  return {
    name: 'strategies',
    round: async (room) => {
      /** @type {Record<string, number>} */
      const found = {}
      for (const { name, args } of all) {
        const load = ['-q', '50000', '-c', '4', '--warm-up', '2', '--duration', String(room.seconds(10))]
        const { server, client } = await write(room, [...load, ...args])
        found[`${name} cpu`] = server.cpu_us_per_item
        found[`${name} memory`] = server.memory_bytes_per_item
        found[`${name} net`] = server.net_bytes_per_item
        found[`${name} client`] = client.cpu_us_per_item
      }
      return found
    },
    rows: (figures) =>
      all.map(({ name }) => ({
        name: `${name}: memory ${digits(median(figures[`${name} memory`]), 0)} B, network ${digits(median(figures[`${name} net`]), 0)} B, client CPU ${digits(median(figures[`${name} client`]), 2)} us`,
        limit: 'server CPU an item',
        figure: `${digits(median(figures[`${name} cpu`]), 2)} us`,
        met: true,
      })),
  }
}
