// A connection to one server that is kept up: one that is lost or refused is made again, after waits that double. It can
// be renewed on purpose, as the connections of applications come and go: closed when it owes nothing, and made anew.
import { systemTimers } from '../base/timers.js'

/**
 * @import { Socket } from 'node:net'
 * @import { Timers } from '../base/timers.js'
 */

const firstRetryMs = 50
const lastRetryMs = 1000

/** Waits that double, until a connection is up. @param {() => number} random @param {Timers} timers */
const retriesOf = (random, timers) => {
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
 * @param {(events: { onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }) => Promise<Socket>} needs.open
 * @param {() => (chunk: Buffer) => void} needs.decoder a new one for each connection: what a lost one left half read is gone
 * @param {(nowMs: number) => void} needs.onRead everything that a read brought is settled
 * @param {() => void} needs.onUp
 * @param {(error?: Error) => void} needs.onDown it was lost, or cannot be made: what it owes gets no reply
 * @param {() => boolean} [needs.owes] whether replies are to come: without it the connection cannot be renewed
 * @param {(tookMs: number) => void} [needs.onRenewed] another one has taken the place of one that was to be renewed
 * @param {() => number} needs.clock
 * @param {() => number} needs.random
 * @param {Timers} [needs.timers]
 */
export const reconnectingSocketOf = (needs) => {
  const { open, decoder, onRead, onUp, onDown, clock, random, timers = systemTimers } = needs
  const { owes = () => true, onRenewed = () => {} } = needs
  const retries = retriesOf(random, timers)
  /** @type {Socket | null} */
  let socket = null
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
    /** @type {Socket | null} */
    let own = null
    let isLost = false
    const onBytes = (/** @type {Buffer} */ chunk) => {
      heardMs = clock()
      read(chunk)
      if (retiring && !owes()) letGo()
      onRead(heardMs)
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
    // It may have been closed again before we came to know of it.
    if (opened.destroyed || isLost) return
    own = opened
    socket = opened
    retries.reset()
    heardMs = clock()
    const sinceMs = retiredMs
    retiredMs = null
    if (sinceMs === null) onUp()
    else onRenewed(heardMs - sinceMs)
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
    heardMs: () => heardMs,
    cork: () => socket?.cork(),
    uncork: () => socket?.uncork(),
    /** @param {Buffer} bytes @param {() => void} [release] the socket has let go of the bytes */
    write: (bytes, release) => socket?.write(bytes, release),
    /** Bytes that the system has not taken yet. */
    waitingBytes: () => socket?.writableLength ?? 0,
    /** HalfOpen is counted from here: the first byte that has no reply yet. @param {number} nowMs */
    owesFrom: (nowMs) => {
      heardMs = nowMs
    },
    /** Since bytes came, while some are owed. @param {boolean} owes */
    silentMs: (owes) => (owes && socket ? clock() - heardMs : 0),
    /** It is closed when it owes nothing, and another takes its place. Whether it was up. */
    renew() {
      if (socket === null || retiring) return false
      retiring = true
      if (!owes()) letGo()
      return true
    },
    /** Gives the connection up: a new one is made. */
    cut: () => socket?.destroy(),
    /** For good; one that is being opened too. */
    close() {
      closed = true
      retries.cancel()
      socket?.destroy()
    },
  }
}
