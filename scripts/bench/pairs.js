// Two threads on two masters beside two processes of redis-benchmark, each of which asks one of them: writes as fast as they are
// accepted, and GETs. Commands are counted by the servers, the CPU of clients is read from /proc.
import { spawn } from 'node:child_process'
import { controlConnections } from '../../lib/servers/control.js'
import { startEmbedded } from '../../lib/servers/embedded.js'
import { parseInfo } from '../../lib/wire/info.js'
import { digits, median, playedBy, start } from './room.js'

/**
 * @import { Endpoint } from '../../lib/servers/address.js'
 * @import { Case, Room } from './room.js'
 *
 * @typedef {object} Paired
 * @property {string} name
 * @property {string} command that is counted
 * @property {string[]} ours options of the producer
 * @property {(tag: string) => string[]} theirs options of redis-benchmark; with the tag all keys are at one master
 */

const keys = 100_000
// The slots of these are in the first half, and in the second.
const tags = ['b', 'a']
const warmUpMs = 3000
const endless = String(1e9)
const text = (/** @type {number} */ bytes) => 'x'.repeat(bytes)

/** Keys that redis-benchmark asks for, at the master of a tag, and as ours are named. */
const filling = `for n = 0, ${keys} do
  redis.call('SET', string.format('key:{%s}:%012d', ARGV[1], n), string.rep('x', 32))
end`

/** @param {Paired} asked @param {Room} room @param {Endpoint[]} masters */
const roundOn = async ({ command, ours, theirs }, room, masters) => {
  const control = controlConnections({})
  try {
    const clients = masters.map((master) => control.clientOf(master))
    await Promise.all(clients.map((client, i) => client.call('EVAL', filling, '0', tags[i])))
    const commands = async () => {
      const infos = await Promise.all(clients.map((client) => client.call('INFO', 'commandstats')))
      const calls = infos.map((info) => Number(parseInfo(String(info)).commands[command]?.calls ?? 0))
      return calls[0] + calls[1]
    }
    const seconds = room.seconds(10)
    const [{ host, port }] = masters
    const own = () => {
      const env = { REDIS_HOST: host, REDIS_PORT: String(port) }
      const { child, ended } = start({ ...room, env }, 'producer.js', [
        ...['--cluster', '--threads', '2', '--allow', 'foreign-keys', '--idle-cost', 'never', ...ours],
        ...['--duration', String(seconds + warmUpMs / 1000 + 4)],
      ])
      ended.catch(() => {})
      return [child]
    }
    const others = () =>
      masters.map(({ host, port }, i) =>
        spawn(
          'redis-benchmark',
          ['-h', host, '-p', String(port), '-q', '-r', String(keys), '-n', endless, ...theirs(tags[i])],
          { stdio: 'ignore' },
        ),
      )
    const how = { seconds, warmUpMs, commands }
    const mine = await playedBy(own, how)
    const found = await playedBy(others, how)
    return { ours: mine.opsPerS, theirs: found.opsPerS, cpu: mine.cpuUs, 'their cpu': found.cpuUs }
  } finally {
    control.close()
  }
}

/** @param {Paired} asked @returns {Case} */
const pair = (asked) => ({
  name: `two threads, two masters: ${asked.name}`,
  async round(room) {
    const servers = await startEmbedded({
      ...{ cluster: true, shards: 2, replicas: 0, stateDir: null },
      log: () => {},
    })
    const control = controlConnections(servers.access)
    try {
      // A password would be in the process list.
      for (const endpoint of servers.endpoints)
        await control.clientOf(endpoint).call('ACL', 'SETUSER', 'default', 'nopass')
      return await roundOn(asked, room, servers.endpoints)
    } finally {
      control.close()
      await servers.close()
    }
  },
  rows: ({ ours, theirs, cpu, 'their cpu': theirCpu }) => {
    const ratio = median(ours.map((hz, i) => hz / theirs[i]))
    const used = median(cpu.map((us, i) => us / theirCpu[i]))
    const what = `two threads, two masters, ${asked.name}`
    return [
      {
        name: `${what}: commands/s (${digits(median(ours), 0)}) of two of redis-benchmark (${digits(median(theirs), 0)})`,
        limit: '1 or more',
        figure: digits(ratio),
        met: ratio >= 1,
      },
      { name: `${what}: client CPU of theirs`, limit: 'no bar', figure: digits(used), met: null },
    ]
  },
})

/** @param {number} pipeline @returns {Case} */
const lookups = (pipeline) =>
  pair({
    name: `GET, 50 clients x ${pipeline} in flight`,
    command: 'get',
    ours: [
      ...['--strategy', 'lookup-get', '--keys', String(keys), '--value-size', '32', '--fill'],
      // Each of ours has a connection to both masters, and as much in flight as each of theirs.
      ...['--connections', '50', '--pipeline', String(pipeline)],
    ],
    theirs: (tag) => ['-c', '25', '-P', String(pipeline), 'GET', `key:{${tag}}:__rand_int__`],
  })

export const pairCases = [
  pair({
    name: 'SETEX of 128 bytes as fast as they are accepted',
    command: 'setex',
    ours: [
      ...['--command', 'SETEX item:{n} 60 {value}', '-q', '300000', '--rate', 'max', '-t', '4', '-a', 'all'],
      ...['--value-size', '128'],
    ],
    theirs: (tag) => ['-c', '2', '-P', '500', 'SETEX', `item:{${tag}}:__rand_int__`, '60', text(128)],
  }),
  lookups(1),
  lookups(10),
]
