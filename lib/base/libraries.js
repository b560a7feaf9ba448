// The client libraries that are drivers: packages, options of --driver-option with their defaults, and what a library
// lacks. It is printed with each run, so that results can be judged by these settings.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OptionError } from './errors.js'

/**
 * @typedef {'ioredis' | 'iovalkey' | 'node-redis' | 'valkey-glide'} LibraryName
 * @typedef {boolean | number} OptionValue 0: off
 * @typedef {{ package: string, options: Record<string, OptionValue>, lacks: readonly string[] }} Declared
 * @typedef {{ package: string, version: string, options: Record<string, OptionValue>, lacks: readonly string[] }} LibraryPlan
 */

// After this long without an answer or a rejection, the outcome of a command is uncertain, with every library.
const answerLimit = 30_000

const likeIoredis = {
  // Enough for a full pipeline to every node of a large cluster; more only fills queues.
  inFlight: 5000,
  enableAutoPipelining: true,
  enableOfflineQueue: false,
  commandTimeout: 0,
  connectTimeout: 5000,
  slotsRefreshInterval: 2000,
  answerLimit,
}

/** @type {Record<LibraryName, Declared>} */
export const libraries = {
  ioredis: { package: 'ioredis', options: likeIoredis, lacks: [] },
  iovalkey: {
    package: 'iovalkey',
    options: likeIoredis,
    lacks: ['auto-pipelining of scripts on a cluster (they go alone)'],
  },
  'node-redis': {
    package: 'redis',
    options: {
      inFlight: 5000,
      commandTimeout: 5000,
      connectTimeout: 5000,
      disableOfflineQueue: false,
      maxCommandRedirections: 16,
      pingInterval: 0,
      socketTimeout: 0,
      topologyRefreshOnReconnectionAttempt: 5000,
      answerLimit,
    },
    lacks: ['reads from replicas only', 'an end of half-open connections (see socketTimeout)'],
  },
  'valkey-glide': {
    package: '@valkey/valkey-glide',
    options: {
      inflightRequestsLimit: 1000,
      // Most commands of a turn in one batch that is not atomic; 0: each by itself.
      batchCommands: 0,
      requestTimeout: 5000,
      connectionTimeout: 5000,
      tcpNoDelay: true,
      answerLimit,
    },
    lacks: [
      'events of its connections',
      'a word on whether a request that timed out was sent (then it is uncertain)',
      'an end of half-open connections',
    ],
  },
}

/** @param {string} name of a driver @returns {name is LibraryName} */
export const isLibrary = (name) => Object.hasOwn(libraries, name)

/** @param {string} name of a package that is installed */
const versionOf = (name) => {
  let folder = dirname(fileURLToPath(import.meta.resolve(name)))
  for (; folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const found = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      if (found.name === name) return String(found.version)
    } catch {
      // The package may be in a folder above.
    }
  }
  return 'unknown'
}

/** @param {string} text @param {OptionValue} usual */
const readValue = (text, usual) => {
  if (typeof usual === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/**
 * @param {LibraryName} driver
 * @param {readonly (readonly [string, string])[]} given
 * @returns {Record<string, OptionValue>}
 */
export const driverOptionsOf = (driver, given) => {
  const { options } = libraries[driver]
  const all = { ...options }
  for (const [name, text] of given) {
    if (!Object.hasOwn(options, name))
      throw new OptionError(`--driver-option ${name}: ${driver} has ${Object.keys(options).join(', ')}`)
    const value = readValue(text, options[name])
    if (value === undefined || (value === 0 && /^in/.test(name)))
      throw new OptionError(
        `--driver-option ${name} must be ${typeof options[name] === 'boolean' ? 'true or false' : /^in/.test(name) ? 'a whole number from 1' : 'whole milliseconds or a whole number; 0 = off'}`,
      )
    all[name] = value
  }
  return all
}

/**
 * What a plan says of its library; null: plain sockets.
 * @param {{ driver: string, driverOptions: readonly (readonly [string, string])[] }} settings
 * @returns {LibraryPlan | null}
 */
export const libraryOf = ({ driver, driverOptions }) => {
  if (!isLibrary(driver)) return null
  const { package: name, lacks } = libraries[driver]
  return { package: name, version: versionOf(name), options: driverOptionsOf(driver, driverOptions), lacks }
}
