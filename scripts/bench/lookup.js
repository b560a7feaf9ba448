// GET of single keys beside redis-benchmark and memtier_benchmark: the same connections and operations in flight, on one
// server, in turn and back again (A B B A), so that a machine that slows down does so for all.
import { spawn } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { controlConnections } from '../../lib/target/control.js'
import { startEmbedded } from '../../lib/target/embedded.js'
import { digits, median, start } from './room.js'

/**
 * @typedef {import('./room.js').Case} Case
 * @typedef {import('./room.js').Room} Room
 * @typedef {{ opsPerS: number, cpuUs: number }} Played cpuUs: of the whole process from its start to its end, an operation
 * @typedef {(load: { connections: number, pipeline: number }, seconds: number) => Promise<Played>} Tool
 */

const keys = 100_000
const valueBytes = 32
// Of the server, for the keys as the other tools name them.
const otherDb = 1

/** CPU seconds of all processes that were started here and have ended. */
const childrenCpuS = () => {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** @param {string} program @param {string[]} args @returns {Promise<string>} what it prints */
const outputOf = (program, args) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${program} ${args.join(' ')} ended with ${code}`)),
    )
  })

const memtier = (process.env.PATH ?? '').split(delimiter).some((folder) => {
  try {
    accessSync(join(folder, 'memtier_benchmark'), constants.X_OK)
    return true
  } catch {
    return false
  }
})

/** @param {Room} room @param {import('../../lib/target/address.js').Endpoint} endpoint @returns {Record<string, Tool>} */
const toolsOf = (room, { host, port }) => {
  let guessHz = 100_000
  /** @param {() => Promise<{ operations: number, opsPerS: number }>} play @returns {Promise<Played>} */
  const timed = async (play) => {
    const before = childrenCpuS()
    const { operations, opsPerS } = await play()
    guessHz = opsPerS
    return { opsPerS, cpuUs: ((childrenCpuS() - before) * 1e6) / operations }
  }
  return {
    ours: ({ connections, pipeline }, seconds) =>
      timed(async () => {
        const env = { REDIS_HOST: host, REDIS_PORT: String(port) }
        const { items, rate } = await start({ ...room, env }, 'producer.js', [
          ...['--strategy', 'lookup-get', '--keys', String(keys), '--value-size', String(valueBytes)],
          ...['--connections', String(connections), '--pipeline', String(pipeline)],
          ...['--duration', String(seconds), '--warm-up', '1', '--allow', 'foreign-keys'],
        ]).ended
        return { operations: items.acked, opsPerS: rate.achieved }
      }),
    'redis-benchmark': ({ connections, pipeline }, seconds) =>
      timed(async () => {
        const operations = Math.round((guessHz * seconds) / 1000) * 1000
        const text = await outputOf('redis-benchmark', [
          ...['-h', host, '-p', String(port), '--dbnum', String(otherDb), '-t', 'get', '--csv'],
          ...[
            '-c',
            String(connections),
            '-P',
            String(pipeline),
            '-r',
            String(keys),
            '-n',
            String(operations),
          ],
        ])
        return { operations, opsPerS: Number(/"GET","([\d.]+)"/.exec(text)?.[1]) }
      }),
    ...(memtier && {
      memtier: ({ connections, pipeline }, seconds) =>
        timed(async () => {
          const text = await outputOf('memtier_benchmark', [
            ...[
              '-s',
              host,
              '-p',
              String(port),
              '--select-db',
              String(otherDb),
              '-t',
              '1',
              '--hide-histogram',
            ],
            ...['-c', String(connections), '--pipeline', String(pipeline), '--ratio', '0:1'],
            ...['--key-prefix', 'key:', '--key-minimum', '1', '--key-maximum', String(keys)],
            ...['--test-time', String(seconds)],
          ])
          const opsPerS = Number(/^Totals\s+([\d.]+)/m.exec(text)?.[1])
          return { operations: opsPerS * seconds, opsPerS }
        }),
    }),
  }
}

/** Every key as ours, and as the other tools name it. @param {{ call: (...words: string[]) => Promise<unknown> }} client */
const fill = (client) =>
  client.call(
    'EVAL',
    `local value = string.rep('x', ${valueBytes})
for n = 0, ${keys} do
  redis.call('SELECT', 0)
  if n > 0 then redis.call('SET', 'key:' .. n, value) end
  redis.call('SELECT', ${otherDb})
  redis.call('SET', 'key:' .. n, value)
  redis.call('SET', string.format('key:%012d', n), value)
end`,
    '0',
  )

/**
 * @param {{ connections: number, pipeline: number }} load
 * @param {{ ahead: number, cpu: Record<string, number> }} bars cpu: at most so much of the tool's
 * @returns {Case}
 */
const lookup = (load, bars) => ({
  name: `lookup ${load.connections} x ${load.pipeline}`,
  round: async (room) => {
    const server = await startEmbedded({ cluster: false, stateDir: null, log: () => {} })
    const control = controlConnections(server.access)
    try {
      const [endpoint] = server.endpoints
      const client = control.of(endpoint)
      // A password would stand in the process list.
      await client.call('ACL', 'SETUSER', 'default', 'nopass')
      await fill(client)
      const tools = toolsOf(room, endpoint)
      const names = Object.keys(tools)
      /** @type {Record<string, Played[]>} */
      const played = {}
      for (const name of [...names, ...names.toReversed()])
        played[name] = [...(played[name] ?? []), await tools[name](load, room.seconds(8))]
      return Object.fromEntries(
        Object.entries(played).flatMap(([name, list]) => [
          [`${name} ops`, median(list.map(({ opsPerS }) => opsPerS))],
          [`${name} cpu`, median(list.map(({ cpuUs }) => cpuUs))],
        ]),
      )
    } finally {
      control.close()
      await server.close()
    }
  },
  ratios: (figures) =>
    /** @type {const} */ ([
      ['ops', 'operations/s', 'more'],
      ['cpu', 'client CPU per operation', 'less'],
    ]).map(([unit, title, better]) => ({
      name: `lookup ${load.connections} x ${load.pipeline}: ${title} / redis-benchmark`,
      better,
      rounds: figures[`ours ${unit}`].map((value, i) => value / figures[`redis-benchmark ${unit}`][i]),
    })),
  rows: (figures) => {
    const others = Object.keys(figures)
      .filter((name) => name.endsWith(' ops') && !name.startsWith('ours'))
      .map((name) => name.slice(0, -4))
    const what = `GET, ${load.connections} connections x ${load.pipeline} in flight`
    const ratio = (/** @type {string} */ name, /** @type {string} */ unit) =>
      median(figures[`ours ${unit}`].map((value, i) => value / figures[`${name} ${unit}`][i]))
    const of = (/** @type {string} */ name, /** @type {string} */ unit, /** @type {number} */ places) =>
      digits(median(figures[`${name} ${unit}`]), places)
    return others.flatMap((name) => {
      const ahead = ratio(name, 'ops')
      const cpu = ratio(name, 'cpu')
      const most = bars.cpu[name]
      return [
        {
          name: `${what}: operations/s (${of('ours', 'ops', 0)}) of ${name} (${of(name, 'ops', 0)})`,
          limit: `${bars.ahead} or more`,
          figure: digits(ahead, 3),
          met: ahead >= bars.ahead,
        },
        {
          name: `${what}: client CPU (${of('ours', 'cpu', 2)} us) of ${name} (${of(name, 'cpu', 2)} us)`,
          limit: most === undefined ? 'no bar' : `${most} or less`,
          figure: digits(cpu, 3),
          met: most === undefined || cpu <= most,
        },
      ]
    })
  },
})

/** @type {Case[]} */
export const lookupCases = [
  lookup({ connections: 50, pipeline: 1 }, { ahead: 1, cpu: { 'redis-benchmark': 1, memtier: 1 } }),
  lookup({ connections: 50, pipeline: 10 }, { ahead: 0.95, cpu: { 'redis-benchmark': 1, memtier: 1 } }),
  lookup({ connections: 2, pipeline: 500 }, { ahead: 0.95, cpu: { memtier: 0.55 } }),
]
