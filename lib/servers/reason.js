// Why a server cannot be used, in one line that says what to change.

import { errorOf, MillraceError, TargetError } from '../base/errors.js'
import { plainText } from '../base/units.js'

/** @import { Access } from './dial.js' */

const longestReason = 200

/** @type {readonly [RegExp, string][]} the first that fits */
const advice = [
  [
    /ECONNREFUSED/,
    'nothing listens there; correct the address (--url, or --host and --port), or start the server',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'the name is not known to DNS; correct the address (--url or --host)'],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|no answer within/,
    'no answer; look at the network and the security group',
  ],
  [/NOAUTH|HELLO must be called/, 'the server wants a password; set REDIS_PASSWORD'],
  [
    /WRONGPASS|invalid password|invalid username/,
    'wrong user or password; correct --username and REDIS_PASSWORD',
  ],
  [
    /without any password configured/,
    'the server has no password; leave out the one in --url or REDIS_PASSWORD',
  ],
  [/NOPERM|no permissions/, 'the user lacks rights; extend its ACL'],
  [/max number of clients/, 'the server takes no more connections; raise maxclients or close some'],
  [/WRONGTYPE/, 'a key of ours already holds another type; choose another --prefix or remove that key'],
  [/^OOM/, 'the server is at its memory limit; raise maxmemory'],
  [/DB index is out of range/, 'it has no such database; correct --db'],
  [/^READONLY/, 'it is a replica; name its master'],
  [/^LOADING/, 'it is still loading its data; try again when it is ready'],
  [/^BUSY/, 'a script blocks it; end it with SCRIPT KILL'],
  [/^MISCONF/, 'it cannot save its snapshots and refuses writes; mend its disk or its save setting'],
  [/wrong version number|packet length too long/i, 'the server does not speak TLS; leave out --tls'],
  [/ALTNAME_INVALID|altnames/i, 'its certificate is for other names; use one of them as --host'],
  [/CERT_HAS_EXPIRED|certificate has expired/i, 'its certificate has expired; renew it'],
  [/CERT_NOT_YET_VALID/, 'its certificate is not valid yet; look at the clocks'],
  [
    /certificate required|CERTIFICATE_REQUIRED/i,
    'the server wants a certificate of ours; set --cert and --key',
  ],
  [
    /alert (unknown ca|bad certificate|certificate unknown)/i,
    'the server does not trust our certificate; correct --cert and --key',
  ],
  [/self.signed|unable to (get|verify)|certificate/i, 'its certificate cannot be trusted; set --ca'],
  [/Too many Cluster redirections/, 'its nodes redirect in a circle; look at CLUSTER SLOTS of each'],
  [/Command timed out/, 'no answer to a question; look at the server and the network'],
  [/^connection lost$/, 'the server is gone'],
  [/^no connection$/, 'nothing answers there; correct the address, or start the server'],
]

/** The error of ioredis for commands that outlive their connection. @param {unknown} error @returns {error is Error} */
const isLost = (error) => error instanceof Error && error.name === 'MaxRetriesPerRequestError'

/** The words of a server or a library, plain and not too long. @param {string} text */
const clipped = (text) => {
  const plain = plainText(text.slice(0, 10 * longestReason))
  return plain.length > longestReason ? `${plain.slice(0, longestReason)}...` : plain
}

/** A server may quote the password that it was given: it is removed before the text is cut. @param {unknown} error @param {string} [password] */
const wordsOf = (error, password) => {
  if (isLost(error)) return 'wasThere' in error && !error.wasThere ? 'no connection' : 'connection lost'
  const { message = '', code } = errorOf(error)
  const words = code && !message.includes(code) ? `${code} ${message}` : message || String(code)
  return clipped(password ? words.replaceAll(password, '***') : words)
}

const cut = /ECONNRESET|EPIPE|closed/i
const silent = /ETIMEDOUT|no answer within/

/**
 * The likely cause of a connection that was cut or is silent. TLS 1.3 refuses a client's certificate only after the
 * handshake, and its alert may be lost with the connection.
 * @param {string} words
 * @param {Access} access
 */
const guess = (words, { tls }) => {
  if (tls && silent.test(words))
    return 'no answer to TLS; leave out --tls if the server does not speak it, else look at the network'
  if (!cut.test(words)) return undefined
  if (!tls)
    return 'the connection was cut; if the server speaks TLS, add --tls, else look for maxclients in its log'
  return tls.cert
    ? 'the connection was cut: the server does not trust our certificate; correct --cert and --key'
    : 'the connection was cut: if the server wants a certificate of ours, set --cert and --key'
}

/** @param {string} where @param {string} words @param {Access} access */
const tokenRefused = (where, words, { loginAgainMs }) =>
  loginAgainMs !== undefined && /WRONGPASS|NOAUTH|invalid password/.test(words)
    ? `the token was refused; correct ${where.startsWith('--') ? 'its user' : '--iam'}, the region, this clock or the right elasticache:Connect`
    : undefined

/** @param {string} where @param {unknown} error @param {Access} [access] */
export const reasonFor = (where, error, access = { tls: null }) => {
  // What follows is meant for authors of clients.
  const words = wordsOf(error, access.password).replace(/^NOAUTH .*/, 'NOAUTH')
  const reason =
    guess(words, access) ??
    tokenRefused(where, words, access) ??
    advice.find(([pattern]) => pattern.test(words))?.[1]
  if (!reason) return `${where}: ${words}`
  // The address came from another option.
  const own = where.startsWith('--') ? reason.replace(/ \(--url[^)]*\)/, '') : reason
  return `${where}: ${own} (${words})`
}

// What ioredis rejects with; the library exports no classes for all of them.
const libraryErrors = /^(ReplyError|MaxRetriesPerRequestError|ClusterAllFailedError|AbortError|ParserError)$/
const libraryWords =
  /^(Connection is closed\.?|Command timed out|Stream isn't writeable.*|Too many Cluster redirections.*)$/

/** An error of the library that asks the servers, as one of ours; every other as it is. @param {unknown} error */
export const asTargetError = (error) => {
  if (error instanceof MillraceError || !(error instanceof Error)) return error
  if (!libraryErrors.test(error.name) && !libraryWords.test(error.message)) return error
  const name = 'command' in error ? Object(error.command).name : undefined
  const target = name ? `the target refused ${String(name).toUpperCase()}` : 'the target'
  const where = isLost(error) && 'server' in error ? String(error.server) : target
  return new TargetError(reasonFor(where, error), { cause: error })
}

/** Why a port cannot be opened, by the code of the error. @type {Record<string, string>} */
export const listenReasons = {
  EADDRINUSE: 'the port is taken',
  EACCES: 'this user may not open that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no such name',
}
