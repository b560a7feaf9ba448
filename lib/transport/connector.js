// The connector of ioredis: only to confirmed servers, under any of their names, with replies checked as strictly as ours.
import net from 'node:net'
import tls from 'node:tls'
import { AbstractConnector, SentinelConnector } from 'ioredis'
import { addressOf } from '../servers/address.js'
import { replyCounter } from '../wire/decode.js'

/** @import { DriverTarget } from './socket-writer.js' */
/** @typedef {(host: string, port: number) => void} Gate throws for a server that is not confirmed */

const deaf = { done() {}, failed() {} }

/**
 * ioredis accepts any digits for a length and any two bytes for the end of a line.
 * @template {net.Socket} T
 * @param {T} stream
 */
const strict = (stream) => {
  const check = replyCounter(deaf)
  const emit = stream.emit.bind(stream)
  // Not a listener: the library's own would still be called with what follows the garbage.
  stream.emit = (/** @type {string | symbol} */ name, /** @type {any[]} */ ...args) => {
    if (name !== 'data') return emit(name, ...args)
    try {
      check(args[0])
    } catch (error) {
      stream.destroy(/** @type {Error} */ (error))
      return true
    }
    return emit(name, ...args)
  }
  return stream
}

/** @param {Gate} gate */
const directly = (gate) =>
  class extends AbstractConnector {
    /** @param {any} options */
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
      const stream = secure ? tls.connect({ host, port, ...secure }) : net.connect({ host, port })
      stream.once('error', (error) => {
        this.firstError = error
      })
      this.stream = strict(stream)
      return this.stream
    }
  }

/** Strict, to one server that its caller knows to be confirmed. */
export const strictConnector = /** @type {any} */ (directly(() => {}))

/** @param {Gate} gate */
const bySentinels = (gate) =>
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
      return strict(/** @type {net.Socket} */ (await super.connect(emit)))
    }
  }

/**
 * @param {Pick<DriverTarget, 'follows'>} target
 * @param {{ sentinels: boolean, onStray: () => void }} options sentinels: they name the server; onStray: the topology
 *   may be out of date
 */
export const connectorFor = ({ follows }, { sentinels, onStray }) => {
  /** @type {Gate} */
  const gate = (host, port) => {
    const address = addressOf({ host, port })
    if (follows('its cluster', address)) return
    onStray()
    throw new Error(`${address}: no confirmed server names it`)
  }
  return /** @type {any} */ (sentinels ? bySentinels(gate) : directly(gate))
}
