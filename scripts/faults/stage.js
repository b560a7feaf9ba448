// A private cluster with a writer on it as a user would start one, and what can be done to both.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startChild } from '../../lib/base/child.js'
import { ExitCode } from '../../lib/base/errors.js'
import { addressOf, endpointOf } from '../../lib/servers/address.js'
import { controlConnections } from '../../lib/servers/control.js'
import { startEmbedded } from '../../lib/servers/embedded.js'
import { addServers, restartServer } from '../../lib/servers/embedded-changes.js'
import { resharding } from '../../lib/servers/reshard.js'
import { parseInfo } from '../../lib/wire/info.js'
import { testEnvironment } from '../test.js'
import { growingLines } from './lines.js'

/**
 * @import { Checked } from '../../lib/run/check-written.js'
 *
 * @typedef {Awaited<ReturnType<typeof stageOf>>} Stage
 * @typedef {{ host: string, port: number, pid: number, alive: boolean }} Server
 * @typedef {ReturnType<Stage['startWriter']>} Writer
 *
 * @typedef {object} Verified what scripts/verify.js found of a run that wrote each item once
 * @property {Checked} checked
 * @property {boolean} lossless it ended with 0, not with 4
 */

const settleLimitMs = 120_000
const longestWriter = '30m'
const interruptLimitMs = 60_000

/**
 * A program of its own, as a user would start it.
 * @param {string} name
 * @param {string[]} args
 * @param {Record<string, string>} variables
 */
const inProcess = (name, args, { REDIS_PASSWORD, ...variables }) => {
  const child = startChild(fileURLToPath(new URL(`../../${name}`, import.meta.url)), args, {
    env: { ...testEnvironment(process.env), ...variables },
    secrets: { REDIS_PASSWORD },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  let log = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    log += chunk
  })
  const ended = new Promise((/** @type {(code: number | null) => void} */ resolve) =>
    child.once('close', resolve),
  )
  return {
    pid: child.pid,
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill: (/** @type {NodeJS.Signals} */ signal) => child.kill(signal),
    text: () => text,
    log: () => log,
  }
}

/** @typedef {Omit<ReturnType<typeof inProcess>, 'kill' | 'pid'> & { kill: (signal: any) => unknown, pid?: number }} Program */

/**
 * @param {object} options
 * @param {boolean} [options.cluster]
 * @param {number} [options.shards]
 * @param {number} [options.replicas]
 * @param {(...program: Parameters<typeof inProcess>) => Program} [options.startProgram]
 */
