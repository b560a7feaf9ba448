// Servers that speak TLS only, and the certificates of a small authority of our own.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { formCluster, formingConfig } from '../../lib/servers/embedded.js'
import { findServerBinary } from '../../lib/servers/embedded-binary.js'
import { baseConfig, freePorts, inServerGroup } from '../../lib/servers/embedded-servers.js'
import { atEnd } from './at-end.js'
import { ownFolder, until } from './programs.js'

/** @import { Scope } from './servers.js' */

const password = 'correct-horse-battery'
const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout'

/**
 * An authority, the certificate of a server for `names`, and one of a client.
 * @param {Scope} t
 * @param {{ names?: string, days?: string }} [options] names: as OpenSSL wants them
 */
export function makeCertificates(t, { names = 'IP:127.0.0.1,DNS:localhost', days = '2' } = {}) {
  const cwd = ownFolder(t, 'certificates')
  const file = (/** @type {string} */ name) => join(cwd, name)
  const openssl = (/** @type {string} */ line) =>
    execFileSync('openssl', line.split(' '), { cwd, stdio: 'pipe' })
  openssl(`req -x509 ${key} ca.key -out ca.crt -subj /CN=Test-CA -days 2`)
  for (const [name, alternatives] of Object.entries({ server: names, client: 'DNS:client' })) {
    writeFileSync(file('extensions'), `subjectAltName=${alternatives}\n`)
    openssl(`req -new ${key} ${name}.key -out ${name}.csr -subj /CN=${name}`)
    const signed = '-CA ca.crt -CAkey ca.key -CAcreateserial -extfile extensions'
    openssl(`x509 -req -in ${name}.csr ${signed} -days ${days} -out ${name}.crt`)
  }
  return {
    ...{ ca: file('ca.crt'), cert: file('client.crt'), key: file('client.key') },
    ...{ serverCert: file('server.crt'), serverKey: file('server.key') },
  }
}

/** @typedef {ReturnType<typeof makeCertificates>} Certificates */

/**
 * One server, or a cluster.
 * @param {Scope} t
 * @param {Certificates} certificates
 * @param {{ clients?: boolean, shards?: number, replicas?: number }} [options] clients: must show a certificate; shards: a
 *   cluster; replicas of each
 */
export async function startTlsServers(t, certificates, { clients = false, shards, replicas = 0 } = {}) {
  const { ca, cert, key, serverCert, serverKey } = certificates
  const masters = shards ?? 1
  /** @param {{ port: number, busPort: number }} ports */
  const configOf = ({ port, busPort }) => [
    ...baseConfig({ port: 0, password }),
    ...Object.entries({
      ...{ 'tls-port': port, 'tls-cert-file': serverCert, 'tls-key-file': serverKey, 'tls-ca-cert-file': ca },
      ...{ 'tls-auth-clients': clients ? 'yes' : 'no', 'tls-replication': 'yes' },
      ...(shards && { 'cluster-enabled': 'yes', 'cluster-config-file': 'nodes.conf', 'tls-cluster': 'yes' }),
      ...(shards && { 'cluster-announce-ip': '127.0.0.1', 'cluster-port': busPort }),
    }),
    ...(shards ? formingConfig : []),
  ]
  const tls = {
    ...{ ca: readFileSync(ca), cert: readFileSync(cert), key: readFileSync(key) },
    checkServerIdentity: () => undefined,
  }
  const { group, result: members } = await inServerGroup(findServerBinary(), async (servers) => {
    const ports = await freePorts(masters * (1 + replicas), shards ? 'any' : 'none')
    const members = ports.map((own, i) => {
      const server = servers.launch(`tls-${i}`, own.port, configOf(own))
      const { host, port } = server
      const retrying = { retryStrategy: () => 20, maxRetriesPerRequest: null }
      const redis = new Redis({ host, port, password, tls, ...retrying })
      redis.on('error', () => {}) // refused until it listens
      const role = /** @type {'master' | 'replica'} */ (i < masters ? 'master' : 'replica')
      return { ...server, redis, busPort: own.busPort, role, shard: (i % masters) + 1 }
    })
    await Promise.all(members.map(({ redis }) => redis.ping()))
    if (shards) await formCluster(members, { slotRanges: true, signal: AbortSignal.timeout(30_000) })
    return members
  })
  const close = async () => {
    for (const { redis } of members) redis.disconnect()
    await group.close()
  }
  atEnd(t, close)
  const [{ host, port, redis }] = members
  await until('an answer', async () => (await redis.ping()) === 'PONG')
  return { host, port, password, members, redis, close }
}
