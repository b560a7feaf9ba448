// A connection to one server that is kept up: one that is lost or refused is made again, after waits that double.
import { systemTimers } from '../base/timers.js'

const firstRetryMs = 50
const lastRetryMs = 1000

/**
 * @param {object} needs
 * @param {(events: { onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }) => Promise<import('node:net').Socket>} needs.open
 * @param {() => (chunk: Buffer) => void} needs.decoder a new one for each connection: what a lost one left half read is gone
 * @param {() => void} needs.onRead everything that a read brought is settled
 * @param {() => void} needs.onUp
 * @param {(error?: Error) => void} needs.onDown it was lost, or cannot be made: what it owes gets no reply
 * @param {() => number} needs.clock
 * @param {() => number} needs.random
 * @param {import('../base/timers.js').Timers} [needs.timers]
 */
export const linkOf = ({ open, decoder, onRead, onUp, onDown, clock, random, timers = systemTimers }) => {
  /** @type {import('node:net').Socket | null} */
  let socket = null
  let opening = false
  let closed = false
  let retryMs = firstRetryMs
  let heardMs = clock()
  /** @type {NodeJS.Timeout | undefined} */
  let retry

  const down = (/** @type {Error | undefined} */ error) => {
    socket = null
    onDown(error)
    if (closed) return
    retry = timers.setTimeout(connect, retryMs * (0.5 + random() / 2))
    retryMs = Math.min(lastRetryMs, retryMs * 2)
  }

  /** Resolves when it is up or down. */
  const connect = async () => {
    if (closed || opening || socket) return
    opening = true
    const read = decoder()
    const onBytes = (/** @type {Buffer} */ chunk) => {
      heardMs = clock()
      read(chunk)
      onRead()
    }
    let opened
    try {
      opened = await open({ onBytes, onClose: down })
    } catch (error) {
      opening = false
      return down(/** @type {Error} */ (error))
    }
    opening = false
    if (closed) opened.destroy()
    // It may have been closed again before we came to know of it.
    if (opened.destroyed) return
    socket = opened
    retryMs = firstRetryMs
    heardMs = clock()
    onUp()
  }

  return {
    connect,
    isUp: () => socket !== null,
    isOpening: () => opening,
    cork: () => socket?.cork(),
    uncork: () => socket?.uncork(),
    /** @param {Buffer} bytes @param {() => void} [release] the socket has let go of the bytes */
    write: (bytes, release) => socket?.write(bytes, release),
    /** Bytes that the system has not taken yet. */
    waitingBytes: () => socket?.writableLength ?? 0,
    /** Silence is counted from here: the first byte that has no reply yet. @param {number} nowMs */
    owesFrom: (nowMs) => {
      heardMs = nowMs
    },
    /** Since bytes came, while some are owed. @param {boolean} owes */
    silentMs: (owes) => (owes && socket ? clock() - heardMs : 0),
    /** Gives the connection up: a new one is made. */
    cut: () => socket?.destroy(),
    /** For good; one that is being opened too. */
    close() {
      closed = true
      timers.clearTimeout(retry)
      socket?.destroy()
    },
  }
}