export const stageOf = async ({
  cluster = true,
  shards = 3,
  replicas = 1,
  startProgram = inProcess,
} = {}) => {
  const embedded = await startEmbedded({
    cluster,
    shards,
    replicas: cluster ? replicas : 0,
    stateDir: null,
    log: () => {},
  })
  const control = controlConnections(embedded.access)
  const folder = mkdtempSync(join(tmpdir(), 'millrace-stage-'))
  /** @type {Server[]} */
  const servers = embedded.nodes.map(({ host, port, pid }) => ({ host, port, pid, alive: true }))
  const living = () => servers.filter(({ alive }) => alive)
  const change = resharding({
    cluster: {
      control: (address) => control.clientOf(endpointOf(address)),
      access: embedded.access,
      addresses: () => living().map(addressOf),
    },
    clock: () => performance.now(),
  })
  const serverAt = (/** @type {string} */ address) => {
    const found = servers.find((server) => addressOf(server) === address)
    if (!found) throw new Error(`no server at ${address}`)
    return found
  }
  const masters = async () =>
    (await change.view())
      .filter(({ role, slots, failed }) => role === 'master' && slots.length > 0 && !failed)
      .sort((a, b) => a.slots[0][0] - b.slots[0][0])
  const owners = async () =>
    cluster ? (await masters()).map(({ address }) => address) : [addressOf(servers[0])]

  const kill = (/** @type {Server} */ server) => {
    process.kill(server.pid, 'SIGKILL')
    server.alive = false
  }
  const restart = async (/** @type {Server} */ server) => {
    Object.assign(server, await restartServer(embedded, server.port), { alive: true })
  }

  const isWhole = async () => {
    if (!cluster) return (await control.clientOf(servers[0]).ping()) === 'PONG'
    const states = await Promise.all(
      living().map(async (server) => String(await control.clientOf(server).call('CLUSTER', 'INFO'))),
    )
    return states.every((text) => /cluster_state:ok/.test(text))
  }
  /** @param {string} what @param {() => Promise<boolean>} holds */
  const until = async (what, holds) => {
    for (const limit = performance.now() + settleLimitMs; performance.now() < limit; await sleep(50))
      if (await holds().catch(() => false)) return
    throw new Error(`not reached in time: ${what}`)
  }

  /** One of the project's programs on these servers. @param {string} name @param {string[]} args */
  const start = (name, args) =>
    startProgram(name, args, { XDG_RUNTIME_DIR: folder, REDIS_PASSWORD: embedded.access.password })
  const addressOptions = (/** @type {{ host: string, port: number }} */ { host, port }) => [
    '--host',
    host,
    '--port',
    String(port),
    ...(cluster ? ['--cluster'] : []),
  ]

  /** Lines so far of a file of the run in a folder, but for the runs before it. @param {string} file @param {string} out @param {Set<string>} [before] */
  const linesIn = (file, out, before = new Set()) => {
    const linesOf = growingLines()
    return () => {
      const run = existsSync(out) ? readdirSync(out).find((name) => !before.has(name)) : undefined
      return run === undefined ? [] : linesOf(join(out, run, file))
    }
  }

  return {
    embedded,
    isCluster: cluster,
    control: control.clientOf,
    change,
    servers,
    living,
    masters,
    serverAt,
    kill,
    restart,
    until,
    /** All nodes see a cluster that serves. */
    whole: () => until('the cluster serves again', isWhole),
    /** Another node serves what this one served. @param {Server} server */
    replaced: async (server) => {
      const lost = async () => (await masters()).every(({ address }) => address !== addressOf(server))
      await until(`${addressOf(server)} is replaced`, lost)
      await until('the cluster serves again', isWhole)
    },
    freeze: (/** @type {Server} */ server) => process.kill(server.pid, 'SIGSTOP'),
    thaw: (/** @type {Server} */ server) => process.kill(server.pid, 'SIGCONT'),

    /** A master of shard n from 1, and one of its replicas. @param {number} n */
    async shard(n) {
      const master = (await masters())[n - 1]
      const replica = (await change.view()).find(({ masterId }) => masterId === master.id)
      return { master: serverAt(master.address), replica: replica ? serverAt(replica.address) : null }
    },

    /** @param {number} [slots] that it gets; without it an even part */
    async addShard(slots) {
      const [master, ...others] = await addServers(embedded, { count: 1 + replicas })
      servers.push(...[master, ...others].map(({ host, port, pid }) => ({ host, port, pid, alive: true })))
      const shard = {
        master: addressOf(master),
        replicas: others.map(addressOf),
      }
      return { master: shard.master, ...(await change.addShard(shard, slots)) }
    },
    /** @param {number | string} shard its number from 1, or its master */
    async removeShard(shard) {
      const { gone, ...moved } = await change.removeShard(shard)
      for (const address of gone) kill(serverAt(address))
      return moved
    },

    /** Removes all keys. */
    async empty() {
      for (const address of await owners()) await control.clientOf(endpointOf(address)).flushall()
    },

    /** The number of items in the masters. */
    async storedItems() {
      const counts = await Promise.all(
        (await owners()).map(async (address) => {
          const client = control.clientOf(endpointOf(address))
          const { databases } = parseInfo(String(await client.call('INFO', 'keyspace')))
          const others = await client.call('KEYS', 'millrace:*')
          const ids = await client.call('EXISTS', 'latest-ids').catch(() => 0)
          return Number(databases.db0?.keys ?? 0) - /** @type {string[]} */ (others).length - Number(ids)
        }),
      )
      return counts.reduce((sum, n) => sum + n, 0)
    },

    /**
     * @param {string} line options of the producer besides the address
     * @param {{ host: string, port: number }} [at]
     * @param {{ longest?: string, model?: string, own?: string }} [more] model: its command; own: a folder for its results
     */
    startWriter(line, at = living()[0], { longest = longestWriter, model, own = '' } = {}) {
      const out = join(folder, own)
      mkdirSync(out, { recursive: true })
      const args = [
        '-a',
        'all',
        '--duration',
        longest,
        '--warm-up',
        '0s',
        '--json',
        '--quiet',
        '--log',
        'warn',
        '--out',
        out,
        ...(model ? ['--command', model] : []),
      ]
      const before = new Set(readdirSync(out))
      const program = start('producer.js', [
        ...addressOptions(at),
        ...args,
        ...line.split(' ').filter(Boolean),
      ])
      return {
        ...program,
        /** So far. */
        intervals: linesIn('intervals.ndjson', out, before),
        events: linesIn('events.ndjson', out, before),
        /** Ends the run as Ctrl-C does. @returns {Promise<any>} its document */
        async end() {
          program.kill('SIGINT')
          // It may wait for a reply that its library never gives: a second Ctrl-C does not wait.
          const again = setTimeout(() => program.kill('SIGINT'), interruptLimitMs)
          await program.ended
          clearTimeout(again)
          try {
            return JSON.parse(program.text())
          } catch {
            throw new Error(`the writer left no result: ${program.log()}`)
          }
        },
        kill: () => program.kill('SIGKILL'),
      }
    },

    /**
     * @param {string} line options of the consumer besides the address
     * @param {string} own a folder for its results
     * @param {{ host: string, port: number }} [at]
     */
    startReader(line, own, at = living()[0]) {
      const out = join(folder, own)
      const args = ['--json', '--quiet', '--log', 'warn', '--out', out]
      const reader = start('consumer.js', [...addressOptions(at), ...args, ...line.split(' ')])
      return { ...reader, intervals: linesIn('intervals.ndjson', out) }
    },

    /**
     * What scripts/verify.js finds of the result that a writer has left.
     * @param {{ run: string }} document
     * @returns {Promise<Verified>}
     */
    async verified({ run }) {
      const [server] = living()
      const args = [join(folder, run), '--json', ...addressOptions(server)]
      const { ended, text, log } = start('scripts/verify.js', args)
      const code = await ended
      if (code !== ExitCode.done && code !== ExitCode.invalid)
        throw new Error(`scripts/verify.js ended with ${code}: ${log()}`)
      return { checked: JSON.parse(text()), lossless: code === ExitCode.done }
    },

    async close() {
      control.close()
      for (const { pid, alive } of servers) {
        // A frozen server would not end.
        if (alive) process.kill(pid, 'SIGCONT')
      }
      await embedded.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
