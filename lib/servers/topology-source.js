// Where the topology is read from, at the start and whenever it may have changed.

import { isIP } from 'node:net'
import { TargetError } from '../base/errors.js'
import { plainText } from '../base/units.js'
import { parseInfo } from '../wire/info.js'
import { slotCount } from '../wire/slot.js'
import { addressOf, endpointOf } from './address.js'
import { clusterNodes } from './cluster-nodes.js'
import { UnconfirmedError } from './confirmed-servers.js'
import { reasonFor } from './reason.js'
import { clusterLayout, singleLayout, slotRanges } from './topology.js'

/**
 * @import { Endpoint } from './address.js'
 * @import { ConfirmedServers } from './confirmed-servers.js'
 * @import { controlConnections } from './control.js'
 * @import { Sentinels } from './sentinel.js'
 * @import { Question } from './unsupported-commands.js'
 * @import { Layout } from './topology.js'
 *
 * @typedef {Layout & { epoch?: number }} Dated a layout, and how new it is
 * @typedef {ReadonlySet<Question>} Refused
 * @typedef {ReturnType<typeof controlConnections>} Control
 * @typedef {{ address: string, role: string, master: string | null, layout: Dated }} Said what one server says of itself
 */

/** Whatever a server calls itself, as an address that can be compared. @param {string} host @param {number} port */
const shownAddress = (host, port) =>
  isIP(host) || /^[\w.-]{1,253}$/.test(host) ? addressOf({ host, port }) : plainText(`${host}:${port}`)

// Combines what several nodes report of the topology: for each slot the newest claim counts, as in the cluster itself. A
// node that was away or has old data cannot bring back an old owner.

/**
 * @typedef {[host: string | null, port: number, id: string, ...more: unknown[]]} SlotNode
 * @typedef {[from: number, to: number, master: SlotNode, ...replicas: SlotNode[]]} SlotRow
 * @typedef {{ rows: SlotRow[], epochs: Map<string, number>, slotless: string[] }} View what one node says
 */

const graceMs = 100
const limitMs = 2000

/**
 * @param {unknown} slots the answer to CLUSTER SLOTS
 * @param {string} nodesText the answer to CLUSTER NODES; '' where it may not be asked
 * @param {string} asked the host that was asked
 * @returns {View}
 */
export const viewOf = (slots, nodesText, asked) => {
  // A node that does not know its own address was asked at it.
  /** @param {SlotNode} node @returns {SlotNode} */
  const named = ([host, ...rest]) => [host || asked, ...rest]
  const nodes = clusterNodes(nodesText, asked)
  return {
    // Checked before any loop runs to the end of a range.
    rows: slotRanges(slots, asked).map(
      /** @returns {SlotRow} */ ([from, to, master, ...nodes]) => [
        from,
        to,
        named(master),
        ...nodes.map(named),
      ],
    ),
    epochs: new Map(nodes.map(({ id, epoch }) => [id, epoch])),
    slotless: nodes
      .filter(({ role, failed, slots }) => role === 'master' && !failed && slots.length === 0)
      .map(({ address }) => address),
  }
}

/** @param {SlotRow} row */
const masterIn = ([, , [host, port]]) => `${host}:${port}`

/**
 * @param {View[]} views at least one
 * @returns {Layout & { epoch: number, others: string[] }} others: masters without slots
 */
export const newestLayout = (views) => {
  const best = new Float64Array(slotCount).fill(-1)
  /** @type {(SlotRow | undefined)[]} */
  const claims = Array(slotCount).fill(undefined)
  for (const { rows, epochs } of views) {
    for (const row of rows) {
      const epoch = epochs.get(row[2][2]) ?? 0
      for (let slot = row[0]; slot <= row[1]; slot++) {
        if (epoch <= best[slot]) continue
        best[slot] = epoch
        claims[slot] = row
      }
    }
  }
  /** @type {SlotRow[]} */
  const rows = []
  for (let from = 0; from < slotCount; ) {
    const claim = claims[from]
    let to = from
    while (to + 1 < slotCount && isSame(claims[to + 1], claim)) to++
    if (claim) rows.push([from, to, .../** @type {[SlotNode]} */ (claim.slice(2))])
    from = to + 1
  }
  const epoch = Math.max(0, ...views.flatMap(({ epochs }) => [...epochs.values()]))
  const layout = clusterLayout(withAllReplicas(rows, views), '')
  const slotless = new Set(views.flatMap((view) => view.slotless))
  const others = [...slotless].filter((address) => layout.nodes.every((node) => node.address !== address))
  return { ...layout, epoch, others }
}

