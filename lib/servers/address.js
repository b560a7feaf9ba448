// Addresses as text and back.
import { isIP } from 'node:net'

/**
 * @import { Server } from 'node:net'
 *
 * @typedef {{ host: string, port: number }} Endpoint
 */

/** @param {Endpoint} endpoint */
export const addressOf = ({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

/**
 * The port is behind the last colon, so IPv6 works with brackets and without.
 * @param {string} address
 * @returns {Endpoint}
 */
export const endpointOf = (address) => {
  const at = address.lastIndexOf(':')
  return { host: address.slice(0, at).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(at + 1)) }
}

/** What may be connected to: any other text of a server is not an address of a node. @param {Endpoint} endpoint */
export const isDialable = ({ host, port }) =>
  (isIP(host) !== 0 || /^[\w.-]{1,253}$/.test(host)) && Number.isInteger(port) && port > 0 && port < 65_536

/** Where a server of this process listens. @param {Server} server */
export const portOf = (server) => {
  const at = server.address()
  if (at === null || typeof at === 'string') throw new TypeError('the server listens on no port')
  return at.port
}
