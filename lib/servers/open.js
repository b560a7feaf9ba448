// The servers of a run: found or started, checked, and followed while they change.
import { errorOf, OptionError, TargetError } from '../base/errors.js'
import { typedBytes } from '../base/scaled.js'
import { sleep } from '../base/settlement.js'
import { exactly, pair } from '../base/typed.js'
import { count, plainText, several } from '../base/units.js'
import { parseInfo } from '../wire/info.js'
import { accessOf } from './access.js'
import { addressOf, endpointOf } from './address.js'
import { confirmedServersOf, replicaRule, UnconfirmedError } from './confirmed-servers.js'
import { answerOf, controlConnections, sentCounter } from './control.js'
import { dial } from './dial.js'
import { findEmbedded, startEmbedded } from './embedded.js'
import { iamAccess, identityOf } from './iam.js'
import { untilReplicasAreKnown } from './late-replicas.js'
import { listIn } from './lists.js'
import { loaded } from './loading.js'
import { reasonFor } from './reason.js'
import { roundTripsOf } from './round-trips.js'
import { loadScript, storeScripts } from './scripts.js'
import { sentinelsOf } from './sentinel.js'
import { orphanSlots } from './topology.js'
import { topologySourceOf } from './topology-source.js'
import { refusedBy } from './unsupported-commands.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Settings } from '../../settings.js'
 * @import { Endpoint } from './address.js'
 * @import { Access } from './dial.js'
 * @import { Embedded } from './embedded.js'
 * @import { Layout } from './topology.js'
 * @import { Question } from './unsupported-commands.js'
 * @import { Socket } from 'node:net'
 *
 * @typedef {Awaited<ReturnType<typeof openTarget>>} Target
 * @typedef {'address' | 'embedded' | 'attached'} Origin
 *
 * @typedef {object} Place where a target is, and how it is opened
 * @property {Endpoint} endpoint
 * @property {Access} access
 * @property {boolean} cluster
 * @property {Settings['allow']} allow
 * @property {string} [sentinel]
 * @property {string} [sentinelPassword]
 *
 * @typedef {{ say: (line: string) => void, mayStart?: boolean, anyServer?: boolean }} Opening say: one line where the target is;
 *   anyServer: one will do that refuses INFO and the like
 */

// Bytes that the load exchanges with each node on plain sockets. TLS hides how many of them the server counts.

/** @param {{ isPlain: boolean }} access */
const byteCounter = ({ isPlain }) => {
  /** @type {Map<string, { closed: number, open: Set<Socket> }>} */
  const nodes = new Map()
  /** @type {(address: string) => number} */
  let elsewhere = () => 0
  const bytesOf = (/** @type {Socket} */ { bytesRead, bytesWritten }) => bytesRead + bytesWritten
  return {
    /** @param {string} address @param {Promise<Socket>} dialled */
    async watched(address, dialled) {
      const socket = await dialled
      const node = nodes.get(address) ?? { closed: 0, open: new Set() }
      nodes.set(address, node)
      node.open.add(socket)
      socket.once('close', () => {
        node.open.delete(socket)
        node.closed += bytesOf(socket)
      })
      return socket
    },
    /** Counts those of other threads too. @param {(address: string) => number} of */
    also(of) {
      elsewhere = of
    },
    /** @param {string} address */
    of(address) {
      if (!isPlain) return null
      const { closed, open } = nodes.get(address) ?? { closed: 0, open: [] }
      let bytes = closed + elsewhere(address)
      for (const socket of open) bytes += bytesOf(socket)
      return bytes
    },
  }
}

/**
 * What was typed for servers to be started must also be true of those that run.
 * @param {Settings} settings
 * @param {Embedded} found
 */
const checkTyped = (
  { shards, replicas, serverBin, serverConfig, maxmemoryBytes, given },
  { cluster, nodes, address },
) => {
  const masters = nodes.filter(({ role }) => role === 'master').length
  const replicasEach = (nodes.length - masters) / masters
  const typed = (/** @type {string} */ key) => given[key] === 'command line'
  const contradiction =
    (typed('shards') && shards !== masters && `--shards ${shards}`) ||
    (typed('replicas') && replicas !== replicasEach && `--replicas ${replicas}`) ||
    // Their program and configuration are not known.
    (typed('serverBin') && `--server-bin ${serverBin}`) ||
    (typed('maxmemoryBytes') && `--maxmemory ${typedBytes(maxmemoryBytes ?? 0)}`) ||
    (typed('serverConfig') && `--server-config ${serverConfig.map((line) => line.join('=')).join(',')}`)
  if (!contradiction) return
  const what = cluster ? `cluster of --shards ${masters} --replicas ${replicasEach}` : 'server'
  throw new OptionError(
    `${contradiction}: a local ${what} runs here already, on ${address}, and would be attached to; end its writer, or leave out ${contradiction.split(' ')[0]}`,
  )
}

