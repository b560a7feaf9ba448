// The region, group and node in the name of an ElastiCache endpoint. Pure.
import { entryOf, exactly } from '../base/typed.js'

/**
 * @typedef {object} Endpoint
 * @property {string} region
 * @property {'node' | 'group' | 'serverless'} kind
 * @property {string} id of the cache cluster (a node), of the replication group, or of the serverless cache
 */

const directions = {
  n: 'north',
  s: 'south',
  e: 'east',
  w: 'west',
  c: 'central',
  ne: 'northeast',
  se: 'southeast',
  nw: 'northwest',
  sw: 'southwest',
}

/** us-east-1 of use1, ap-southeast-2 of apse2; null where it is no such code. @param {string} code */
export const regionOf = (code) => {
  const found = /^(us|eu|ap|ca|sa|me|af|il|mx|cn)(ne|nw|se|sw|n|s|e|w|c)(\d)$/.exec(code)
  return found ? `${found[1]}-${entryOf(directions, found[2])}-${found[3]}` : null
}

/** A node's name ends in its number; in cluster mode the shard's number, 0001 to 0500, comes before it. */
const member = /^(.+?)-(?:0[0-5]\d\d-)?\d{3}$/

/** The group of a node; null: it has none. @param {string} id */
export const groupOf = (id) => member.exec(id)?.[1] ?? null

/**
 * Names as ElastiCache makes them, with TLS (`master.g.abc.use1...`) and without (`g.abc.ng.0001.use1...`).
 * @param {string} host
 * @returns {Endpoint | null} null: no name of an ElastiCache endpoint
 */
export const endpointIn = (host) => {
  const found = /^(.+)\.([a-z0-9]+)\.cache\.amazonaws\.com(?:\.cn)?\.?$/i.exec(host)
  const region = found && regionOf(found[2].toLowerCase())
  if (!found || !region) return null
  const parts = found[1].toLowerCase().split('.')
  const [first, second] = parts
  const group = (/** @type {string} */ id) => ({ region, kind: exactly('group'), id })
  if (parts.includes('serverless'))
    return { region, kind: 'serverless', id: first.replace(/-[a-z0-9]{6}$/, '') }
  if (['master', 'replica', 'clustercfg'].includes(first) && second) return group(second)
  if (parts.includes('clustercfg')) return group(first)
  if (parts.includes('ng')) return group(first.replace(/-ro$/, ''))
  return { region, kind: 'node', id: first }
}
