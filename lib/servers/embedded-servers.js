import { spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { errorOf, OptionError, TargetError } from '../base/errors.js'
import { parseInfo } from '../wire/info.js'
import { portOf } from './address.js'

/**
 * @import { ChildProcess } from 'node:child_process'
 * @import { Server as NetServer } from 'node:net'
 * @import { ServerBinary } from './embedded-binary.js'
 */

const watchdogFile = fileURLToPath(new URL('./watchdog.sh', import.meta.url))
const host = '127.0.0.1'
const configFile = 'server.conf'
const logFile = 'server.log'
const startAttempts = 3
const portTaken = /in use|Failed listening/
// A server whose port is taken ends within this time.
const endLimitMs = 5000

/** @typedef {readonly [name: string, ...values: (string | number)[]]} ConfigLine */

/**
 * A running server process. `ended` settles with its last words when it ends, and never rejects.
 * @typedef {object} Server
 * @property {string} host
 * @property {number} port
 * @property {number} pid
 * @property {Promise<string>} ended
 * @property {string} home its folder
 */

/**
 * Server processes in one private temporary folder that end together, at the latest with this process.
 * @typedef {object} ServerGroup
 * @property {string} dir
 * @property {(name: string, port: number, config: ConfigLine[]) => Server} launch
 * @property {(stateFile: string) => void} ownState the watchdog removes this file with the servers
 * @property {() => Promise<void>} close
 */

const ownFolder = () => {
  try {
    return mkdtempSync(join(tmpdir(), 'millrace-servers-'))
  } catch (cause) {
    const { code } = errorOf(cause)
    throw new OptionError(`TMPDIR ${tmpdir()}: no folder for local servers can be made there (${code})`, {
      cause,
    })
  }
}

/**
 * A group without servers. Each has its own session, out of reach of the terminal's Ctrl-C, so that it serves until the run
 * has drained; a watchdog on a pipe ends them if `close` is never called.
 * @param {ServerBinary} binary
 * @returns {ServerGroup}
 */
export function serverGroup(binary) {
  const dir = ownFolder()
  const watchdog = spawn('/bin/sh', [watchdogFile, dir], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const watchdogEnded = new Promise((resolve) => watchdog.once('close', resolve).once('error', resolve))
  watchdog.stdin.on('error', () => {}) // the watchdog was killed; close() then does its work
  watchdog.unref()
  // @ts-expect-error a pipe is a net.Socket, which the declarations hide
  watchdog.stdin.unref()
  /** @type {{ child: ChildProcess, ended: Promise<string> }[]} */
  const members = []
  /** @type {string | undefined} */
  let stateFile

  return {
    dir,
    launch(name, port, config) {
      const { child, ended, home } = spawnServer(binary, join(dir, name), config)
      members.push({ child, ended })
      if (child.pid) watchdog.stdin.write(`pid ${child.pid}\n`)
      return { host, port, pid: child.pid ?? 0, ended, home }
    },
    ownState(file) {
      stateFile = file
      watchdog.stdin.write(`state ${file}\n`)
    },
    async close() {
      watchdog.ref()
      for (const { child } of members) child.ref()
      watchdog.stdin.end()
      await watchdogEnded
      for (const { child } of members) child.kill('SIGKILL')
      await Promise.all(members.map(({ ended }) => ended))
      if (!existsSync(dir)) return
      if (stateFile) rmSync(stateFile, { force: true })
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/**
 * A group and what `start` created in it. Another program may take a port before it is used: then everything is started
 * again with other ports.
 * @template T
 * @param {ServerBinary} binary
 * @param {(group: ServerGroup) => Promise<T>} start
 * @returns {Promise<{ group: ServerGroup, result: T }>}
 */
export async function inServerGroup(binary, start) {
  for (let attempt = 1; ; attempt++) {
    const group = serverGroup(binary)
    try {
      return { group, result: await start(group) }
    } catch (error) {
      await group.close()
      const { message, code } = errorOf(error)
      if (code !== 'SERVER_ENDED' || !portTaken.test(message) || attempt === startAttempts) throw error
    }
  }
}

/**
 * A server in a folder of its own.
 * @param {ServerBinary} binary
 * @param {string} home
 * @param {ConfigLine[]} config
 * @param {string[]} [words] that follow it in the command line
 */
export function spawnServer(binary, home, config, words) {
  const lines = config.map(
    ([name, ...values]) => `${name} ${values.map((v) => JSON.stringify(`${v}`)).join(' ')}\n`,
  )
  mkdirSync(home, { mode: 0o700 })
  writeFileSync(join(home, configFile), lines.join(''), { mode: 0o600 })
  return spawnAgain(binary, home, words)
}

/** @param {ServerBinary} binary @param {string} home with its configuration @param {string[]} [words] */
export function spawnAgain(binary, home, words = []) {
  const log = openSync(join(home, logFile), 'a', 0o600)
  try {
    const child = spawn(binary.file, [join(home, configFile), ...words], {
      argv0: binary.argv0,
      cwd: home,
      detached: true,
      stdio: ['ignore', log, log],
    })
    child.unref()
    return { child, ended: lastWords(child, join(home, logFile)), home }
  } finally {
    closeSync(log)
  }
}

/** @param {ChildProcess} child @param {string} file its log @returns {Promise<string>} */
function lastWords(child, file) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) =>
      resolve(lastLogLine(file) ?? `ended by ${signal ?? `exit code ${code}`}`),
    )
  })
}