/**
 * @param {Settings} settings
 * @param {(line: string) => void} say
 * @param {boolean} mayStart a server where none runs; without it either kind that runs will do
 */
const locate = async (settings, say, mayStart) => {
  if (settings.host !== undefined) {
    const endpoint = { host: settings.host, port: settings.port ?? 6379 }
    const { cluster } = settings
    const plain = accessOf(settings)
    const isIam = settings.iam !== undefined
    const access = isIam ? await iamAccess(plain, identityOf(settings, process.env), { say }) : plain
    const close = async () => access.endRenewing?.()
    return { origin: exactly('address'), endpoint, access, cluster, close }
  }
  const asked = mayStart || settings.given.cluster !== 'default'
  const found = findEmbedded(asked ? { cluster: settings.cluster } : {})
  if (found) {
    if (mayStart) checkTyped(settings, found)
    say(`attached to the local ${found.cluster ? 'cluster' : 'server'} on ${found.address}`)
    const close = async () => {}
    return {
      /** @type {Origin} */
      origin: 'attached',
      endpoint: endpointOf(found.address),
      access: /** @type {Access} */ (found.access),
      cluster: found.cluster,
      close,
    }
  }
  if (!mayStart)
    throw new TargetError(
      `no address is given, and no writer with a local ${asked && settings.cluster ? 'cluster' : 'server'} runs here; start one (millrace write) or set --host`,
    )
  const { cluster, shards, replicas, serverBin, serverConfig, given } = settings
  const started = await startEmbedded({
    cluster,
    shards,
    replicas: cluster || given.replicas !== 'default' ? replicas : 0,
    serverBin,
    config: [...serverConfig, ...limitOf(settings)],
    log: say,
  })
  return {
    /** @type {Origin} */
    origin: 'embedded',
    endpoint: endpointOf(started.address),
    access: /** @type {Access} */ (started.access),
    cluster,
    close: () => started.close(),
  }
}

/** What servers of the run's own may hold, and what they evict. @param {Pick<Settings, 'maxmemoryBytes' | 'policy'>} settings @returns {[string, string][]} */
export const limitOf = ({ maxmemoryBytes, policy = 'allkeys-lru' }) =>
  maxmemoryBytes === undefined
    ? []
    : [
        ['maxmemory', String(maxmemoryBytes)],
        ['maxmemory-policy', policy],
      ]

/**
 * @param {{ cluster: boolean, mayStart: boolean, allow: Settings['allow'] }} settings
 * @param {string} address
 * @param {Record<string, string>} fields INFO of the server
 */
const checkKind = ({ cluster, mayStart, allow }, address, fields) => {
  const isCluster = fields.cluster_enabled === '1'
  if (cluster && !isCluster) throw new TargetError(`${address} is not part of a cluster; leave out --cluster`)
  if (!cluster && isCluster) throw new TargetError(`${address} is part of a cluster; add --cluster`)
  if (!cluster && fields.role === 'slave' && !allow.includes('replica')) {
    const master = addressOf({ host: fields.master_host, port: Number(fields.master_port) })
    throw new TargetError(
      `${address} is a replica; ${mayStart ? 'write to' : 'name'} its master, ${master}${mayStart ? ' (--allow replica: to it nevertheless)' : ''}`,
    )
  }
}

/** @param {Layout} layout @param {string} address */
const checkSlots = ({ owners }, address) => {
  const orphans = orphanSlots(owners)
  if (orphans > 0) {
    throw new TargetError(
      `${address}: the cluster has ${orphans} slots without a master; look at CLUSTER INFO`,
    )
  }
}

/** An error reply is an answer too. @param {unknown} error */
const isRefusal = (error) => errorOf(error).name === 'ReplyError'

/**
 * Checks for masters that do not answer before anything else asks them.
 * @param {ReturnType<typeof controlConnections>} control
 * @param {Layout} layout
 * @param {string} address of the target
 * @param {Access} access
 */