/**
 * A replica that joined is known to one node before the others, and the first to answer may not have heard of it: each master
 * has those that any view of its claim names, and each replica one master.
 * @param {SlotRow[]} rows
 * @param {View[]} views
 * @returns {SlotRow[]}
 */
const withAllReplicas = (rows, views) => {
  /** @type {Map<string, { epoch: number, replicas: Map<string, SlotNode> }>} by master */
  const claims = new Map()
  for (const view of views) {
    for (const row of view.rows) {
      const [, , [, , id], ...nodes] = row
      const epoch = view.epochs.get(id) ?? 0
      const known = claims.get(masterIn(row))
      if (known && known.epoch > epoch) continue
      const replicas = known?.epoch === epoch ? known.replicas : new Map()
      for (const node of nodes) replicas.set(`${node[0]}:${node[1]}`, node)
      claims.set(masterIn(row), { epoch, replicas })
    }
  }
  /** @type {Map<string, string>} */
  const masterOf = new Map()
  return rows.map((row) => {
    const [from, to, master] = row
    const replicas = [...(claims.get(masterIn(row))?.replicas ?? [])].filter(([address]) => {
      if (!masterOf.has(address)) masterOf.set(address, masterIn(row))
      return masterOf.get(address) === masterIn(row)
    })
    return [from, to, master, ...replicas.map(([, node]) => node)]
  })
}

/** @param {SlotRow | undefined} a @param {SlotRow | undefined} b */
const isSame = (a, b) => a === b || (a !== undefined && b !== undefined && masterIn(a) === masterIn(b))

/**
 * A shard keeps its number while slots move and roles change.
 * @template {Layout} T
 * @param {Layout} before
 * @param {T} after
 * @returns {T}
 */
export const withOldShards = (before, after) => {
  const numbers = new Map(before.nodes.map(({ address, shard }) => [address, shard]))
  let last = Math.max(0, ...numbers.values())
  /** @type {Map<number, number>} the new layout's numbers, and what they were */
  const was = new Map()
  const taken = new Set()
  const masters = after.nodes.filter(({ role }) => role === 'master')
  for (const { shard, address } of masters) {
    const number = numbers.get(address)
    if (number === undefined || taken.has(number)) continue
    taken.add(number)
    was.set(shard, number)
  }
  for (const { shard } of masters) if (!was.has(shard)) was.set(shard, ++last)
  const nodes = after.nodes.map((node) => ({ ...node, shard: was.get(node.shard) ?? node.shard }))
  nodes.sort((a, b) => a.shard - b.shard || Number(a.role === 'replica') - Number(b.role === 'replica'))
  return { ...after, nodes }
}

/** @param {readonly string[]} addresses @param {{ address: string, error: unknown } | undefined} fault */
const whyNot = (addresses, fault) => {
  if (!fault) return `${addresses.join(', ')}: no answer within ${limitMs} ms`
  const { address, error } = fault
  return error instanceof TargetError ? error.message : reasonFor(address, error)
}

/**
 * Asks all nodes at once and takes what has arrived shortly after the first answer; a node that is away delays nothing, and
 * is not asked again before it has answered.
 * @template T
 * @param {(address: string) => Promise<T>} ask
 */
export const asker = (ask) => {
  /** @type {Map<string, Promise<T>>} */
  const open = new Map()
  const question = (/** @type {string} */ address) => {
    const known = open.get(address)
    if (known) return known
    const asked = ask(address).finally(() => open.delete(address))
    open.set(address, asked)
    return asked
  }
  /** @param {readonly string[]} addresses @returns {Promise<T[]>} */
  return (addresses) =>
    new Promise((resolve, reject) => {
      /** @type {T[]} */
      const answers = []
      /** @type {{ address: string, error: unknown } | undefined} the first */
      let fault
      let left = addresses.length
      const end = () => {
        clearTimeout(timer)
        if (answers.length > 0) resolve(answers)
        else
          reject(
            new TargetError(`no node reports the topology: ${whyNot(addresses, fault)}`, {
              code: 'TOPOLOGY',
              cause: fault?.error,
            }),
          )
      }
      let timer = setTimeout(end, limitMs)
      const one = async (/** @type {string} */ address) => {
        try {
          answers.push(await question(address))
          if (answers.length === 1) {
            clearTimeout(timer)
            timer = setTimeout(end, graceMs)
          }
        } catch (error) {
          fault ??= { address, error }
        }
        if (--left === 0) end()
      }
      for (const address of addresses) one(address)
    })
}

