// Addresses that belong to the machine's own link, such as the metadata service of a cloud: no server may send us there.
import dns from 'node:dns'
import { BlockList, isIP } from 'node:net'

/** @import { LookupAddress } from 'node:dns' */

const linkLocal = new BlockList()
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4')
linkLocal.addSubnet('fe80::', 10, 'ipv6')

/** @param {string} host an address; a name is resolved later, by `lookupBeyond` */
export const isLinkLocal = (host) => {
  const [address] = host.split('%', 1)
  const version = isIP(address)
  return version !== 0 && linkLocal.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

/** The `lookup` of a connection: a name that resolves to link-local addresses alone is refused. @type {import('node:net').LookupFunction} */
export const lookupBeyond = (host, options, callback) =>
  dns.lookup(host, { ...options, all: true }, (error, found) => {
    const usable = error ? [] : found.filter(({ address }) => !isLinkLocal(address))
    if (error || usable.length === 0)
      callback(error ?? new Error(`${host} resolves to a link-local address, and nothing was sent there`), '')
    else if (options.all) callback(null, usable)
    else callback(null, usable[0].address, usable[0].family)
  })
