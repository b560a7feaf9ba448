// A server with TLS that lets in who has a token of IAM: it checks AUTH and HELLO itself, with a signature of its own, and
// passes everything else on to a real server. Tokens are good for a few seconds, as ElastiCache's are for 15 minutes, and a
// connection may be, too.
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import tls from 'node:tls'
import { until } from './programs.js'
import { openCli } from './servers.js'

/** @import { Embedded } from '../../lib/servers/embedded.js' */
/** @import { Scope } from './servers.js' */

const hash = (/** @type {string} */ text) => createHash('sha256').update(text).digest('hex')
const hmac = (/** @type {import('node:crypto').BinaryLike} */ key, /** @type {string} */ text) =>
  createHmac('sha256', key).update(text).digest()

/** What Signature Version 4 makes of a presigned request, as its specification says. @param {URL} url @param {string} secret */
const signatureOf = (url, secret) => {
  const query = [...url.searchParams].filter(([name]) => name !== 'X-Amz-Signature')
  const canonical = query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join('&')
  const request = ['GET', '/', canonical, `host:${url.host}\n`, 'host', hash('')].join('\n')
  const [, date, region, service, end] = String(url.searchParams.get('X-Amz-Credential')).split('/')
  const at = url.searchParams.get('X-Amz-Date')
  const text = ['AWS4-HMAC-SHA256', at, [date, region, service, end].join('/'), hash(request)].join('\n')
  const key = [date, region, service, end].reduce(
    (/** @type {import('node:crypto').BinaryLike} */ over, part) => hmac(over, part),
    `AWS4${secret}`,
  )
  return hmac(key, text).toString('hex')
}

/** The age of a token in s; null: it is none, or of another user. @param {string} token @param {{ user: string, cache: string, secret: string }} door */
const ageOf = (token, { user, cache, secret }) => {
  const url = new URL(`http://${token}`)
  const asked = url.searchParams
  if (url.host !== cache || asked.get('Action') !== 'connect' || asked.get('User') !== user) return null
  if (asked.get('X-Amz-Signature') !== signatureOf(url, secret)) return null
  const [, y, mo, d, h, mi, s] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(asked.get('X-Amz-Date'))) ?? []
  return (
    (Date.now() - Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s))) / 1000
  )
}

/** The first command in the bytes, and how long it is; null: more is needed. @param {Buffer} bytes */
const firstCommand = (bytes) => {
  let at = 0
  const number = () => {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) return null
    const value = Number(bytes.toString('latin1', at + 1, end))
    at = end + 2
    return value
  }
  const words = []
  const count = number()
  if (count === null) return null
  while (words.length < count) {
    const length = number()
    if (length === null || bytes.length < at + length + 2) return null
    words.push(bytes.toString('latin1', at, at + length))
    at += length + 2
  }
  return { words, bytes: bytes.subarray(0, at), length: at }
}

const encoded = (/** @type {string[]} */ words) =>
  Buffer.from(
    `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`,
    'latin1',
  )

/** @typedef {{ user: string, cache: string, secret: string, goodForS: number, cutAfterS?: number, port?: number }} Door cutAfterS: as ElastiCache ends a connection that has not logged in for 12 hours */

/** Where AUTH is in a command, alone or in HELLO; -1: nowhere. @param {readonly string[]} words */
const authIn = ([name, ...rest]) =>
  /^auth$/i.test(name)
    ? 0
    : /^hello$/i.test(name)
      ? 1 + rest.findIndex((word) => /^auth$/i.test(word)) || -1
      : -1

/**
 * One connection: what comes of each command of the client.
 * @param {net.Socket} client
 * @param {net.Socket} behind
 * @param {{ password: string }} server
 * @param {Door} door
 * @param {{ let: number, again: number, refused: number, cut: string[] }} seen
 */