/** @param {Dated} layout @param {string} seed */
const addressesIn = (layout, seed) => [
  ...new Set([...layout.masters, ...layout.nodes.map(({ address }) => address), seed]),
]

/** @param {Control} control @param {Endpoint} endpoint */
const clusterTopology = (control, endpoint) => {
  const seed = addressOf(endpoint)
  const ask = asker(async (address) => {
    const { host } = endpointOf(address)
    const client = control.clientOf(endpointOf(address))
    const [rows, nodes] = await Promise.all([
      client.call('CLUSTER', 'SLOTS'),
      // A user who may not ask CLUSTER NODES gets the slots without epochs.
      client.call('CLUSTER', 'NODES').catch(() => ''),
    ])
    return viewOf(rows, String(nodes), host)
  })
  return {
    /** @returns {Promise<Dated>} */
    first: async () => newestLayout(await ask([seed])),
    /** @param {Dated} before @returns {Promise<Dated>} */
    again: async (before) => withOldShards(before, newestLayout(await ask(addressesIn(before, seed)))),
  }
}

/**
 * @param {Control} control
 * @param {Endpoint} endpoint
 * @param {Pick<TopologySourceNeeds, 'sentinels' | 'mayBeReplica' | 'refused' | 'confirmed' | 'takesReplica'>} options
 */
const singleTopology = (control, endpoint, options) => {
  const { sentinels, mayBeReplica, refused, confirmed, takesReplica } = options
  // A server that does not report its role stays the only one.
  const layout = singleLayout(endpoint, [])
  /** @returns {Promise<Dated>} */
  const unchanged = async () => layout
  if (refused.has('INFO')) return { first: unchanged, again: unchanged }
  const ask = asker(
    /** @returns {Promise<Said>} */
    async (address) => {
      const text = String(await control.clientOf(endpointOf(address)).call('INFO', 'replication'))
      const { fields, replicas } = parseInfo(text)
      const { role, master_host: host, master_port: port } = fields
      const master = host === undefined ? null : shownAddress(host, Number(port))
      const layout = singleLayout(endpointOf(address), replicas)
      layout.nodes = layout.nodes.filter(
        (node) => node.role === 'master' || takesReplica(node.address, address),
      )
      return { address, role, master, layout }
    },
  )
  const isMaster = (/** @type {Said} */ { role }) => mayBeReplica || role === 'master'

  const bySentinels = async (/** @type {Sentinels} */ from) => {
    const { primary, epoch } = await from.primary()
    const address = addressOf(primary)
    confirmed.name(address)
    const [said] = await ask([address])
    // A sentinel may name a new primary a moment before it has been promoted.
    if (!isMaster(said)) throw new TargetError(`${address} is not a master yet`, { code: 'TOPOLOGY' })
    return { ...said.layout, epoch }
  }
  /** @param {Dated} before */
  const byServers = async (before) => {
    const known = addressesIn(before, addressOf(endpoint))
    const said = await ask(known)
    const current = said.find(({ address }) => address === before.masters[0])
    if (current && isMaster(current)) return current.layout
    const named = current?.master ?? null
    // It is not asked, since the question would carry the password.
    if (named !== null && !known.includes(named)) {
      throw new UnconfirmedError(
        `${before.masters[0]} has become a replica of ${named}, which was not checked before the run; nothing was sent there`,
      )
    }
    const next = said.find((one) => isMaster(one) && (named === null || one.address === named))
    if (!next) throw new TargetError(`${before.masters[0]}: no master answers`, { code: 'TOPOLOGY' })
    return next.layout
  }
  return {
    /** @returns {Promise<Dated>} */
    first: async () => (sentinels ? bySentinels(sentinels) : (await ask([addressOf(endpoint)]))[0].layout),
    /** @param {Dated} before @returns {Promise<Dated>} */
    again: async (before) =>
      withOldShards(before, sentinels ? await bySentinels(sentinels) : await byServers(before)),
  }
}

/**
 * @typedef {object} TopologySourceNeeds
 * @property {Control} control
 * @property {Endpoint} endpoint
 * @property {boolean} cluster
 * @property {Sentinels | null} sentinels
 * @property {boolean} mayBeReplica
 * @property {Refused} refused
 * @property {ConfirmedServers} confirmed
 * @property {(replica: string, master: string) => boolean} takesReplica
 */

/** @param {TopologySourceNeeds} needs */
export const topologySourceOf = ({ control, endpoint, cluster, ...single }) =>
  cluster ? clusterTopology(control, endpoint) : singleTopology(control, endpoint, single)
