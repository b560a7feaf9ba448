// A server with TLS that lets in who has a token of IAM: it checks AUTH and HELLO itself, with a signature of its own, and
// passes everything else on to a real server. Tokens are good for a few seconds, as ElastiCache's are for 15 minutes.
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import tls from 'node:tls'

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
  const text = bytes.toString('latin1')
  const head = /^\*(\d+)\r\n/.exec(text)
  if (!head) return null
  let at = head[0].length
  const words = []
  for (let i = 0; i < Number(head[1]); i++) {
    const length = /^\$(\d+)\r\n/.exec(text.slice(at))
    if (!length) return null
    at += length[0].length
    const end = at + Number(length[1])
    if (text.length < end + 2) return null
    words.push(text.slice(at, end))
    at = end + 2
  }
  return { words, length: at }
}

const encoded = (/** @type {string[]} */ words) =>
  `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`

/**
 * @param {Scope} t
 * @param {{ port: number, password: string }} server behind it
 * @param {{ serverCert: string, serverKey: string }} certificates
 * @param {{ user: string, cache: string, secret: string, goodForS: number, port?: number }} door
 */
export async function openIamDoor(t, server, certificates, door) {
  /** @type {Set<import('node:stream').Duplex>} */
  const sockets = new Set()
  const seen = { let: 0, refused: 0 }
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
    let waiting = Buffer.alloc(0)
    const pass = () => {
      client.off('data', take)
      if (waiting.length > 0) behind.write(waiting)
      client.pipe(behind)
    }
    /** @param {readonly string[]} words the position of a token that is good; -1: there is none */
    const lettingIn = (words) => {
      const auth = words.findIndex((word) => word.toUpperCase() === 'AUTH')
      const token = auth < 0 ? undefined : words[auth + 2]
      const age = token === undefined || words[auth + 1] !== door.user ? null : ageOf(token, door)
      return age !== null && age <= door.goodForS ? auth : -1
    }
    const take = (/** @type {Buffer} */ bytes) => {
      waiting = Buffer.concat([waiting, bytes])
      for (let first = firstCommand(waiting); first; first = firstCommand(waiting)) {
        const { words, length } = first
        waiting = waiting.subarray(length)
        const auth = lettingIn(words)
        if (auth < 0) {
          seen.refused++
          client.write(
            words.includes('AUTH')
              ? '-WRONGPASS invalid username-password pair or user is disabled.\r\n'
              : '-NOAUTH Authentication required.\r\n',
          )
          continue
        }
        seen.let++
        // The server behind has a password of its own, of which the client knows nothing.
        const own = ['AUTH', 'default', server.password]
        const rest = words.slice(auth + 3)
        behind.write(encoded(auth === 0 ? own : [...words.slice(0, auth), ...own, ...rest]))
        pass()
        return
      }
    }
    client.on('data', take)
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