const checkMasters = async (control, { masters, owners }, address, access) => {
  const faults = await Promise.all(
    masters.map((master) =>
      control.answers(endpointOf(master)).then(
        () => [],
        (error) => (isRefusal(error) ? [] : [{ master, error }]),
      ),
    ),
  )
  const silent = faults.flat()
  if (silent.length === 0) return
  const names = silent.map(({ master }) => master)
  const slots = owners ? owners.filter((owner) => names.includes(masters[owner])).length : 0
  const without = owners ? `, so ${count(slots)} of ${count(owners.length)} slots have no master` : ''
  const [{ master, error }] = silent
  throw new TargetError(
    `${address}: ${names.length} of ${several(masters.length, 'master')} ${names.length === 1 ? 'does' : 'do'} not answer${without}: ${names.join(', ')}; start them, or wait until replicas have taken over (${/ECONNREFUSED/.test(error.message) ? error.message : reasonFor(master, error, access)})`,
    { code: 'DEAD_MASTERS', cause: error },
  )
}

const longestVersion = 20

const serverVersion = (/** @type {Record<string, string>} */ fields) =>
  fields.valkey_version
    ? `valkey ${fields.valkey_version.slice(0, longestVersion)}`
    : (fields.redis_version ?? 'unknown').slice(0, longestVersion)

/**
 * INFO of a server that has its data.
 * @param {Redis} client
 * @param {string} address
 * @param {Access} access
 * @param {(line: string) => void} say
 * @param {ReadonlySet<Question>} refused
 */
const firstWords = async (client, address, access, say, refused) => {
  if (refused.has('INFO')) return parseInfo('')
  await answerOf(address, access, loaded(client, address, { say }))
  return parseInfo(String(await answerOf(address, access, client.call('INFO', 'everything'))))
}

/**
 * Whether a replica that a master names is used; a replica left out is reported once.
 * @param {Access} access
 * @param {readonly string[]} allow
 * @param {(line: string) => void} say
 */
const replicaFilter = (access, allow, say) => {
  const isSafe = replicaRule(access, allow.includes('named-hosts'))
  const leftOut = new Set()
  return (/** @type {string} */ replica, /** @type {string} */ master) => {
    if (isSafe(replica, master)) return true
    if (!leftOut.has(replica))
      say(
        `${plainText(replica)} is left out: only INFO of ${master} names it, and it would be sent the password without TLS; --allow named-hosts to use it`,
      )
    leftOut.add(replica)
    return false
  }
}

/**
 * Thousands of commands may find at the same moment that a server has lost its scripts: it is reported once.
 * @param {ReturnType<typeof controlConnections>} control
 */
const scriptLoader = (control) => {
  /** @type {Map<string, Promise<void>>} */
  const loading = new Map()
  return (/** @type {string} */ at, names = storeScripts) => {
    const what = `${at} ${names}`
    const known = loading.get(what)
    if (known) return known
    const client = control.clientOf(endpointOf(at))
    const all = Promise.all(names.map((name) => loadScript(client, name)))
    const asked = all.then(() => {}).finally(() => loading.delete(what))
    loading.set(what, asked)
    return asked
  }
}

/** How many replicas a master names, asked now and then. @param {ReturnType<typeof controlConnections>} control */
const namedBy = (control) => async (/** @type {string} */ master) => {
  const text = await control
    .clientOf(endpointOf(master))
    .call('INFO', 'replication')
    .catch(() => '')
  return Number(parseInfo(String(text)).fields.connected_slaves ?? 0)
}

/** What the nodes, or the sentinels, say now. @param {ReturnType<typeof topologySourceOf>} source @param {ReturnType<typeof confirmedServersOf>} confirmed @param {Layout & { epoch?: number }} layout */
const nextLayout = async (source, confirmed, layout) => {
  const next = await source.again(layout).catch((error) => {
    confirmed.failed(error)
    throw error
  })
  await confirmed.review(next)
  return next
}

/** Questions to a server besides the load. @param {ReturnType<typeof controlConnections>} control */
const questionsTo = (control) => ({
  /** @param {string} at @param {number} [db] */
  control: (at, db) => control.clientOf(endpointOf(at), db),
  /** @param {string} at @param {number} db another one than our own */
  leave: (at, db) => control.leave(endpointOf(at), db),
  info: async (/** @type {string} */ at) =>
    String(await control.clientOf(endpointOf(at)).call('INFO', 'everything')),
  /** Seconds and microseconds by its clock. */
  time: async (/** @type {string} */ at) => {
    const [seconds, micros] = await control.clientOf(endpointOf(at)).time()
    return pair(seconds, micros)
  },
  loadScripts: scriptLoader(control),
})

/**
 * @param {Settings} settings
 * @param {Opening} options
 */
export const openTarget = async (settings, options) => {
  const { say, mayStart = true } = options
  const { allow = [], sentinel, sentinelPassword } = settings
  const place = await locate(settings, say, mayStart)
  return openAt({ ...place, allow, sentinel, sentinelPassword }, options)
}

