// Sockets in memory: bytes are taken late, arrive in pieces, in a read buffer that is used again, or not at all.
import { EventEmitter } from 'node:events'
import { commandsIn } from '../helpers/commands.js'

/**
 * @import { Event, VirtualClock } from './clock.js'
 * @import { Random } from '../helpers/random.js'
 *
 * @typedef {object} Connection a server's end
 * @property {boolean} closed
 * @property {boolean} asking
 * @property {boolean} unheard the ASKING before the next command was refused
 * @property {(string[] | null)[] | null} queue commands of a transaction; null: of one that was refused
 * @property {boolean} greeted
 * @property {(most?: number) => string[][]} take commands that it has received, in order to execute them
 * @property {(bytes: Buffer) => void} reply
 * @property {() => void} mute nothing comes through any more, in either direction
 * @property {(isTorn?: boolean) => void} cut loses what is on its way; torn: but for the first of it
 *
 * @typedef {object} Listener what answers at an address
 * @property {(connection: Connection) => void} [accept] none: no packet comes back
 * @property {(connection: Connection) => void} received
 * @property {() => boolean} [isTrickling] replies come byte by byte
 * @property {() => number} latencyMs
 */

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
   * @returns {any}
   */
  const connect = ({ host, port }, _access, { buffer, callback }) => {
    const address = `${host}:${port}`
    let queue = /** @type {{ bytes: Buffer, released: (() => void) | undefined }[]} */ ([])
    /** @type {Event[]} deliveries on their way */
    let flying = []
    let connection = /** @type {Connection | null} */ (null)
    let input = Buffer.alloc(0) // received, not yet executed
    let unanswered = 0
    let muted = false
    let corked = false
    let flushing = false
    let arrivesMs = 0
    let deliversMs = 0
    let idleTimer = /** @type {any} */ (null)
    const listener = listenerAt(host, port)
    const latencyMs = () => (listener ? listener.latencyMs() : 1)
    count(address, 1)

    /** @param {Error} [error] */
    const end = (error) => {
      if (socket.destroyed) return
      socket.destroyed = true
      count(address, -1)
      clock.cancel(idleTimer)
      for (const event of flying) clock.cancel(event)
      if (connection) connection.closed = true
      queue = []
      clock.after(0.05, () => {
        if (error) socket.emit('error', error)
        socket.emit('close')
      })
    }

    const deliver = (/** @type {Buffer} */ piece) => {
      if (flying.length > 64) flying = flying.filter(({ run }) => run !== null)
      for (let at = 0; at < piece.length && !socket.destroyed; at += buffer.length) {
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
      if (socket.destroyed || muted) return
      const isTrickling = listener?.isTrickling?.()
      for (let at = 0, to = 0; at < bytes.length; at = to) {
        if (isTrickling) to = at < 200 ? at + 1 : bytes.length
        else to = random.chance(0.6) ? bytes.length : Math.min(bytes.length, at + 1 + random.below(40))
        fly(bytes.subarray(at, to))
      }
    }

    const take = () => {
      flushing = false
      if (socket.destroyed || corked || !connection) return
      const to = connection
      const taken = queue
      const bytes = Buffer.concat(taken.map((each) => each.bytes))
      queue = []
      socket.writableLength = 0
      arrivesMs = Math.max(arrivesMs, clock.now() + latencyMs())
      const arrive = () => {
        if (to.closed || muted) return
        input = input.length === 0 ? bytes : Buffer.concat([input, bytes])
        listener?.received(to)
      }
      const release = () => {
        for (const { released } of taken) released?.()
      }
      clock.after(arrivesMs - clock.now(), arrive, true)
      clock.after(0.01, release, true)
    }
    const flush = () => {
      if (flushing || corked || queue.length === 0) return
      // Mostly the system takes the bytes at once; when its buffer is full they stay where they are.
      if (random.chance(0.7)) return take()
      flushing = true
      clock.after(random.next() * 4, take, true)
    }

    const socket = Object.assign(new EventEmitter(), {
      destroyed: false,
      writableLength: 0,
      setNoDelay() {},
      setTimeout(/** @type {number} */ ms, /** @type {(() => void) | undefined} */ then) {
        clock.cancel(idleTimer)
        if (ms > 0 && then) idleTimer = clock.after(ms, then)
      },
      write(/** @type {Buffer} */ bytes, /** @type {(() => void) | undefined} */ released) {
        if (socket.destroyed || !connection) return false
        queue.push({ bytes, released })
        socket.writableLength += bytes.length
        mostUnanswered = Math.max(mostUnanswered, unanswered)
        unanswered += bytes.length
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
    })

    if (listener && !listener.accept) return socket
    clock.after(latencyMs(), () => {
      if (socket.destroyed) return
      // It may have gone meanwhile.
      if (!listener || listenerAt(host, port) !== listener) return end(failure('ECONNREFUSED'))
      connection = {
        ...{ closed: false, asking: false, unheard: false, queue: null, greeted: false, reply },
        take: (most) => {
          const commands = commandsIn(input, most)
          const end = commands.at(-1)?.end ?? 0
          input = input.subarray(end)
          unanswered -= end
          return commands.map(({ args }) => args)
        },
        mute: () => {
          muted = true
          for (const event of flying) clock.cancel(event)
        },
        cut: (isTorn) => {
          // What is due first still comes, and then the end.
          if (isTorn) flying.find(({ run }) => run !== null)?.run?.()
          end(random.chance(0.5) ? failure('ECONNRESET') : undefined)
        },
      }
      listener.accept?.(connection)
      socket.emit('connect')
    })
    return socket
  }

  return {
    connect,
    open: () => [...open.values()].reduce((sum, n) => sum + n, 0),
    mostOpen: () => mostOpen,
    mostUnanswered: () => mostUnanswered,
  }
}
