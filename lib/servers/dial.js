// A plain connection to a server: connected, authenticated, ready for commands.
import net from 'node:net'
import tls from 'node:tls'
import { errorOf, MillraceError, TargetError } from '../base/errors.js'
import { replyCounter } from '../wire/decode.js'
import { commandBytes } from '../wire/encode.js'
import { addressOf } from './address.js'
import { connectLimitMs } from './client-options.js'
import { lookupBeyond } from './link-local.js'
import { loginsOf } from './login-again.js'
import { reasonFor } from './reason.js'

/**
 * @import { Endpoint } from './address.js'
 *
 * @typedef {object} Access
 * @property {string} [username]
 * @property {string} [password] with IAM a token: it is read for each connection
 * @property {number} [db]
 * @property {tls.ConnectionOptions | null} [tls]
 * @property {number} [loginAgainMs] with IAM: how old the login of a connection may become
 * @property {(listener: (password: string) => void) => void} [renewed] calls with each new token
 * @property {() => void} [endRenewing]
 *
 * @typedef {net.Socket} Socket
 */

// One buffer for all sockets: what a read returns is decoded before the next read. A buffer each would use the cache of
// many.
const readBuffer = Buffer.allocUnsafeSlow(65_536)
let lastRead = readBuffer.subarray(0, 0)

/** Most reads are as long as the one before. @param {number} count */
const received = (count) => {
  if (count !== lastRead.length) lastRead = readBuffer.subarray(0, count)
  return lastRead
}

/** @param {Access} access @param {string} clientName @param {boolean} readOnly */
const greetings = ({ username, password, db }, clientName, readOnly) => {
  const commands = []
  if (password) commands.push(username ? ['AUTH', username, password] : ['AUTH', password])
  commands.push(['CLIENT', 'SETNAME', clientName])
  if (db) commands.push(['SELECT', String(db)])
  if (readOnly) commands.push(['READONLY'])
  return commands
}

/**
 * @param {Endpoint} endpoint
 * @param {Access} access
 * @param {{ buffer: Buffer, callback: (count: number, buffer: Uint8Array) => boolean }} onread
 * @returns {Socket}
 */
const openSocket = ({ host, port }, access, onread) => {
  const lookup = lookupBeyond
  if (!access.tls) return net.connect({ host, port, lookup, noDelay: true, onread })
  const options = { host, port, lookup, servername: net.isIP(host) ? '' : host, ...access.tls, onread }
  return tls.connect(/** @type {tls.ConnectionOptions} */ (options))
}

/**
 * Resolves with the socket when the server has accepted us; rejects with one line that names the address. The bytes are a view
 * of a buffer that is reused after the call.
 * @param {Endpoint} endpoint
 * @param {Access} access
 * readOnly: stale reads will do, where it is a replica of a cluster
 * @param {{ onBytes: (received: Buffer) => void, onClose: (error?: Error) => void, readOnly?: boolean, clientName?: string, connectTimeoutMs?: number, connect?: typeof openSocket }} options
 * @returns {Promise<Socket>}
 */
export const dial = (
  endpoint,
  access,
  {
    onBytes,
    onClose,
    readOnly = false,
    clientName = 'millrace',
    connectTimeoutMs = connectLimitMs,
    connect = openSocket,
  },
) =>
  new Promise((resolve, reject) => {
    const address = addressOf(endpoint)
    const logins = loginsOf(access, onBytes, (bytes) => socket.write(bytes))
    const commands = greetings(access, clientName, readOnly)
    if (logins) commands.push(logins.question)
    let left = commands.length
    let ready = false
    /** @type {Error | undefined} */
    let fault
    const refuse = (/** @type {string} */ reason, /** @type {unknown} */ cause) => {
      fault ??= new TargetError(reasonFor(address, cause ?? new Error(reason), access), {
        code: 'CONNECT',
        cause,
      })
      socket.destroy()
    }
    const welcome = () => {
      if (--left > 0) return
      ready = true
      socket.setTimeout(0)
      logins?.begin()
      resolve(socket)
    }
    const greet = replyCounter({
      done: (count) => {
        for (let i = 0; i < count; i++) welcome()
      },
      // A server may refuse CLIENT SETNAME; the connection works without a name. It always refuses the question of a login.
      failed: (line) =>
        /setname|unknown (sub)?command|NOPERM.*client/i.test(line) || logins?.answers(line)
          ? welcome()
          : refuse(line, Object.assign(new Error(line), { name: 'ReplyError' })),
    })
    const read = logins?.take ?? onBytes
    const callback = (/** @type {number} */ count) => {
      try {
        if (ready) read(received(count))
        else greet(received(count))
      } catch (error) {
        fault ??= errorOf(error)
        socket.destroy()
        // Not of the server's bytes, but of who takes the replies.
        if (!(error instanceof MillraceError)) throw error
      }
      return true
    }
    const socket = connect(endpoint, access, { buffer: readBuffer, callback })
    socket.setNoDelay(true)
    socket.setTimeout(connectTimeoutMs, () => refuse(`no answer within ${connectTimeoutMs} ms`, undefined))
    socket.once(access.tls ? 'secureConnect' : 'connect', () => socket.write(commandBytes(commands)))
    socket.on('error', (error) => {
      fault ??= ready
        ? error
        : new TargetError(reasonFor(address, error, access), { code: 'CONNECT', cause: error })
    })
    socket.once('close', () => {
      logins?.end()
      if (ready) onClose(fault)
      else reject(fault ?? new TargetError(`${address}: closed the connection`, { code: 'CONNECT' }))
    })
  })
