// Before the first write: what the target is, and whether this plan may run on it. It sends only INFO and SCAN, and for
// found keys TYPE, PTTL and reads of their plans.
import { TargetError } from '../base/errors.js'
import { certain } from '../base/typed.js'
import { bytes, count, plainText, several } from '../base/units.js'
import { parseInfo } from '../wire/info.js'
import { slotTableBytes } from '../wire/slot-tables.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { strategyNamed } from '../workloads/index.js'
import { endpointOf } from './address.js'
import { answerOf } from './control.js'
import { findKeys, plannedPrefixes } from './left-keys.js'
import { loaded } from './loading.js'

/**
 * @import { Allowance } from '../../settings.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Info } from '../wire/info.js'
 * @import { Findings, FoundKey } from './left-keys.js'
 * @import { Target } from './open.js'
 * @import { TargetNode } from './topology.js'
 * @import { AnyPlan } from '../workloads/bound-strategy.js'
 *
 * @typedef {object} FoundNode
 * @property {string} address
 * @property {'master' | 'replica'} role
 * @property {string} version
 * @property {number} keys
 * @property {number} memory_bytes
 * @property {number} limit_bytes
 * @property {'maxmemory' | 'machine'} limit
 * @property {string} eviction_policy
 * @property {number} replicas
 * @property {number} clients others than ours
 * @property {number | null} forecast_bytes what this plan will take of it
 *
 * @typedef {{ nodes: FoundNode[], keys: number, foreign_keys: number }} Found
 */

// How much memory a plan will take of each master.

// Buffers of connections and of the replicas' feed.
const buffersBytes = 4e6

/**
 * Bytes on each master when the plan of all agents has filled it.
 * @param {AnyPlan} plan
 * @param {{ masters: readonly string[], owners: Uint16Array | null }} topology
 * @param {number} [slotTable] bytes that a server takes for each slot that holds a key
 * @returns {number[]} in the order of the masters
 */
export const forecastOfPlan = (plan, topology, slotTable = 0) =>
  strategyOf(plan)
    .forecast(topology, slotTable)
    .map((bytes) => buffersBytes + bytes)

const inspectLimitMs = 5000
const memoryShare = 0.7
const shownKey = 60

/** @param {string} address @param {Info} info @returns {FoundNode} */
const nodeIn = (address, { fields, databases, replicas }) => {
  const number = (/** @type {string} */ name) => Number(fields[name]) || 0
  const maxmemory = number('maxmemory')
  return {
    address,
    role: fields.role === 'slave' ? 'replica' : 'master',
    version: plainText(fields.valkey_version ?? fields.redis_version ?? 'unknown').slice(0, 20),
    keys: Object.values(databases).reduce((sum, { keys }) => sum + (Number(keys) || 0), 0),
    memory_bytes: number('used_memory'),
    limit_bytes: maxmemory || number('total_system_memory'),
    limit: maxmemory ? 'maxmemory' : 'machine',
    eviction_policy: plainText(fields.maxmemory_policy ?? 'unknown').slice(0, 20),
    replicas: replicas.length,
    clients: Math.max(0, number('connected_clients') - 1),
    forecast_bytes: null,
  }
}

/** @param {FoundKey} found */
const quoted = ({ key, type }) => {
  const name = plainText(key)
  return `'${name.length > shownKey ? `${name.slice(0, shownKey)}...` : name}' (${type})`
}

/** @param {string} master @param {FoundNode} node @param {number} looked @param {Findings} found */
const foreignWords = (master, node, looked, { foreign, examples }) => {
  const lookedAt =
    looked < node.keys ? `the ${count(looked)} looked at (it has ${count(node.keys)})` : count(looked)
  return (
    `${master} has keys that no plan of Millrace covers: ${count(foreign)} of ${lookedAt}, such as ` +
    `${examples.map(quoted).join(' and ')}; take an empty server, or write beside them with --allow foreign-keys`
  )
}

/**
 * A master's databases, our own and the others, as one finding.
 * @param {Target} target
 * @param {string} master
 * @param {Info} info
 * @param {{ clock: () => number, epochMs: () => number, prefixes: readonly string[] }} needs
 * @returns {Promise<Findings>}
 */
const inspect = async (target, master, { databases, fields }, { clock, epochMs, prefixes }) => {
  const nowMs = Number(fields.server_time_usec) / 1000 || epochMs()
  const all = {
    looked: 0,
    foreign: 0,
    /** @type {Findings['examples']} */
    examples: [],
    mortal: false,
  }
  if (target.refused.has('SCAN')) return all
  const untilMs = clock() + inspectLimitMs
  for (const [name, { keys }] of Object.entries(databases)) {
    if (!(Number(keys) > 0)) continue
    // A server may have thousands of databases: after this time, keys are only counted.
    if (clock() > untilMs) break
    const db = Number(name.slice(2))
    const found = await findKeys(target, master, { nowMs, clock, db, untilMs, prefixes })
    target.leave(master, db)
    all.looked += found.looked
    all.foreign += found.foreign
    all.examples.push(...found.examples)
    all.mortal ||= found.mortal
  }
  all.examples.splice(2)
  return all
}

