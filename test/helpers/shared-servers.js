// The servers that the test runner started for all files; a file that is run by itself starts its own.
import { sharedVariable, startShared } from '../../scripts/test/shared-servers.js'

/** @param {import('./servers.js').Scope} scope @param {boolean} cluster @returns {Promise<import('../../scripts/test/shared-servers.js').Address>} */
export const sharedServers = async (scope, cluster) => {
  const given = process.env[sharedVariable]
  if (given !== undefined) return JSON.parse(given)[cluster ? 'cluster' : 'server']
  const { address, close } = await startShared(cluster)
  scope.after(close)
  return address
}
