// Short names of nodes, without what all have in common.

/** The common ending of all names, from a dot on: '.cache.example.com:6379'. @param {string[]} names */
const sharedEnding = ([first, ...others]) => {
  const endings = [...first.matchAll(/\./g)].map(({ index }) => first.slice(index))
  const named = endings.filter((ending) => /^\.[a-z]/i.test(ending))
  return (others.length > 0 && named.find((ending) => others.every((name) => name.endsWith(ending)))) || ''
}

/**
 * Nodes of one host are known by their ports, those of one domain by their names.
 * @param {string[]} addresses
 * @returns {(address: string) => string}
 */
export const shortNames = (addresses) => {
  if (addresses.length === 0) return (address) => address
  const ending = sharedEnding(addresses)
  const host = /^(.*):\d+$/.exec(addresses[0])?.[1]
  const oneHost =
    addresses.length > 1 && addresses.every((address) => /^(.*):\d+$/.exec(address)?.[1] === host)
  return (address) => {
    if (oneHost) return address.slice(address.lastIndexOf(':') + 1)
    return ending && address.endsWith(ending) ? address.slice(0, -ending.length) : address
  }
}
