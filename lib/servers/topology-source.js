// Where the topology is read from, at the start and whenever it may have changed.
import { TargetError } from '../base/errors.js'
import { parseInfo } from '../wire/info.js'
import { addressOf, endpointOf } from './address.js'
import { shownAddress, UnconfirmedError } from './confirmed-servers.js'
import { asker, newestLayout, viewOf, withOldShards } from './newest.js'
import { singleLayout } from './topology.js'

/**
 * @import { Endpoint } from './address.js'
 * @import { ConfirmedServers } from './confirmed-servers.js'
 * @import { controlConnections } from './control.js'
 * @import { Sentinels } from './sentinel.js'
 * @import { Question } from './unsupported-commands.js'
 *
 * @typedef {import('./topology.js').Layout & { epoch?: number }} Layout
 * @typedef {ReadonlySet<Question>} Refused
 * @typedef {ReturnType<typeof controlConnections>} Control
 * @typedef {{ address: string, role: string, master: string | null, layout: Layout }} Said what one server says of itself
 */

/** @param {Layout} layout @param {string} seed */
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
    /** @returns {Promise<Layout>} */
    first: async () => newestLayout(await ask([seed])),
    /** @param {Layout} before @returns {Promise<Layout>} */
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
  /** @returns {Promise<Layout>} */
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
  /** @param {Layout} before */
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
    /** @returns {Promise<Layout>} */
    first: async () => (sentinels ? bySentinels(sentinels) : (await ask([addressOf(endpoint)]))[0].layout),
    /** @param {Layout} before @returns {Promise<Layout>} */
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
