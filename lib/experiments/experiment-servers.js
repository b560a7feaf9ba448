// The servers of a matrix: started when a cell first needs them, emptied between cells, ended with the matrix.
import { setTimeout as sleep } from 'node:timers/promises'
import { optionsOf } from '../../settings.js'
import { OptionError, TargetError } from '../base/errors.js'
import { howToGetPeers } from '../base/optional-packages.js'
import { certain, exactly } from '../base/typed.js'
import { readSettings } from '../options/read-settings.js'
import { addressOf } from '../servers/address.js'
import { controlConnections } from '../servers/control.js'
import { startEmbedded } from '../servers/embedded.js'
import { openTarget } from '../servers/open.js'
import { resharding } from '../servers/reshard.js'
import { slotOf } from '../wire/slot.js'
import { optionWords } from './options.js'

/**
 * @import { Place } from './matrix.js'
 * @import { Options } from './schema.js'
 *
 * @typedef {object} Servers
 * @property {readonly string[]} args of the programs
 * @property {readonly string[]} writerArgs arguments of writers only
 * @property {NodeJS.ProcessEnv} env
 * @property {NodeJS.ProcessEnv} secrets variables that no process list may show
 * @property {() => Promise<void>} empty
 * @property {() => Promise<string>} removeShard returns a sentence about what was done
 * @property {boolean} mayFlush no other program has data on them
 * @property {() => Promise<void>} close
 */

const emptiedLimitMs = 60_000
const emptiedPollMs = 20
// Memory that fell by less in this time is steady.
const steadyBytes = 64 * 1024
const steadyMs = 100

/** The servers that a cell needs are not available. */
export class NotHere extends Error {}

/** @param {Place} place */
const keyOf = ({ cluster, shards, replicas, server, module = null, config = [] }) =>
  JSON.stringify([cluster, shards, replicas, server, module, config])

/** @param {string[]} nodes CLUSTER NODES lines of masters */
const holder = (nodes, /** @type {string} */ key) => {
  const slot = slotOf(key)
  return nodes.find((line) =>
    line
      .split(' ')
      .slice(8)
      .some((range) => {
        const [from, to = from] = range.split('-').map(Number)
        return from <= slot && slot <= to
      }),
  )
}

/** Several are separated by commas. @param {Pick<Place, 'module'>} place */
const modulesIn = ({ module = null }) => module?.split(',') ?? []

/**
 * Empties a server. Removing ten million keys takes longer than the limit of one command, and memory may fall on after the
 * last object is freed: a run that began meanwhile would measure it as its own. The Lua engine keeps garbage, which newer
 * Redis counts as memory in use, until its scripts are flushed.
 * @param {{ call: (...words: string[]) => Promise<unknown> }} server
 * @param {() => number} clock ms
 */
export const emptied = async (server, clock) => {
  await server.call('FLUSHALL', 'ASYNC')
  await server.call('SCRIPT', 'FLUSH')
  const untilMs = clock() + emptiedLimitMs
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const memory = String(await server.call('INFO', 'memory'))
    const used = Number(/used_memory:(\d+)/.exec(memory)?.[1] ?? 0)
    const isFreeing = /lazyfree_pending_objects:[1-9]/.test(memory)
    if (!isFreeing && before - used < steadyBytes) return
    if (clock() > untilMs)
      throw new TargetError('the local server did not free its memory; end other work on this machine')
    before = isFreeing ? Number.POSITIVE_INFINITY : used
    await sleep(isFreeing ? emptiedPollMs : steadyMs)
  }
}

/**
 * @param {Place} place
 * @param {{ serverFile?: string, moduleFiles?: string[], log: (line: string) => void, clock: () => number }} needs
 * @returns {Promise<Servers>}
 */
const embedded = async ({ cluster, shards, replicas, config = [] }, needs) => {
  const { serverFile, moduleFiles = [], log, clock } = needs
  const servers = await startEmbedded({
    cluster,
    shards,
    replicas,
    serverBin: serverFile,
    config: [...config, ...moduleFiles.map((file) => exactly(['loadmodule', file]))],
    stateDir: null,
    log,
  })
  const { access, endpoints, nodes } = servers
  const control = controlConnections(access)
  const [{ host, port }] = endpoints
  const masters = nodes.filter(({ role }) => role === 'master')
  const all = nodes.map(addressOf)
  return {
    args: cluster ? ['--cluster'] : [],
    writerArgs: [],
    mayFlush: true,
    env: { REDIS_HOST: host, REDIS_PORT: String(port) },
    secrets: { REDIS_PASSWORD: access.password },
    empty: async () => {
      await Promise.all(masters.map((node) => emptied(control.clientOf(node), clock)))
    },
    removeShard: async () => {
      const text = String(await control.clientOf(masters[0]).call('CLUSTER', 'NODES'))
      const lines = text.split('\n').filter((line) => / (myself,)?master /.test(line))
      const hot = holder(lines, 'latest-ids')
      const cold = masters.map(addressOf).findLast((address) => !hot?.includes(address))
      if (cold === undefined) throw new NotHere('a shard can be removed only where there are several')
      const at = (/** @type {string} */ address) =>
        control.clientOf(certain(nodes.find((node) => addressOf(node) === address)))
      const { slots, keys, tookMs } = await resharding({
        cluster: { control: at, access, addresses: () => all },
        clock,
      }).removeShard(cold)
      return `${cold} removed: ${slots} slots and ${keys} keys moved in ${(tookMs / 1000).toFixed(1)} s`
    },
    close: async () => {
      control.close()
      await servers.close()
    },
  }
}