/** What was found, in two lines. @param {FoundNode[]} nodes @param {Target} target */
const foundWords = (nodes, { kind, address, topology, refused }) => {
  if (refused.has('INFO')) return []
  const masters = nodes.filter((node) => topology.masters.includes(node.address))
  const most = (/** @type {'clients' | 'memory_bytes' | 'forecast_bytes'} */ key) =>
    Math.max(...masters.map((node) => node[key] ?? 0))
  const tightest = masters.reduce((a, b) => (b.limit_bytes < a.limit_bytes ? b : a))
  const replicas = nodes.length - masters.length
  const keys = masters.reduce((sum, node) => sum + node.keys, 0)
  const what =
    kind === 'cluster'
      ? `a cluster on ${address}: ${several(masters.length, 'master')}`
      : `${address}: a ${masters[0].role}`
  const versions = [...new Set(nodes.map(({ version }) => version))].join(', ')
  return [
    `found ${what}, ${several(replicas, 'replica')}, version ${versions}, ${several(keys, 'key')}, ` +
      `${several(most('clients'), 'other client')}${masters.length > 1 ? ' on a master at most' : ''}`,
    `memory of a master: ${bytes(most('memory_bytes'))} of ${bytes(tightest.limit_bytes)} ` +
      `(${tightest.limit === 'maxmemory' ? 'maxmemory' : "the machine's"}, ${tightest.eviction_policy}); ` +
      `this plan takes about ${bytes(most('forecast_bytes'))}`,
  ]
}

/**
 * Memory in use later: existing keys of ours do not count twice.
 * @param {FoundNode} node
 * @param {Findings | undefined} found
 */
const needed = ({ memory_bytes: used, keys, forecast_bytes: forecast }, found) => {
  const ours = keys > 0 && found?.foreign === 0
  return ours ? Math.max(used, forecast ?? 0) : used + (forecast ?? 0)
}

/**
 * Nodes without a limit of their own share their machine's memory.
 * @param {FoundNode[]} nodes
 * @param {Map<string, Findings>} findings
 */
const memoryFault = (nodes, findings) => {
  /** @type {Map<string, FoundNode[]>} */
  const shared = new Map()
  for (const node of nodes) {
    const name = node.limit === 'maxmemory' ? node.address : endpointOf(node.address).host
    shared.set(name, [...(shared.get(name) ?? []), node])
  }
  for (const [name, group] of shared) {
    const limit = group[0].limit_bytes
    const used = group.reduce((sum, node) => sum + node.memory_bytes, 0)
    const after = group.reduce((sum, node) => sum + needed(node, findings.get(node.address)), 0)
    if (limit === 0 || after <= memoryShare * limit) continue
    const what = group[0].limit === 'maxmemory' ? 'its maxmemory' : 'the memory of its machine'
    return (
      `${name} uses ${bytes(used)}, and this plan takes about ${bytes(after - used)} more: over 70 % of ${what}, ` +
      `${bytes(limit)}; lower -q, --value-size or --ttl, or go on with --allow memory`
    )
  }
}

/** A cache may be full, where the server makes room. @param {FoundNode[]} masters */
const fullFault = (masters) => {
  const full = masters.find(
    ({ limit, eviction_policy: policy, limit_bytes: most, memory_bytes: used, forecast_bytes: forecast }) =>
      limit === 'maxmemory' && policy === 'noeviction' && used + (forecast ?? 0) > most,
  )
  return (
    full &&
    `${full.address} may not evict (noeviction), and ${bytes(full.memory_bytes + (full.forecast_bytes ?? 0))} do not fit into its maxmemory, ${bytes(full.limit_bytes)}: it would refuse writes; set maxmemory-policy allkeys-lru, or go on with --allow memory`
  )
}

/**
 * INFO of a node, for a master once it has its data; undefined for a replica that does not answer.
 * @param {Target} target
 * @param {TargetNode} node
 * @param {(line: string) => void} say
 */
const wordsOf = async (target, { address, role }, say) => {
  if (target.refused.has('INFO')) return ''
  if (role === 'replica') return target.info(address).catch(() => undefined)
  await answerOf(address, target.access, loaded(target.control(address), address, { say }))
  return answerOf(address, target.access, target.info(address))
}

