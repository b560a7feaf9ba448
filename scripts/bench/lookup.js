// GET of single keys beside redis-benchmark and memtier_benchmark: the same connections and operations in flight, on one
// server, in turn and back again (A B B A), so that a machine that slows down does so for all. Operations are counted by
// the server, and the CPU of a client's whole process is read from /proc, for all of them at the same moments of a run.
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { controlConnections } from '../../lib/servers/control.js'
import { parseInfo } from '../../lib/wire/info.js'
import { digits, median, playedBy, start } from './room.js'
import { onServer } from './yardstick.js'

/**
 * @import { Case, Room } from './room.js'
 * @import { ChildProcess as Child } from 'node:child_process'
 * @import { Endpoint } from '../../lib/servers/address.js'
 *
 * @typedef {{ connections: number, pipeline: number }} Load
 * @typedef {{ opsPerS: number, cpuUs: number }} Played cpuUs: of the whole process, an operation
 * @typedef {(load: Load, seconds: number) => Child} Tool plays for so long at least
 */

const keys = 100_000
const valueBytes = 32
// Of the server: each tool has the keys as it names them.
const dbs = { ours: 0, 'redis-benchmark': 1, memtier: 2 }
const warmUpMs = 1000
// redis-benchmark plays a number of operations, and is ended when it was measured.
const endless = String(1e9)

const memtier = (process.env.PATH ?? '').split(delimiter).some((folder) => {
  try {
    accessSync(join(folder, 'memtier_benchmark'), constants.X_OK)
    return true
  } catch {
    return false
  }
})

/** @param {Room} room @param {Endpoint} endpoint @returns {Record<string, Tool>} */
const toolsOf = (room, { host, port }) => ({
  ours: ({ connections, pipeline }, seconds) => {
    const env = { REDIS_HOST: host, REDIS_PORT: String(port) }
    const { child, ended } = start({ ...room, env }, 'producer.js', [
      ...['--strategy', 'lookup-get', '--keys', String(keys), '--value-size', String(valueBytes)],
      ...['--connections', String(connections), '--pipeline', String(pipeline)],
      ...['--duration', String(seconds), '--allow', 'foreign-keys', '--idle-cost', 'never'],
    ])
    ended.catch(() => {})
    return child
  },
  'redis-benchmark': ({ connections, pipeline }) =>
    spawn(
      'redis-benchmark',
      [
        ...['-h', host, '-p', String(port), '--dbnum', String(dbs['redis-benchmark']), '-t', 'get', '-q'],
        ...['-c', String(connections), '-P', String(pipeline), '-r', String(keys), '-n', endless],
      ],
      { stdio: 'ignore' },
    ),
  ...(memtier && {
    memtier: ({ connections, pipeline }, seconds) =>
      spawn(
        'memtier_benchmark',
        [
          ...['-s', host, '-p', String(port), '--select-db', String(dbs.memtier), '-t', '1'],
          ...['-c', String(connections), '--pipeline', String(pipeline), '--ratio', '0:1'],
          ...['--key-prefix', 'key:', '--key-minimum', '1', '--key-maximum', String(keys)],
          ...['--test-time', String(Math.ceil(seconds)), '--hide-histogram'],
        ],
        { stdio: 'ignore' },
      ),
  }),
})

/** Every key as ours, and as the other tools name it. @param {{ call: (...words: string[]) => Promise<unknown> }} client */
const fill = (client) =>
  client.call(
    'EVAL',
    `local value = string.rep('x', ${valueBytes})
for n = 0, ${keys} do
  redis.call('SELECT', 0)
  if n > 0 then redis.call('SET', 'key:' .. n, value) end
  redis.call('SELECT', ${dbs['redis-benchmark']})
  redis.call('SET', string.format('key:%012d', n), value)
  redis.call('SELECT', ${dbs.memtier})
  redis.call('SET', 'key:' .. n, value)
end`,
    '0',
  )

/** @param {Room} room @param {Load} load @param {Endpoint} endpoint */
const round = async (room, load, endpoint) => {
  const control = controlConnections({})
  try {
    const client = control.clientOf(endpoint)
    await fill(client)
    const gets = async () =>
      parseInfo(String(await client.call('INFO', 'commandstats'))).commands.get?.calls ?? 0
    const tools = toolsOf(room, endpoint)
    const names = Object.keys(tools)
    const seconds = room.seconds(6)
    const playedOnce = (/** @type {Tool} */ tool) =>
      playedBy(() => [tool(load, seconds + 4)], { seconds, warmUpMs, commands: gets })
    /** @type {Record<string, Played[]>} */
    const played = {}
    for (const name of [...names, ...names.toReversed()])
      played[name] = [...(played[name] ?? []), await playedOnce(tools[name])]
    return Object.fromEntries(
      Object.entries(played).flatMap(([name, list]) => [
        [`${name} ops`, median(list.map(({ opsPerS }) => opsPerS))],
        [`${name} cpu`, median(list.map(({ cpuUs }) => cpuUs))],
      ]),
    )
  } finally {
    control.close()
  }
}

/**
 * @param {Load} load
 * @param {{ ahead: number, cpu: Record<string, number> }} bars cpu: at most so much of the tool's
 * @returns {Case}
 */
const lookup = (load, bars) => ({
  name: `lookup ${load.connections} x ${load.pipeline}`,
  round: (room) => onServer((endpoint) => round(room, load, endpoint)),
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
