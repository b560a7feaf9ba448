// A connection that logs in again while it is in use: ElastiCache ends one whose login by IAM is older than 12 hours. The load on
// it does not notice: the AUTH goes between two commands whose refusals quote a random text, and all from the first refusal to the
// second is cut out of what is read. HELLO is taken in every state of a server and from every user, unlike PING and ECHO.
// What writes to a connection writes whole commands, and a transaction at once, so the three may go between any two writes.
import { randomBytes } from 'node:crypto'
import { systemTimers } from '../base/timers.js'
import { commandBytes } from '../wire/encode.js'

/**
 * @import { Timers } from '../base/timers.js'
 * @import { Access } from './dial.js'
 *
 * @typedef {{ random?: () => number, timers?: Timers }} Chance
 * @typedef {ReturnType<typeof loginsOf>} Logins
 */

const refusedAgainMs = 60_000
const minus = 45
const none = Buffer.alloc(0)

const mark = () => randomBytes(16).toString('hex')
const quoting = (/** @type {string} */ text) => ['HELLO', '2', text]

/** How many bytes at the end may be the beginning of `line`. @param {Buffer} bytes @param {Buffer} line */
const begunAtEnd = (bytes, line) => {
  for (let n = Math.min(bytes.length, line.length - 1); n > 0; n--)
    if (bytes.subarray(bytes.length - n).equals(line.subarray(0, n))) return n
  return 0
}

/**
 * When the next login of a connection is due. Connections that were opened together do not log in together.
 * @param {number} everyMs
 * @param {() => Promise<unknown>} login rejects where the server refuses it, which leaves the connection as it is
 * @param {Chance} [chance]
 */
export const loginTimer = (everyMs, login, { random = Math.random, timers = systemTimers } = {}) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const wait = (/** @type {number} */ ms) => {
    timers.clearTimeout(timer)
    timer = timers.setTimeout(again, ms)
    timer.unref()
  }
  const start = () => wait(everyMs * (0.9 + random() / 10))
  const again = async () => {
    start()
    const next = timer
    try {
      await login()
    } catch {
      // It may have been stopped, or started for another connection, in the meantime.
      if (timer === next) wait(Math.min(refusedAgainMs, everyMs / 10))
    }
  }
  const stop = () => {
    timers.clearTimeout(timer)
    timer = undefined
  }
  return { start, stop }
}

/**
 * Passes on what a connection reads, without the answers to a login.
 * @param {(bytes: Buffer) => void} onBytes
 */
const cutterOf = (onBytes) => {
  /** @type {{ first: Buffer, second: Buffer, then: (refusal: string | null) => void } | null} what is waited for */
  let awaited = null
  let isBegun = false
  // A chunk is a view of a buffer that is used again.
  let held = none

  /** @param {Buffer} bytes @param {Buffer} line @returns what comes behind it; null: it is not whole yet */
  const beforeFirst = (bytes, line) => {
    const at = bytes.indexOf(line)
    isBegun = at >= 0
    const upTo = isBegun ? at : bytes.length - begunAtEnd(bytes, line)
    if (!isBegun) held = Buffer.from(bytes.subarray(upTo))
    if (upTo > 0) onBytes(bytes.subarray(0, upTo))
    return isBegun ? bytes.subarray(at + line.length) : null
  }
  /** @param {Buffer} bytes @param {NonNullable<typeof awaited>} login */
  const upToSecond = (bytes, { second, then }) => {
    const at = bytes.indexOf(second)
    if (at < 0) {
      held = Buffer.from(bytes)
      return null
    }
    awaited = null
    isBegun = false
    then(bytes[0] === minus ? bytes.toString('latin1', 1, at).trim() : null)
    return bytes.subarray(at + second.length)
  }

  return {
    isWaiting: () => awaited !== null,
    /** @param {NonNullable<typeof awaited>} login */
    cut: (login) => {
      awaited = login
    },
    /** @param {Buffer} chunk */
    take(chunk) {
      if (awaited === null) return onBytes(chunk)
      /** @type {Buffer | null} */
      let bytes = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
      held = none
      while (awaited && bytes)
        bytes = isBegun ? upToSecond(bytes, awaited) : beforeFirst(bytes, awaited.first)
      if (bytes && bytes.length > 0) onBytes(bytes)
    },
  }
}

/**
 * The logins of one connection after its first; null: its password does not end.
 * @param {Access} access
 * @param {(bytes: Buffer) => void} onBytes
 * @param {(bytes: Buffer) => void} write
 * @param {Chance} [chance]
 */
export const loginsOf = (access, onBytes, write, chance) => {
  if (access.loginAgainMs === undefined) return null
  const cutter = cutterOf(onBytes)
  const asked = mark()
  /** @type {string | undefined} the line with which this server refuses it */
  let refusal
  const lineFor = (/** @type {string} */ text) =>
    Buffer.from(`-${refusal?.replace(asked, text)}\r\n`, 'latin1')

  const login = () =>
    new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
      // The answers to the one before are still to come: the connection is busy, or silent.
      if (cutter.isWaiting()) return reject(new Error('unanswered'))
      const [first, second] = [mark(), mark()]
      const then = (/** @type {string | null} */ line) =>
        line === null ? resolve() : reject(new Error(line))
      cutter.cut({ first: lineFor(first), second: lineFor(second), then })
      const { username = 'default', password = '' } = access
      write(commandBytes([quoting(first), ['AUTH', username, password], quoting(second)]))
    })
  const { start, stop } = loginTimer(access.loginAgainMs, login, chance)
  return {
    /** What is asked once, to see whether and how the server quotes it. */
    question: quoting(asked),
    /** Whether a line is the answer to the question. @param {string} line */
    answers(line) {
      if (line.includes(asked)) refusal = line
      return refusal === line
    },
    /** The connection is ready. Where the server does not quote, it is left to end. */
    begin() {
      if (refusal !== undefined) start()
    },
    take: cutter.take,
    end: stop,
  }
}
