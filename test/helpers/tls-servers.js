// Servers that speak TLS only, and the certificates of a small authority of our own.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { findServerBinary } from '../../lib/servers/embedded-binary.js'
import { formCluster, formingConfig } from '../../lib/servers/embedded-cluster.js'
import { baseConfig, freePorts, inServerGroup } from '../../lib/servers/embedded-servers.js'
import { ownFolder, until } from './programs.js'

/** @import { Scope } from './servers.js' */

const password = 'correct-horse-battery'
const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/**
 * An authority, the certificate of a server for `names`, and one of a client.
 * @param {Scope} t
 * @param {{ names?: string, days?: string }} [options] names: as OpenSSL wants them
 */
export function makeCertificates(t, { names = 'IP:127.0.0.1,DNS:localhost', days = '2' } = {}) {
  const dir = ownFolder(t, 'certificates')
  const file = (/** @type {string} */ name) => join(dir, name)
  const openssl = (/** @type {string[]} */ ...args) => execFileSync('openssl', args, { stdio: 'pipe' })
  openssl(
    'req',
    '-x509',
    ...curve,
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.crt'),
    '-subj',
    '/CN=Test CA',
    '-days',
    '2',
  )
  for (const [name, alternatives] of [
    ['server', names],
    ['client', 'DNS:client'],
  ]) {
    writeFileSync(file('extensions'), `subjectAltName=${alternatives}\n`)
    openssl(
      'req',
      '-new',
      ...curve,
      '-keyout',
      file(`${name}.key`),
      '-out',
      file(`${name}.csr`),
      '-subj',
      `/CN=${name}`,
    )
    openssl(
      ...['x509', '-req', '-in', file(`${name}.csr`), '-CA', file('ca.crt'), '-CAkey', file('ca.key')],
      ...['-CAcreateserial', '-days', days, '-extfile', file('extensions'), '-out', file(`${name}.crt`)],
    )
  }
  return {
    ca: file('ca.crt'),
    cert: file('client.crt'),
    key: file('client.key'),
    serverCert: file('server.crt'),
    serverKey: file('server.key'),
  }
}

/** @typedef {ReturnType<typeof makeCertificates>} Certificates */

/** @param {Certificates} certificates @param {number} port @param {boolean} clients must show a certificate */
const tlsConfig = ({ ca, serverCert, serverKey }, port, clients) => [
  ...baseConfig({ port: 0, password }).filter(([name]) => name !== 'port'),
  /** @type {[string, number]} */ (['port', 0]),
  /** @type {[string, number]} */ (['tls-port', port]),
  /** @type {[string, string]} */ (['tls-cert-file', serverCert]),
  /** @type {[string, string]} */ (['tls-key-file', serverKey]),
  /** @type {[string, string]} */ (['tls-ca-cert-file', ca]),
  /** @type {[string, string]} */ (['tls-auth-clients', clients ? 'yes' : 'no']),
  /** @type {[string, string]} */ (['tls-replication', 'yes']),
]

/**
 * One server, or a cluster.
 * @param {Scope} t
 * @param {Certificates} certificates
 * @param {{ clients?: boolean, shards?: number, replicas?: number }} [options] clients: must show a certificate; shards: a
 *   cluster; replicas of each
 */
export async function startTlsServers(t, certificates, { clients = false, shards, replicas = 0 } = {}) {
  const masters = shards ?? 1
  const count = masters * (1 + replicas)
  const { group, result } = await inServerGroup(findServerBinary(), async (servers) => {
    const ports = await freePorts(count, shards ? 'any' : 'none')
    const launched = ports.map(({ port, busPort }, i) => {
      const config = tlsConfig(certificates, port, clients)
      if (shards)
        config.push(
          ...[
            ['cluster-enabled', 'yes'],
            ['cluster-config-file', 'nodes.conf'],
            ['tls-cluster', 'yes'],
          ].map(([name, value]) => /** @type {[string, string]} */ ([name, value])),
          ['cluster-announce-ip', '127.0.0.1'],
          ['cluster-port', busPort],
          .../** @type {[string, number][]} */ (formingConfig),
        )
      return {
        ...servers.launch(`tls-${i}`, port, config),
        busPort,
        role: /** @type {'master' | 'replica'} */ (i < masters ? 'master' : 'replica'),
        shard: (i % masters) + 1,
      }
    })
    const members = launched.map((server) => {
      const redis = new Redis({
        host: server.host,
        port: server.port,
        password,
        tls: {
          ca: readFileSync(certificates.ca),
          cert: readFileSync(certificates.cert),
          key: readFileSync(certificates.key),
          checkServerIdentity: () => undefined,
        },
        retryStrategy: () => 20,
        maxRetriesPerRequest: null,
      })
      redis.on('error', () => {}) // refused until it listens
      return { ...server, redis }
    })
    await Promise.all(members.map(({ redis }) => redis.ping()))
    if (shards) await formCluster(members, { slotRanges: true, signal: AbortSignal.timeout(30_000) })
    return members
  })
  const close = async () => {
    for (const { redis } of result) redis.disconnect()
    await group.close()
  }
  t.after(close)
  const [{ host, port, redis }] = result
  await until('an answer', async () => (await redis.ping()) === 'PONG')
  return { host, port, password, members: result, redis, close }
}
