// One server with a replica and one cluster with replicas for all test files that only add keys under a prefix of
// their own: each file would wait for servers of its own otherwise.
import { startEmbedded } from '../../lib/servers/embedded.js'

/** @typedef {{ host: string, port: number, password: string }} Address */

export const sharedVariable = 'MILLRACE_TEST_SERVERS'

/** @param {boolean} cluster */
export const startShared = async (cluster) => {
  const { nodes, access, close } = await startEmbedded({
    cluster,
    replicas: 1,
    stateDir: null,
    log: () => {},
  })
  const [{ host, port }] = nodes
  return { address: /** @type {Address} */ ({ host, port, password: access.password }), close }
}

/** Both, and the variable that names them to the files. */
export const startSharedServers = async () => {
  const [server, cluster] = await Promise.all([startShared(false), startShared(true)])
  return {
    env: { [sharedVariable]: JSON.stringify({ server: server.address, cluster: cluster.address }) },
    close: async () => {
      await Promise.all([server.close(), cluster.close()])
    },
  }
}
