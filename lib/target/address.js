// Addresses as text and back.

/** @typedef {{ host: string, port: number }} Endpoint */

/** @param {Endpoint} endpoint */
export const addressOf = ({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

/**
 * The port stands behind the last colon, so IPv6 works with brackets and without.
 * @param {string} address
 * @returns {Endpoint}
 */
export const endpointOf = (address) => {
  const at = address.lastIndexOf(':')
  return { host: address.slice(0, at).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(at + 1)) }
}