/** @param {string} file */
function lastLogLine(file) {
  try {
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    const refusal = lines.findLast((line) => portTaken.test(line))
    return refusal ?? (lines.at(-1) || undefined)
  } catch {
    return undefined // the folder was removed first, as close() does
  }
}

/** The configuration of every local server. @param {{ port: number, password: string }} server @returns {ConfigLine[]} */
export function baseConfig({ port, password }) {
  return [
    ['port', port],
    ['bind', host],
    ['protected-mode', 'yes'],
    ['requirepass', password],
    ['masterauth', password],
    ['save', ''],
    ['appendonly', 'no'],
    ['repl-diskless-sync', 'yes'],
    ['repl-diskless-sync-delay', 0],
    ['repl-diskless-load', 'on-empty-db'],
    ['set-proc-title', 'no'], // the watchdog recognizes a server by the folder in its command line
  ]
}

/**
 * Free ports on loopback; with a bus, the second of a pair is the cluster bus port of the first.
 * @param {number} count
 * @param {'none' | 'any' | 'plus10000'} bus before 7.0 the bus port is the port + 10000
 * @returns {Promise<{ port: number, busPort: number }[]>}
 */
export async function freePorts(count, bus) {
  /** @type {NetServer[]} */
  const held = []
  /** @param {number} port */
  const hold = async (port) => {
    const listener = await listening(port)
    if (listener) held.push(listener)
    return listener ? portOf(listener) : 0
  }
  try {
    const found = []
    while (found.length < count) {
      const port = await hold(0)
      let busPort = 0
      if (bus === 'any') busPort = await hold(0)
      if (bus === 'plus10000') busPort = port + 10_000 < 65_536 ? await hold(port + 10_000) : 0
      if (port && (busPort || bus === 'none')) found.push({ port, busPort })
    }
    return found
  } finally {
    await Promise.all(held.map((listener) => new Promise((resolve) => listener.close(resolve))))
  }
}

/** @param {number} port @returns {Promise<NetServer | undefined>} */
function listening(port) {
  return new Promise((resolve) => {
    const listener = createServer()
    listener.once('error', () => resolve(undefined))
    listener.listen(port, host, () => resolve(listener))
  })
}

/** Rejects where another server has the port. @param {Redis} redis @param {Server} server */
const answers = async (redis, { host, port, home }) => {
  await redis.ping()
  // A server that refuses INFO is taken to be ours.
  const { fields } = parseInfo(String(await redis.info('server').catch(() => '')))
  const { config_file: file = join(home, configFile) } = fields
  if (file !== join(home, configFile)) throw new TargetError(`another server answers on ${host}:${port}`)
}

/**
 * A signed-in client once the server answers; a server that ends instead is an error with its last words.
 * @param {Server} server
 * @param {string} password
 * @param {AbortSignal} signal
 * @returns {Promise<Redis>}
 */
export async function answering(server, password, signal) {
  const redis = new Redis({
    host: server.host,
    port: server.port,
    password,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  })
  redis.on('error', () => {}) // refused until it listens
  const address = `${server.host}:${server.port}`
  const ended = server.ended.then((words) => {
    throw new TargetError(`local server ${address} ended at start: ${words}`, { code: 'SERVER_ENDED' })
  })
  // If we are refused, another program may have taken the port first: then our server ends.
  const answered = answers(redis, server).catch((error) =>
    Promise.race([ended, sleep(endLimitMs, undefined, { ref: false }).then(() => Promise.reject(error))]),
  )
  try {
    await Promise.race([answered, ended, aborted(signal, `local server ${address} does not answer`)])
    return redis
  } catch (error) {
    redis.disconnect()
    throw error
  }
}

/** @param {AbortSignal} signal @param {string} message @returns {Promise<never>} */
function aborted(signal, message) {
  return new Promise((_, reject) => {
    const fail = () => reject(new TargetError(message))
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}