/** @param {Omit<Place, 'allow'>} place */
const sentinelsAt = ({ sentinel: name, sentinelPassword: password, endpoint, access }) =>
  name === undefined ? null : sentinelsOf({ name, endpoint, password, tls: access.tls })

/**
 * Connects to servers that are confirmed, and counts the bytes.
 * @param {ReturnType<typeof confirmedServersOf>} confirmed
 * @param {ReturnType<typeof byteCounter>} load
 * @param {Access} access
 */
const dialling =
  (confirmed, load, access) => (/** @type {string} */ at, /** @type {Parameters<typeof dial>[2]} */ events) =>
    confirmed.isAdmitted(at)
      ? load.watched(at, dial(endpointOf(at), access, events))
      : Promise.reject(new UnconfirmedError(`${at}: no confirmed server names it`))

/**
 * Opens what is at a place. Plain data of a place (`target.place()`) is enough for another thread.
 * @param {Place & { origin?: Origin, close?: () => Promise<unknown> }} at
 * @param {Opening} options
 */
export const openAt = async (
  { close: leave = async () => {}, origin = 'address', allow, ...place },
  { say, mayStart = true, anyServer = false },
) => {
  const { access, cluster } = place
  const confirmed = confirmedServersOf({ clock: () => performance.now(), typed: place.endpoint.host })
  const sent = sentCounter()
  const load = byteCounter({ isPlain: !access.tls })
  const control = controlConnections(access, confirmed.mayConnect, sent)
  const sentinels = sentinelsAt(place)
  const close = async () => {
    control.close()
    sentinels?.close()
    await leave()
  }
  try {
    const mayBeReplica = allow.includes('replica')
    const endpoint = sentinels ? (await sentinels.primary()).primary : place.endpoint
    const address = addressOf(endpoint)
    confirmed.name(address)
    const seed = await control.connect(endpoint)
    /** @type {ReadonlySet<Question>} */
    const refused =
      anyServer && !cluster && !sentinels
        ? await answerOf(address, access, refusedBy(seed, address, say))
        : new Set()
    const info = await firstWords(seed, address, access, say, refused)
    checkKind({ cluster, mayStart, allow }, address, info.fields)

    const source = topologySourceOf({
      control,
      endpoint,
      cluster,
      sentinels,
      mayBeReplica,
      refused,
      confirmed,
      takesReplica: replicaFilter(access, allow, say),
    })
    let layout = await source.first()
    confirmed.begin(layout)
    checkSlots(layout, address)
    if (cluster) await checkMasters(control, layout, address, access)
    const versions = new Set([serverVersion(info.fields)])
    /** @returns {{ masters: string[], owners: Uint16Array | null, epoch?: number }} */
    const topology = () => ({ masters: layout.masters, owners: layout.owners, epoch: layout.epoch })

    const refresh = async () => {
      layout = await nextLayout(source, confirmed, layout)
      await ofNew()
      control.keep([address, ...layout.nodes.map((node) => node.address)])
      return topology()
    }
    const nodes = () => layout.nodes
    const { ofNew, ...trips } = roundTripsOf(nodes, control)
    if (cluster && !refused.has('INFO')) {
      const named = { nodes, masters: () => layout.masters, refresh, named: namedBy(control) }
      await untilReplicasAreKnown(named, { say, sleep, clock: () => performance.now() })
    }

    return {
      kind: exactly(cluster ? 'cluster' : 'single'),
      origin,
      address,
      access,
      versions: [...versions],
      majorVersion: Number.parseInt(info.fields.redis_version ?? '7', 10),
      refused,
      nodes,
      ...trips,
      /** Nodes that say of themselves what they do. */
      reporting: () => (refused.has('INFO') ? [] : layout.nodes),
      get topology() {
        return topology()
      },
      sentinels,
      sent,
      loadBytes: load.of,
      /** Counts bytes of the load that are exchanged elsewhere. */
      countBytes: load.also,
      place: () => ({ ...place, allow, access: { ...access } }),
      ...questionsTo(control),
      dial: dialling(confirmed, load, access),
      confirmed,
      follows: confirmed.follows,
      /** Asks the nodes, or the sentinels, what is now. */
      refresh,
      /** Which of these commands the servers know, and which argument is the first key; 0: it depends. @param {string[]} names */
      commands: async (names) => {
        const replies = listIn('COMMAND INFO', await seed.call('COMMAND', 'INFO', ...names))
        return new Map(
          names.flatMap((name, i) => (replies[i]?.length > 0 ? [[name, Number(replies[i][3])]] : [])),
        )
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
