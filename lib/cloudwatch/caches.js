// Finds the caches in CloudWatch that are the nodes of a run, by given ids or by the names of their endpoints.
import { MillraceError } from '../base/errors.js'
import { groupOf } from '../servers/elasticache.js'

/**
 * @import { Dimensions, cloudWatch } from './fetch.js'
 * @import { Endpoint } from '../servers/elasticache.js'
 *
 * @typedef {ReturnType<typeof cloudWatch>} CloudWatch
 *
 * @typedef {object} Wanted
 * @property {readonly string[]} [cacheClusters] ids of nodes
 * @property {string} [replicationGroup]
 * @property {string} [region]
 *
 * @typedef {object} Cache
 * @property {string} id
 * @property {'node' | 'serverless'} kind
 * @property {Dimensions} dimensions
 * @property {string | null} address of the run's node that it is, where the names show it
 *
 * @typedef {{ hosts: string[], region: string | null, addressOf: (id: string) => string | null, named: Endpoint[] }} Names
 */

/** CloudWatch's numbers are missing. The message is one line; the run's own result stays valid. */
export class CloudWatchError extends MillraceError {
  /** @param {string} message @param {{ cause?: unknown }} [more] */
  constructor(message, { cause } = {}) {
    super('CLOUDWATCH', `CloudWatch: ${message}`, { cause })
  }
}

/** @param {string} id @returns {Dimensions} */
const nodeDimensions = (id) => [
  { Name: 'CacheClusterId', Value: id },
  { Name: 'CacheNodeId', Value: '0001' },
]

/** @param {CloudWatch} api @param {string} group */
const membersOf = async (api, group) => {
  const all = await api.published('EngineCPUUtilization')
  const ids = all.flatMap((dimensions) =>
    dimensions.filter(({ Name }) => Name === 'CacheClusterId').map(({ Value }) => Value),
  )
  const own = [...new Set(ids)].filter((id) => groupOf(id) === group).sort()
  if (own.length === 0)
    throw new CloudWatchError(
      `no node of the replication group ${group} publishes there; correct --replication-group or --region, or name the nodes with --cache-clusters`,
    )
  return own
}

/** The name of a serverless cache has its own dimension: the published one is used. @param {CloudWatch} api @param {string} name */
const serverlessCache = async (api, name) => {
  const all = await api.published('ElastiCacheProcessingUnits')
  const found = all.find((dimensions) => dimensions.some(({ Value }) => Value === name))
  if (!found)
    throw new CloudWatchError(`no serverless cache ${name} publishes there; correct --region or its name`)
  return found
}

/** @param {CloudWatch} api @param {Wanted} wanted @param {Names} names @returns {Promise<Cache[]>} */
export const cachesOf = async (
  api,
  { cacheClusters = [], replicationGroup },
  { addressOf, named, hosts },
) => {
  const nodes = (/** @type {readonly string[]} */ ids) =>
    ids.map((id) => ({
      id,
      /** @type {'node'} */
      kind: 'node',
      dimensions: nodeDimensions(id),
      address: addressOf(id),
    }))
  if (cacheClusters.length > 0) return nodes(cacheClusters)
  if (replicationGroup) return nodes(await membersOf(api, replicationGroup))
  const serverless = named.find(({ kind }) => kind === 'serverless')
  if (serverless) {
    const dimensions = await serverlessCache(api, serverless.id)
    return [{ id: serverless.id, kind: 'serverless', dimensions, address: null }]
  }
  const own = [...new Set(named.filter(({ kind }) => kind === 'node').map(({ id }) => id))]
  // The name of a group may reach its primary only: nodes have names of their own.
  const group = named.find(({ kind }) => kind === 'group')
  if (group) return nodes([...new Set([...own, ...(await membersOf(api, group.id))])])
  if (own.length > 0) return nodes(own)
  throw new CloudWatchError(
    `${hosts[0] ?? 'the target'} is not the name of an ElastiCache endpoint; give --replication-group or --cache-clusters`,
  )
}
