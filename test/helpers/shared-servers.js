// The servers that the test runner started for all files; a file that is run by itself starts its own.
import { sharedVariable, startShared } from '../../scripts/test/shared-servers.js'
/** @import { Scope } from './servers.js' */
/** @import { Address } from '../../scripts/test/shared-servers.js' */

/** @param {Scope} scope @param {boolean} cluster @returns {Promise<Address>} */
export const sharedServers = async (scope, cluster) => {
  const given = process.env[sharedVariable]
  if (given !== undefined) return JSON.parse(given)[cluster ? 'cluster' : 'server']
  const { address, close } = await startShared(cluster)
  scope.after(close)
  return address
}
