// `millrace find` beside redis-benchmark's highest rate, on the same server and port: redis-benchmark has no rate, so its
// load is swept by its connections, before and after the search.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { controlConnections } from '../../lib/servers/control.js'
import { digits, median, start } from './room.js'
import { onServer } from './yardstick.js'

/**
 * @import { Case, Room } from './room.js'
 * @import { Endpoint } from '../../lib/servers/address.js'
 *
 * @typedef {{ connections: number, rate: number, p99Ms: number }} Point of the sweep
 */

const connections = 50
const limitMs = 20
const longBytes = 200_000
const shortBytes = 128
const swept = [1, 2, 5, 10, 20, connections]
const firstCommands = 5000
const sweepS = 3
const searchS = 60
const run = promisify(execFile)

/** @param {Endpoint} endpoint @param {readonly string[]} command @param {number} many @param {number} commands @returns {Promise<Point>} */
const played = async ({ host, port }, command, many, commands) => {
  const at = ['-h', host, '-p', String(port)]
  const load = ['-c', String(many), '-n', String(commands), '--precision', '3', '--csv']
  const { stdout } = await run('redis-benchmark', [...at, ...load, ...command])
  // "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
  const [, rate, , , , , p99Ms] = (stdout.trim().split('\n').at(-1) ?? '').replaceAll('"', '').split(',')
  return { connections: many, rate: Number(rate), p99Ms: Number(p99Ms) }
}

/** @param {Room} room @param {Endpoint} endpoint @param {readonly string[]} command */
const sweepOf = async (room, endpoint, command) => {
  /** @type {Point[]} */
  const points = []
  for (const many of swept) {
    const { rate } = await played(endpoint, command, many, firstCommands)
    points.push(await played(endpoint, command, many, Math.round(rate * room.seconds(sweepS))))
  }
  return points
}

/** Of the points that meet the limit. @param {readonly Point[]} points */
const highestOf = (points) =>
  points.filter(({ p99Ms }) => p99Ms < limitMs).sort((a, b) => b.rate - a.rate)[0] ?? {
    connections: 0,
    rate: Number.NaN,
    p99Ms: Number.NaN,
  }

/** @param {Room} room */
const bitsModel = (room) => {
  const path = join(room.folder, 'bits.yaml')
  writeFileSync(
    path,
    `title: BITCOUNT of a long string\nkeys:\n  bits:{id}: { type: string, keys: 1, bytes: ${longBytes} }\nmix:\n  - { command: 'BITCOUNT bits:{live}', share: 1 }\n`,
  )
  return path
}

const states = ['found', 'at-least', 'none', 'changed', 'unsteady', 'stopped']

/**
 * @param {Room} room
 * @param {Endpoint} endpoint
 * @param {{ command: readonly string[], valueBytes: number, model: readonly string[] }} load command: of redis-benchmark, its key last; model: of the search
 */
const round = async (room, endpoint, { command, valueBytes, model }) => {
  const control = controlConnections({})
  try {
    const client = control.clientOf(endpoint)
    const key = command[command.length - 1]
    const set = () =>
      client.call(
        'EVAL',
        "redis.call('SET', KEYS[1], string.rep('x', ARGV[1]))",
        '1',
        key,
        String(valueBytes),
      )
    await set()
    const before = await sweepOf(room, endpoint, command)
    await client.call('FLUSHALL')
    const env = { REDIS_HOST: endpoint.host, REDIS_PORT: String(endpoint.port) }
    const { ended } = start({ ...room, env }, 'lib/cli/millrace.js find', [
      ...model,
      ...['--fill', '--connections', String(connections), '--pipeline', '1'],
      ...['--slo', `latency.p99<${limitMs}ms`, '--time', `${searchS}s`],
    ])
    const { state, find } = await ended
    await set()
    const after = await sweepOf(room, endpoint, command)
    const best = highestOf([...before, ...after])
    return {
      low: find.low ?? Number.NaN,
      middle: find.middle ?? find.low ?? Number.NaN,
      high: find.high ?? Number.NaN,
      state: states.indexOf(state),
      best: best.rate,
      connections: best.connections,
      p99Ms: best.p99Ms,
    }
  } finally {
    control.close()
  }
}

/** @param {string} what @param {string} word @param {number} valueBytes @param {(room: Room) => readonly string[]} model @returns {Case} */
const beside = (what, word, valueBytes, model) => ({
  name: `find beside redis-benchmark: ${what}`,
  round: (room) =>
    onServer((endpoint) =>
      round(room, endpoint, { command: [word, 'beside'], valueBytes, model: model(room) }),
    ),
  rows: (figures) => {
    const of = (/** @type {string} */ name) => median(figures[name])
    const shares = figures.middle.map((middle, i) => middle / figures.best[i])
    const said = [...new Set(figures.state.map((state) => states[state]))].join(', ')
    const isClient = figures.state.every((state) => states[state] === 'at-least')
    return [
      {
        name: `${what}: find (${said}, ${digits(of('low'), 0)}${isClient ? '' : ` to ${digits(of('high'), 0)}`}/s) / redis-benchmark (${digits(of('best'), 0)}/s, ${of('connections')} connections, p99 ${digits(of('p99Ms'), 1)} ms)`,
        limit: isClient ? 'the client is the limit' : '0.9 or more',
        figure: digits(median(shares)),
        met: isClient || median(shares) >= 0.9,
      },
    ]
  },
})

export const findCases = [
  beside('GET', 'GET', shortBytes, () => ['lookup-get']),
  beside('BITCOUNT of 200 kB', 'BITCOUNT', longBytes, (room) => [bitsModel(room)]),
]