/** @param {string} address @param {Info} info @param {readonly Allowance[]} allow */
const refuseReplica = (address, { fields }, allow) => {
  if (fields.role === 'slave' && !allow.includes('replica'))
    throw new TargetError(`${address} has become a replica; write to its master, or with --allow replica`)
  if (fields.slave_read_only === '1')
    throw new TargetError(`${address} is a replica that takes no writes; name its master`)
}

/** @typedef {{ clock: () => number, epochMs: () => number }} Times epochMs: by the servers' clocks */

/**
 * Checks a master that joins during the run like the first ones.
 * @param {object} needs
 * @param {Target} needs.target
 * @param {readonly Allowance[]} needs.allow
 * @param {Times} needs.times
 * @returns {(address: string, topology: { masters: string[], owners: Uint16Array | null }) => Promise<void>}
 */
export const newcomerCheck =
  ({ target, allow, times }) =>
  async (address, topology) => {
    const { access } = target
    const info = parseInfo(await answerOf(address, access, target.info(address)))
    refuseReplica(address, info, allow)
    const asNow = { ...target, topology }
    const inspectNow = async () =>
      inspect(asNow, address, info, { ...times, prefixes: await plannedPrefixes(target) })
    const found = await answerOf(address, access, inspectNow())
    if (found.foreign > 0 && !allow.includes('foreign-keys')) {
      const words = foreignWords(address, nodeIn(address, info), found.looked, found)
      throw new TargetError(`${words}; it came into the run after its start`, { code: 'FOREIGN' })
    }
  }

/**
 * Checks the target, warns, and refuses with the option that overrides.
 * @param {object} needs
 * @param {Target} needs.target
 * @param {Plan} needs.plan of all agents
 * @param {readonly Allowance[]} needs.allow
 * @param {(line: string) => void} needs.say
 * @param {(warning: Warning) => void} needs.warn
 * @param {Times} needs.times
 * @returns {Promise<Found>}
 */
export const preflight = async ({ target, plan, allow, say, warn, times }) => {
  const { masters } = target.topology
  const forecasts = forecastOfPlan(plan, target.topology, Math.max(...target.versions.map(slotTableBytes)))
  /** @type {Map<string, Findings>} */
  const findings = new Map()
  /** @type {FoundNode[]} */
  const nodes = []
  const allNodes = target.nodes()
  const nodeWords = await Promise.all(allNodes.map((node) => wordsOf(target, node, say)))
  // On a single server they are among the names scanned.
  const prefixes =
    masters.length > 1 ? await answerOf(target.address, target.access, plannedPrefixes(target)) : []
  for (const [i, { address, role, masterAddress }] of allNodes.entries()) {
    const text = nodeWords[i]
    if (text === undefined) continue
    const info = parseInfo(text)
    const node = nodeIn(address, info)
    node.forecast_bytes = forecasts[masters.indexOf(role === 'master' ? address : (masterAddress ?? ''))] ?? 0
    nodes.push(node)
    if (role !== 'master') continue
    refuseReplica(address, info, allow)
    findings.set(
      address,
      await answerOf(address, target.access, inspect(target, address, info, { ...times, prefixes })),
    )
  }
  for (const line of foundWords(nodes, target)) say(line)

  const crowded = [...findings].find(([, { foreign }]) => foreign > 0)
  if (crowded && !allow.includes('foreign-keys')) {
    const node = certain(nodes.find(({ address }) => address === crowded[0]))
    throw new TargetError(foreignWords(crowded[0], node, crowded[1].looked, crowded[1]), { code: 'FOREIGN' })
  }
  const fault = strategyNamed(plan.strategy).play.caches
    ? fullFault(nodes.filter(({ role }) => role === 'master'))
    : memoryFault(nodes, findings)
  if (fault && !allow.includes('memory')) throw new TargetError(fault, { code: 'MEMORY' })
  evictionWarnings(nodes, findings).forEach(warn)
  const foreignKeys = [...findings.values()].reduce((sum, { foreign }) => sum + foreign, 0)
  return {
    nodes,
    keys: nodes.reduce((sum, node) => sum + (findings.has(node.address) ? node.keys : 0), 0),
    foreign_keys: foreignKeys,
  }
}

/**
 * ElastiCache evicts by volatile-lru unless it is configured otherwise.
 * @param {FoundNode[]} nodes
 * @param {Map<string, Findings>} findings
 * @returns {Warning[]}
 */
const evictionWarnings = (nodes, findings) =>
  nodes
    .filter(({ address, limit, eviction_policy: policy }) => {
      const found = findings.get(address)
      if (!found || found.foreign === 0 || limit !== 'maxmemory') return false
      return policy.startsWith('allkeys') || (policy.startsWith('volatile') && found.mortal)
    })
    .map(({ address, eviction_policy: policy }) => ({
      code: 'eviction-policy',
      message: `${address} evicts by ${policy}: short of memory, it would push out other people's keys for ours; watch --guard`,
      invalidates: false,
    }))
