// Sockets in memory: bytes are taken late, arrive in pieces, in a read buffer that is used again, or not at all.
import { EventEmitter } from 'node:events'

/**
 * @typedef {import('./clock.js').VirtualClock} VirtualClock
 * @typedef {import('../helpers/random.js').Random} Random
 *
 * @typedef {object} Connection a server's end
 * @property {Buffer} input received, not yet executed
 * @property {boolean} closed
 * @property {boolean} asking
 * @property {boolean} greeted
 * @property {number} writtenBytes
 * @property {number} executedBytes
 * @property {(bytes: Buffer) => void} reply
 * @property {() => void} mute nothing comes through any more, in either direction
 * @property {(tornAt?: number) => void} cut loses what is on its way
 *
 * @typedef {object} Listener what answers at an address
 * @property {(connection: Connection) => void} accept
 * @property {(connection: Connection) => void} received
 * @property {() => boolean} isBlackHole no packet comes back
 * @property {() => boolean} isTrickling replies come byte by byte
 * @property {() => number} latencyMs
 */

const none = Buffer.alloc(0)
const failure = (/** @type {string} */ code) => Object.assign(new Error(code), { code })

/**
 * @param {object} needs
 * @param {VirtualClock} needs.clock
 * @param {Random} needs.random
 * @param {(host: string, port: number) => Listener | null} needs.listenerAt null: refused
 */
export const networkOf = ({ clock, random, listenerAt }) => {
  /** @type {Map<string, number>} open or opening, by address */
  const open = new Map()
  let mostOpen = 0
  let mostUnanswered = 0 // when more was written

  const count = (/** @type {string} */ address, /** @type {number} */ by) => {
    const n = (open.get(address) ?? 0) + by
    open.set(address, n)
    mostOpen = Math.max(mostOpen, n)
  }

  /**
   * Stands in for net.connect.
   * @param {{ host: string, port: number }} endpoint
   * @param {unknown} _access
   * @param {{ buffer: Buffer, callback: (count: number, buffer: Uint8Array) => boolean }} onread
   */
  const connect = ({ host, port }, _access, { buffer, callback }) => {
    const address = `${host}:${port}`
    const emitter = new EventEmitter()
    /** @type {{ bytes: Buffer, released: (() => void) | undefined }[]} */
    const queue = []
    /** @type {import('./clock.js').Event[]} deliveries on their way */
    let flying = []
    /** @type {Connection | null} */
    let connection = null
    let destroyed = false
    let muted = false
    let corked = false
    let flushing = false
    let arrivesMs = 0
    let deliversMs = 0
    let queuedBytes = 0
    /** @type {any} */
    let idleTimer = null
    const listener = listenerAt(host, port)
    const latencyMs = () => (listener ? listener.latencyMs() : 1)
    count(address, 1)

    /** @param {Error} [error] */
    const end = (error) => {
      if (destroyed) return
      destroyed = true
      count(address, -1)
      clock.cancel(idleTimer)
      for (const event of flying) clock.cancel(event)
      if (connection) connection.closed = true
      queue.length = 0
      clock.after(0.05, () => {
        if (error) emitter.emit('error', error)
        emitter.emit('close')
      })
    }

    const deliver = (/** @type {Buffer} */ piece) => {
      if (destroyed) return
      if (flying.length > 64) flying = flying.filter(({ run }) => run !== null)
      for (let at = 0; at < piece.length && !destroyed; at += buffer.length) {
        const n = piece.copy(buffer, 0, at, at + buffer.length)
        callback(n, buffer)
        buffer.fill(0x21, 0, n)
      }
    }
    const fly = (/** @type {Buffer} */ piece) => {
      deliversMs = Math.max(deliversMs, clock.now() + latencyMs())
      const event = clock.after(deliversMs - clock.now(), () => {
        event.run = null
        deliver(piece)
      })
      flying.push(event)
    }
    const reply = (/** @type {Buffer} */ bytes) => {
      if (destroyed || muted || bytes.length === 0) return
      if (listener?.isTrickling()) {
        for (let at = 0; at < Math.min(bytes.length, 200); at++) fly(bytes.subarray(at, at + 1))
        if (bytes.length > 200) fly(bytes.subarray(200))
        return
      }
      for (let at = 0; at < bytes.length; ) {
        const to = random.chance(0.6) ? bytes.length : Math.min(bytes.length, at + 1 + random.below(40))
        fly(bytes.subarray(at, to))
        at = to
      }
    }

    const take = () => {
      flushing = false
      if (destroyed || corked || !connection) return
      const to = connection
      const bytes = Buffer.concat(queue.map((each) => each.bytes))
      const taken = queue.splice(0)
      queuedBytes = 0
      arrivesMs = Math.max(arrivesMs, clock.now() + latencyMs())
      clock.after(
        arrivesMs - clock.now(),
        () => {
          if (to.closed || muted) return
          to.input = to.input.length === 0 ? bytes : Buffer.concat([to.input, bytes])
          listener?.received(to)
        },
        true,
      )
      clock.after(
        0.01,
        () => {
          for (const { released } of taken) released?.()
        },
        true,
      )
    }
    const flush = () => {
      if (flushing || corked || queue.length === 0) return
      // Mostly the system takes the bytes at once; when its buffer is full they stay where they are.
      if (random.chance(0.7)) return take()
      flushing = true
      clock.after(random.next() * 4, take, true)
    }

    const socket = {
      on: (/** @type {string} */ name, /** @type {any} */ then) => emitter.on(name, then),
      once: (/** @type {string} */ name, /** @type {any} */ then) => emitter.once(name, then),
      setNoDelay() {},
      setTimeout(/** @type {number} */ ms, /** @type {(() => void) | undefined} */ then) {
        clock.cancel(idleTimer)
        if (ms > 0 && then) idleTimer = clock.after(ms, then)
      },
      write(/** @type {Buffer} */ bytes, /** @type {(() => void) | undefined} */ then) {
        if (destroyed || !connection) return false
        queue.push({ bytes, released: then })
        queuedBytes += bytes.length
        mostUnanswered = Math.max(mostUnanswered, connection.writtenBytes - connection.executedBytes)
        connection.writtenBytes += bytes.length
        flush()
        return true
      },
      cork() {
        corked = true
      },
      uncork() {
        corked = false
        flush()
      },
      destroy: () => end(),
      get destroyed() {
        return destroyed
      },
      get writableLength() {
        return queuedBytes
      },
    }

    if (listener?.isBlackHole()) return /** @type {any} */ (socket)
    clock.after(latencyMs(), () => {
      if (destroyed) return
      // It may have gone meanwhile.
      if (!listener || listenerAt(host, port) !== listener) return end(failure('ECONNREFUSED'))
      connection = {
        input: none,
        closed: false,
        asking: false,
        greeted: false,
        writtenBytes: 0,
        executedBytes: 0,
        reply,
        mute: () => {
          muted = true
          for (const event of flying) clock.cancel(event)
        },
        cut: (tornAt) => {
          if (tornAt !== undefined && flying.length > 0) {
            // What is due first still comes, and then the end.
            const [first] = flying.filter(({ run }) => run !== null)
            first?.run?.()
          }
          end(random.chance(0.5) ? failure('ECONNRESET') : undefined)
        },
      }
      listener.accept(connection)
      emitter.emit('connect')
    })
    return /** @type {any} */ (socket)
  }

  return {
    connect,
    open: () => [...open.values()].reduce((sum, n) => sum + n, 0),
    mostOpen: () => mostOpen,
    mostUnanswered: () => mostUnanswered,
  }
}
