// The connector of ioredis: only to confirmed servers, under any of their names, with replies checked as strictly as ours.
import net from 'node:net'
import tls from 'node:tls'
import { AbstractConnector, SentinelConnector } from 'ioredis'
import { errorOf } from '../base/errors.js'
import { noTally, replyCounter } from '../wire/decode.js'
import { addressOf } from './address.js'
import { UnconfirmedError } from './confirmed-servers.js'
import { lookupBeyond } from './link-local.js'

/** @typedef {(host: string, port: number) => void} Gate throws for a server that is not confirmed */

// The library keeps an object of two hundred bytes for each element.
const elementBytes = 64

/**
 * ioredis accepts any digits for a length and any two bytes for the end of a line, and keeps a reply until its end.
 * @template {net.Socket} T
 * @param {T} stream
 * @param {number} mostBytes of a reply
 */
const strict = (stream, mostBytes) => {
  let bytes = 0
  const restart = () => {
    bytes = 0
  }
  const check = replyCounter(
    { done: restart, failed: restart },
    noTally(),
    Math.floor(mostBytes / elementBytes),
  )
  const emit = stream.emit.bind(stream)
  // Not a listener: the library's own would still be called with what follows the garbage.
  stream.emit = (/** @type {string | symbol} */ name, /** @type {any[]} */ ...args) => {
    if (name !== 'data') return emit(name, ...args)
    try {
      bytes += args[0].length
      check(args[0])
      if (bytes > mostBytes) throw new Error(`its reply is longer than ${mostBytes} bytes`)
    } catch (error) {
      stream.destroy(errorOf(error))
      return true
    }
    return emit(name, ...args)
  }
  return stream
}

// INFO and the slots of a cluster of hundreds of nodes take a megabyte, a million ids 20.
const longestAnswer = 64e6

/** @param {Gate} gate @param {number} [mostBytes] of a reply */
const directly = (gate, mostBytes = longestAnswer) =>
  class extends AbstractConnector {
    /** @param {{ host: string, port: number, tls?: tls.ConnectionOptions, disconnectTimeout: number }} options */
    constructor(options) {
      super(options.disconnectTimeout)
      this.options = options
    }
    async connect() {
      this.connecting = true
      const { host, port, tls: secure } = this.options
      gate(host, port)
      // The library sets its listeners when it has the stream.
      await null
      if (!this.connecting) throw new Error('Connection is closed.')
      const where = { host, port, lookup: lookupBeyond }
      const stream = secure ? tls.connect({ ...where, ...secure }) : net.connect(where)
      stream.once('error', (error) => {
        this.firstError = error
      })
      this.stream = strict(stream, mostBytes)
      return this.stream
    }
  }

/** Strict, to one server that its caller knows to be confirmed. */
export const strictConnector = /** @type {any} */ (directly(() => {}))

/** @param {Gate} gate @param {number} mostBytes */
const bySentinels = (gate, mostBytes) =>
  // `resolve` is private to the types only.
  class extends /** @type {any} */ (SentinelConnector) {
    /** @param {any} endpoint */
    async resolve(endpoint) {
      const master = await super.resolve(endpoint)
      if (master) gate(master.host, master.port)
      return master
    }
    /** @param {any} emit */
    async connect(emit) {
      return strict(/** @type {net.Socket} */ (await super.connect(emit)), mostBytes)
    }
  }

/**
 * @param {{ follows: (from: string, to: string) => boolean }} target
 * @param {{ sentinels: boolean, onStray: () => void, mostBytes?: number }} options sentinels: they name the server; onStray:
 *   the topology may be out of date; mostBytes: of a reply
 */
export const connectorFor = ({ follows }, { sentinels, onStray, mostBytes = longestAnswer }) => {
  /** @type {Gate} */
  const gate = (host, port) => {
    const address = addressOf({ host, port })
    if (follows('its cluster', address)) return
    onStray()
    throw new UnconfirmedError(`${address}: no confirmed server names it`)
  }
  return /** @type {any} */ (sentinels ? bySentinels(gate, mostBytes) : directly(gate, mostBytes))
}