const readersNames = optionsOf('consumer').map(({ name }) => name)

/** @param {Options} target @param {(name: string) => boolean} wanted */
const argumentsWhere = (target, wanted) =>
  optionWords(Object.fromEntries(Object.entries(target).filter(([name]) => wanted(name))))

/** @param {NodeJS.ProcessEnv} env */
const passwordsIn = (env) =>
  Object.fromEntries(
    ['REDIS_PASSWORD', 'REDIS_SENTINEL_PASSWORD'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )

/**
 * The address may hold a password, and every user of the machine can read a command line.
 * @param {Options} target
 * @param {NodeJS.ProcessEnv} env
 */
const secretsOf = ({ url }, env) => {
  const { REDIS_PASSWORD, ...rest } = passwordsIn(env)
  // The password of a typed address counts, not that of the environment.
  const own = url !== undefined && new URL(String(url)).password !== ''
  return {
    ...rest,
    ...(REDIS_PASSWORD !== undefined && !own && { REDIS_PASSWORD }),
    ...(url !== undefined && { REDIS_URL: String(url) }),
  }
}

/** Throws if no run can use the target. @param {Options} target @param {NodeJS.ProcessEnv} env */
const checkTarget = async (target, env) => {
  const settings = settingsFor(target, env)
  const opened = await openTarget(settings, { say: () => {}, mayStart: false })
  await opened.close()
}

/** @param {Options} target @param {NodeJS.ProcessEnv} env */
const settingsFor = (target, env) => {
  return readSettings({ program: 'producer', argv: optionWords(target), env: passwordsIn(env) })
}

/**
 * A given target, which is neither emptied nor changed: its items expire.
 * @param {Options} target options as typed
 * @param {NodeJS.ProcessEnv} env
 * @param {number} restMs
 * @returns {Servers}
 */
const given = (target, env, restMs) => ({
  mayFlush: false,
  args: argumentsWhere(target, (name) => name !== 'url' && readersNames.includes(name)),
  writerArgs: argumentsWhere(target, (name) => !readersNames.includes(name)),
  env: {},
  secrets: secretsOf(target, env),
  empty: async () => {
    await sleep(restMs)
  },
  removeShard: async () => {
    throw new NotHere(
      'Millrace removes shards of local servers only: remove one by hand, and see the events of the run',
    )
  },
  close: async () => {},
})

/**
 * @param {object} needs
 * @param {Options | null} needs.target as typed; null: embedded servers
 * @param {NodeJS.ProcessEnv} needs.env
 * @param {(name: string) => string | undefined} needs.serverFile of a peer, or of a module
 * @param {(line: string) => void} needs.log
 * @param {() => number} needs.clock
 */
export const serverPoolOf = ({ target, env, serverFile, log, clock }) => {
  /** @type {Map<string, Servers>} */
  const open = new Map()

  /** Why a cell cannot be run here; null: it can. @param {Place} place */
  const refusal = (place) => {
    if (place.server !== null) {
      if (target) return `${place.server} is another server than the target`
    }
    if (target && place.config?.length) return 'its configuration is for local servers'
    for (const name of [place.server, ...modulesIn(place)])
      if (name && !target && serverFile(name) === undefined)
        return `${name} is not installed: ${howToGetPeers}`
    if (target && place.cluster && !target.cluster) return 'the target is not a cluster'
    return null
  }

  return {
    refusal,

    /** The servers of a cell, and `give`, which is called after it. @param {Place} place @param {number} restMs */
    async take(place, restMs) {
      const why = refusal(place)
      if (why) throw new NotHere(why)
      if (target) return { servers: given(target, env, restMs), give: async () => {} }
      const start = () =>
        embedded(place, {
          serverFile: place.server === null ? undefined : serverFile(place.server),
          moduleFiles: modulesIn(place).map((name) => String(serverFile(name))),
          log,
          clock,
        })
      if (place.own) {
        const servers = await start()
        return { servers, give: servers.close }
      }
      const key = keyOf(place)
      const servers = open.get(key) ?? (await start())
      open.set(key, servers)
      return { servers, give: async () => {} }
    },

    /** Ends the servers that none of these needs. @param {readonly Place[]} needed */
    async keepOnly(needed) {
      const wanted = new Set(needed.filter(({ own }) => !own).map(keyOf))
      for (const [key, servers] of open) {
        if (wanted.has(key)) continue
        open.delete(key)
        await servers.close()
      }
    },

    /** Throws a TargetError where no cell can be run, since the target does not answer or refuses us. */
    check: async () => {
      if (target) await checkTarget(target, env)
    },

    /** Ends servers that a cell left in an unknown state. @param {Place} place */
    async drop(place) {
      const servers = open.get(keyOf(place))
      open.delete(keyOf(place))
      await servers?.close()
    },
  }
}

/**
 * The target as it may be shown: its options, checked, without a password.
 * @param {Options} target
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[]} as they would be typed
 */
export const shownTarget = (target, env) => {
  if (!('url' in target) && !('host' in target) && !('port' in target))
    throw new OptionError('options of the target, such as --cluster, need --url, --host or --port')
  const { url, username } = settingsFor(target, env)
  if (url === undefined) return optionWords(target)
  return optionWords({ ...target, url, ...(username !== undefined && { username }) })
}
