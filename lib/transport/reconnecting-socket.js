// A connection to one server that is made again when it is lost or refused, after waits that double. It can also be
// renewed: closed when no reply is missing, and made anew.

/**
 * @import { Socket } from 'node:net'
 * @import { Machine } from '../base/timers.js'
 */

const firstRetryMs = 50
const lastRetryMs = 1000

/** Waits that double, until a connection is up. @param {Machine} machine */
const retriesOf = ({ random, timers }) => {
  let waitMs = firstRetryMs
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  return {
    /** @param {() => void} then */
    wait(then) {
      timer = timers.setTimeout(then, waitMs * (0.5 + random() / 2))
      waitMs = Math.min(lastRetryMs, waitMs * 2)
    },
    reset() {
      waitMs = firstRetryMs
    },
    cancel: () => timers.clearTimeout(timer),
  }
}

/**
 * @param {object} needs
 * @param {(events: { onBytes: (received: Buffer) => void, onClose: (error?: Error) => void }) => Promise<Socket>} needs.open
 * @param {() => (received: Buffer) => void} needs.decoder a new one for each connection: what a lost one left half read is gone
 * @param {(nowMs: number, silentMs: number) => void} needs.onRead everything that a read brought is settled
 * @param {() => void} needs.onUp
 * @param {(error?: Error) => void} needs.onDown it was lost, or cannot be made: what is unanswered gets no reply
 * @param {() => boolean} [needs.hasUnanswered] whether replies are to come: without it the connection cannot be renewed
 * @param {(tookMs: number) => void} [needs.onRenewed] another one has taken the place of one that was to be renewed
 * @param {Machine} needs.machine
 */
export const reconnectingSocketOf = (needs) => {
  const { open, decoder, onRead, onUp, onDown, machine } = needs
  const { hasUnanswered = () => true, onRenewed = () => {} } = needs
  const { clock } = machine
  const retries = retriesOf(machine)
  const together = togetherOf(() => socket)
  let socket = /** @type {Socket | null} */ (null)
  let opening = false
  let closed = false
  let heardMs = clock()
  let retiring = false // nothing new is sent on it
  /** @type {number | null} when the one before was closed on purpose */
  let retiredMs = null

  const down = (/** @type {Error | undefined} */ error) => {
    socket = null
    retiring = false
    retiredMs = null
    onDown(error)
    if (!closed) retries.wait(connect)
  }

  /** Resolves when it is up or down. */
  const connect = async () => {
    if (closed || opening || socket) return
    opening = true
    const read = decoder()
    let own = /** @type {Socket | null} */ (null)
    let isLost = false
    const onBytes = (/** @type {Buffer} */ received) => {
      const beforeMs = heardMs
      heardMs = clock()
      read(received)
      if (retiring && !hasUnanswered()) letGo()
      onRead(heardMs, heardMs - beforeMs)
    }
    const onClose = (/** @type {Error | undefined} */ error) => {
      isLost = true
      // The end of a connection that was given up is not reported.
      if (own === null || own === socket) down(error)
    }
    /** @type {Socket | Error} */
    const opened = await open({ onBytes, onClose }).catch((error) => error)
    opening = false
    if (opened instanceof Error) return down(opened)
    if (closed) opened.destroy()
    // It may have been closed again before this is called.
    if (opened.destroyed || isLost) return
    socket = own = opened
    retries.reset()
    heardMs = clock()
    if (retiredMs === null) return onUp()
    const tookMs = heardMs - retiredMs
    retiredMs = null
    onRenewed(tookMs)
  }

  const cut = () => {
    retiring = socket !== null
    socket?.destroy()
  }
  const letGo = () => {
    const was = socket
    socket = null
    retiring = false
    retiredMs = clock()
    was?.destroy()
    connect()
  }

  return {
    connect,
    isUp: () => socket !== null && !retiring,
    isOpening: () => opening,
    isRenewing: () => retiring || retiredMs !== null,
    heardMs: () => heardMs,
    ...together,
    /** The silence is counted from here: the first byte without a reply. @param {number} nowMs */
    owesFrom: (nowMs) => {
      heardMs = nowMs
    },
    /** Since bytes came, while some are expected. @param {boolean} areExpected */
    silentMs: (areExpected) => (areExpected && socket ? clock() - heardMs : 0),
    /** Closes it when no reply is missing, and makes another one. Returns whether it was connected. */
    renew() {
      if (socket === null || retiring) return false
      retiring = true
      if (!hasUnanswered()) letGo()
      return true
    },
    /** Gives the connection up and makes a new one. */
    cut,
    /** Closes it for good, even while it is being opened. */
    close() {
      closed = true
      retries.cancel()
      cut()
    },
  }
}

/**
 * Renews the next client with its connections to all nodes, unless one of them is being made anew, and returns those that were
 * open; null: no client can be.
 * @param {number} clients
 * @param {(client: number) => { isUp: () => boolean, isRenewing: () => boolean, renew: () => boolean }[]} connectionsOf
 */
export const renewalsOf = (clients, connectionsOf) => {
  let next = 0
  return () => {
    for (let k = 0; k < clients; k++) {
      const connections = connectionsOf(next)
      next = (next + 1) % clients
      if (connections.some((connection) => connection.isRenewing())) continue
      const closed = connections.filter((connection) => connection.renew())
      if (closed.length > 0) return closed
    }
    return null
  }
}

// Small writes of one turn as one: what a stream of Node does to hold several back and to write them together costs more than
// to copy a few kilobytes. A large one is held back by itself until another follows.

const mostBytes = 8192

/** One for all connections, as one of them writes at a time. @type {Buffer | null} */
let spare = null

const taken = () => {
  const bytes = spare ?? Buffer.allocUnsafeSlow(mostBytes)
  spare = null
  return bytes
}

/** @param {() => Socket | null} current */
export const togetherOf = (current) => {
  let isCorked = false
  let isHeldBack = false // by the socket, since there are several that are too much to be copied
  /** @type {{ bytes: Buffer, release: (() => void) | undefined } | null} the first of them */
  let large = null
  /** @type {Buffer | null} */
  let bytes = null
  let filled = 0

  const flush = () => {
    if (bytes === null) return
    const socket = current()
    socket?.write(bytes.subarray(0, filled))
    // The socket keeps what the system did not take.
    if (!socket || socket.writableLength === 0) spare = bytes
    bytes = null
    filled = 0
  }
  const writeLarge = () => {
    if (large === null) return
    const { bytes: held, release } = large
    large = null
    const socket = current()
    if (socket) socket.write(held, release)
    else release?.()
  }
  return {
    /** Bytes that the system has not taken yet, but for those that are copied. */
    waitingBytes: () => (current()?.writableLength ?? 0) + (large?.bytes.length ?? 0),
    cork() {
      isCorked = true
    },
    uncork() {
      isCorked = false
      writeLarge()
      flush()
      if (isHeldBack) current()?.uncork()
      isHeldBack = false
    },
    /** @param {Buffer} more @param {() => void} [release] they are not needed any more */
    write(more, release) {
      const socket = current()
      if (!socket) return release?.()
      if (isCorked && !isHeldBack) {
        if (large === null && filled + more.length <= mostBytes) {
          bytes ??= taken()
          filled += more.copy(bytes, filled)
          return release?.()
        }
        if (large === null && filled === 0) {
          large = { bytes: more, release }
          return
        }
        isHeldBack = true
        socket.cork()
        writeLarge()
        flush()
      }
      socket.write(more, release)
    },
  }
}
