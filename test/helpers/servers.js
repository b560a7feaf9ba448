// Real servers for tests. Each ends with the test or the suite that asked for it, at the latest with its process.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startEmbedded } from '../../lib/servers/embedded.js'
import { findServerBinary } from '../../lib/servers/embedded-binary.js'
import { answering, baseConfig, freePorts, inServerGroup } from '../../lib/servers/embedded-servers.js'
import { atEnd } from './at-end.js'

/** A test context, or `{ after }` of node:test inside a before hook. @typedef {{ after(fn: () => any): void }} Scope */

/** What the before hooks of a suite, or of a file, open ends with it: what came last first. @returns {Scope} */
export const suiteScope = () => {
  const undo = /** @type {(() => any)[]} */ ([])
  after(async () => {
    for (const step of undo) await step()
  })
  return { after: (step) => void undo.unshift(step) }
}

/** @typedef {Awaited<ReturnType<typeof startServer>>} TestServer */

/**
 * A server of its own on a free port.
 * @param {Scope} t
 * @param {{ config?: Record<string, string | string[]>, bin?: string }} [options] config: its lines come last
 * and win; an array is the arguments of one line
 */
export async function startServer(t, { config = {}, bin } = {}) {
  const password = randomBytes(12).toString('hex')
  const own = /** @type {any[]} */ (Object.entries(config).map((line) => line.flat()))
  const { group, result } = await inServerGroup(findServerBinary(bin), async (group) => {
    const [{ port }] = await freePorts(1, 'none')
    const config = [...baseConfig({ port, password }), ...own]
    const server = group.launch('server', port, config)
    const again = () => group.launch('again', port, config)
    return { server, again, redis: await answering(server, password, AbortSignal.timeout(20_000)) }
  })
  const { server, again, redis } = result
  const stop = () => {
    redis.disconnect()
    return group.close()
  }
  atEnd(t, stop)
  /** Kills it and starts it on the same port, empty, after so long. */
  const restart = async (awayMs = 0) => {
    process.kill(server.pid, 'SIGKILL')
    await server.ended
    await sleep(awayMs)
    again()
    await redis.ping()
  }
  const { host, port, pid } = server
  return { host, port, password, pid, dir: group.dir, redis, stop, restart }
}

/** A server of all tests of a suite, or of a file: it is there when they begin. @param {Parameters<typeof startServer>[1]} [options] */
export const suiteServer = (options) => {
  const server = /** @type {TestServer} */ ({})
  const scope = suiteScope()
  before(async () => void Object.assign(server, await startServer(scope, options)))
  return server
}

/** A replica in step with its master, whose password is good for both. @param {Scope} t @param {TestServer} master @param {Parameters<typeof startServer>[1]} [options] */
export const startReplica = async (t, master, options) => {
  const replica = await startServer(t, options)
  const { redis } = replica
  await redis.call('ACL', 'SETUSER', 'default', `>${master.password}`)
  await redis.config('SET', 'masterauth', master.password)
  await redis.replicaof(master.host, master.port)
  while (!(await redis.info('replication')).includes('master_link_status:up')) await sleep(20)
  return replica
}

/** The port of a listener of a test, on loopback. @param {Scope} t @param {import('node:net').Server} listener @returns {Promise<number>} */
export const portOf = async (t, listener) => {
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  atEnd(t, () => listener.close())
  return /** @type {import('node:net').AddressInfo} */ (listener.address()).port
}

/** A server that stands still while something is done. @template T @param {{ pid: number }} server @param {() => T | Promise<T>} work */
export const frozenDuring = async ({ pid }, work) => {
  process.kill(pid, 'SIGSTOP')
  try {
    return await work()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

/** An embedded cluster that no other program finds. @param {Scope} t @param {{ shards?: number, replicas?: number, bin?: string }} [options] */
export async function startCluster(t, { shards = 3, replicas = 1, bin } = {}) {
  const quiet = { stateDir: null, log: () => {} }
  const cluster = await startEmbedded({ cluster: true, shards, replicas, serverBin: bin, ...quiet })
  atEnd(t, () => cluster.close())
  return cluster
}

/**
 * What redis-cli prints for a command; with a password it comes by the environment.
 * @param {{ host: string, port: number, password?: string }} server
 * @param {...string} args
 */
export async function cli({ host, port, password }, ...args) {
  const env = { ...process.env, REDISCLI_AUTH: password }
  if (password === undefined) delete env.REDISCLI_AUTH
  const words = ['-h', host, '-p', String(port), ...args]
  const { stdout } = await promisify(execFile)('redis-cli', words, { env })
  return stdout.trim()
}

/**
 * A redis-cli that stays open, since to start one takes more CPU than a hundred questions: the answers of lines, as JSON has
 * them. In a cluster it follows every redirect.
 * @param {Scope} t
 * @param {{ host: string, port: number, password: string }} server
 * @param {boolean} [cluster]
 * @returns {(lines: readonly string[]) => Promise<any[]>}
 */
export const openCli = (t, { host, port, password }, cluster = false) => {
  const args = ['-h', host, '-p', String(port), '--json', ...(cluster ? ['-c'] : [])]
  const child = spawn('redis-cli', args, { env: { ...process.env, REDISCLI_AUTH: password } })
  t.after(() => child.stdin.end())
  const waiting = /** @type {((line: string | null) => void)[]} */ ([])
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line !== '' && !line.startsWith('-> Redirected')) waiting.shift()?.(line)
  })
  child.once('close', () => {
    for (const tell of waiting.splice(0)) tell(null)
  })
  return async (lines) => {
    child.stdin.write(lines.map((line) => `${line}\n`).join(''))
    const answer = () =>
      new Promise((/** @type {(line: string | null) => void} */ tell) => waiting.push(tell))
    const told = await Promise.all(lines.map(answer))
    return told.map((line) => JSON.parse(line ?? assert.fail('redis-cli ended')))
  }
}

/** How often a server has run a command. @param {Parameters<typeof cli>[0]} server @param {string} name */
export async function callsOf(server, name) {
  const stats = await cli(server, 'INFO', 'commandstats')
  return Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
}
