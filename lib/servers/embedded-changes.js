// Servers that join a local cluster later, or restart after a crash. They end with the others: the watchdog finds their
// process ids in a file of the folder, whichever program started them.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TargetError } from '../base/errors.js'
import { findServerBinary } from './embedded-binary.js'
import { answering, baseConfig, freePorts, spawnAgain, spawnServer } from './embedded-servers.js'

/**
 * @typedef {Pick<import('./embedded.js').Embedded, 'dir' | 'access'>} Embedded
 * @typedef {{ host: string, port: number, pid: number }} Running
 */

const startLimitMs = 20_000
const latePids = 'pids'

/**
 * @param {Embedded} embedded
 * @param {number} port
 * @param {ReturnType<typeof spawnAgain>} spawned
 * @returns {Promise<Running>}
 */
const running = async ({ dir, access }, port, { child, ended, home }) => {
  const server = { host: '127.0.0.1', port, pid: child.pid ?? 0, ended, home }
  if (child.pid) appendFileSync(join(dir, latePids), `${child.pid}\n`, { mode: 0o600 })
  const redis = await answering(server, access.password, AbortSignal.timeout(startLimitMs))
  redis.disconnect()
  return { host: server.host, port, pid: server.pid }
}

/**
 * Empty servers that could become a shard: a master and its replicas.
 * @param {Embedded} embedded
 * @param {{ count: number, serverBin?: string }} options
 * @returns {Promise<(Running & { busPort: number })[]>}
 */
export const addServers = async (embedded, { count, serverBin }) => {
  const binary = findServerBinary(serverBin)
  const oldBus = binary.major < 7
  const ports = await freePorts(count, oldBus ? 'plus10000' : 'any')
  return Promise.all(
    ports.map(async ({ port, busPort }) => {
      const config = baseConfig({ port, password: embedded.access.password })
      config.push(['cluster-enabled', 'yes'], ['cluster-config-file', 'nodes.conf'])
      config.push(['cluster-announce-ip', '127.0.0.1'], ['cluster-node-timeout', 5000])
      // CLUSTER SLOTS of 7.0 hides a replica until its master's first ping, 10 s by default.
      config.push(['repl-ping-replica-period', 1])
      if (!oldBus) config.push(['cluster-port', busPort])
      const spawned = spawnServer(binary, join(embedded.dir, `late-${port}`), config)
      return { ...(await running(embedded, port, spawned)), busPort }
    }),
  )
}

/**
 * Starts a server that has ended again on its port: empty, but with what it knew of the cluster.
 * @param {Embedded} embedded
 * @param {number} port
 * @param {string} [serverBin]
 */
export const restartServer = async (embedded, port, serverBin) => {
  const home = readdirSync(embedded.dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(embedded.dir, name))
    .find((folder) => readFileSync(join(folder, 'server.conf'), 'utf8').includes(`port "${port}"\n`))
  if (!home) throw new TargetError(`no local server had port ${port}`)
  // Its file is from when the cluster was formed.
  const isNode = readFileSync(join(home, 'server.conf'), 'utf8').includes('cluster-enabled "yes"')
  const words = isNode ? ['--cluster-replica-no-failover', 'no'] : []
  return running(embedded, port, spawnAgain(findServerBinary(serverBin), home, words))
}