const visitOf = (client, behind, { password }, door, seen) => {
  let name = ''
  let loggedInMs = 0
  /** The server behind has a password of its own, of which the client knows nothing. @param {string[]} words @param {number} at of AUTH */
  const login = (words, at) => {
    const age = words[at + 1] === door.user ? ageOf(words[at + 2] ?? '', door) : null
    const isGood = age !== null && age <= door.goodForS
    if (isGood) {
      if (loggedInMs > 0) seen.again++
      else seen.let++
      loggedInMs = Date.now()
    } else seen.refused++
    const own = ['AUTH', 'default', isGood ? password : 'wrong']
    behind.write(encoded([...words.slice(0, at), ...own, ...words.slice(at + 3)]))
  }
  const take = (/** @type {NonNullable<ReturnType<typeof firstCommand>>} */ { words, bytes }) => {
    const setName = words.findIndex((word) => /^setname$/i.test(word))
    if (setName > 0) name = words[setName + 1]
    const auth = authIn(words)
    if (auth >= 0) return login(words, auth)
    if (loggedInMs > 0) return void behind.write(bytes)
    seen.refused++
    client.write('-NOAUTH Authentication required.\r\n')
  }
  let waiting = Buffer.alloc(0)
  client.on('data', (bytes) => {
    waiting = waiting.length > 0 ? Buffer.concat([waiting, bytes]) : bytes
    for (let first = firstCommand(waiting); first; first = firstCommand(waiting)) {
      waiting = waiting.subarray(first.length)
      take(first)
    }
  })
  const { cutAfterS = Number.POSITIVE_INFINITY } = door
  const timer = setInterval(() => {
    if (loggedInMs === 0 || Date.now() - loggedInMs < cutAfterS * 1000) return
    seen.cut.push(name)
    client.destroy()
  }, 50).unref()
  client.on('close', () => clearInterval(timer))
}

/**
 * @param {Scope} t
 * @param {{ port: number, password: string }} server behind it
 * @param {{ serverCert: string, serverKey: string }} certificates
 * @param {Door} door
 */
export async function openIamDoor(t, server, certificates, door) {
  /** @type {Set<import('node:stream').Duplex>} */
  const sockets = new Set()
  /** again: logins of connections that were let in before; cut: names of those that did not log in again */
  const seen = { let: 0, again: 0, refused: 0, cut: /** @type {string[]} */ ([]) }
  const options = { key: readFileSync(certificates.serverKey), cert: readFileSync(certificates.serverCert) }
  const listener = tls.createServer(options, (client) => {
    const behind = net.connect(server.port, '127.0.0.1')
    for (const socket of [client, behind]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('close', () => behind.destroy())
    behind.on('close', () => client.destroy())
    visitOf(client, behind, server, door, seen)
    behind.pipe(client)
  })
  listener.listen(door.port ?? 0, '127.0.0.1')
  await once(listener, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.after(() => {
    cut()
    listener.close()
  })
  return { port: /** @type {net.AddressInfo} */ (listener.address()).port, seen, cut }
}

/**
 * A cluster behind doors, one to each master, whose nodes name the doors.
 * @param {Scope} t
 * @param {Pick<Embedded, 'nodes' | 'access'>} cluster of masters alone: replication would end at a door
 * @param {Parameters<typeof openIamDoor>[2]} certificates
 * @param {Omit<Door, 'port'>} door
 */
export async function openIamDoors(t, { nodes, access }, certificates, door) {
  const servers = nodes.map(({ host, port }) => ({ host, port, ...access }))
  const doors = await Promise.all(servers.map((server) => openIamDoor(t, server, certificates, door)))
  const asks = servers.map((server) => openCli(t, server))
  await Promise.all(asks.map((ask, i) => ask([`CONFIG SET cluster-announce-port ${doors[i].port}`])))
  await until('nodes that name the doors', async () => {
    const told = await Promise.all(asks.map((ask) => ask(['CLUSTER SLOTS'])))
    return told.every((slots) => doors.every(({ port }) => slots.flat(9).includes(port)))
  })
  return { doors, port: doors[0].port, cut: () => doors.flatMap(({ seen }) => seen.cut) }
}
