// A connection that owes answers and is silent, while the server answers on a new one, is half-open. It is closed, and its
// commands are retried by their rules.
import { systemTimers } from '../base/timers.js'

/**
 * @import { Timers } from '../base/timers.js'
 *
 * @typedef {object} Listened a connection
 * @property {string} address
 * @property {() => number} silentMs since bytes came, while some are owed
 * @property {() => void} cut
 *
 * @typedef {ReturnType<typeof halfOpenOf>} HalfOpen
 */

/** After this time without a byte a new connection is made, which decides. */
const silentLimitMs = 5000
// Replies on the old connection may arrive a moment after the greeting of the new one.
const graceMs = 500

const isSilent = (/** @type {Listened} */ connection) => connection.silentMs() > silentLimitMs

/**
 * @param {object} needs
 * @param {(address: string, events: { onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }) => Promise<{ destroy: () => void }>} needs.dial
 * @param {(kind: string, text: string) => void} needs.onEvent
 * @param {Timers} [needs.timers]
 */
export const halfOpenOf = ({ dial, onEvent, timers = systemTimers }) => {
  /** @type {Set<string>} a probe at a time to each server */
  const probing = new Set()

  /** @param {string} address */
  const isAnswering = async (address) => {
    try {
      const fresh = await dial(address, { onBytes: () => {}, onClose: () => {} })
      fresh.destroy()
      return true
    } catch {
      return false
    }
  }

  /** @param {string} address @param {() => Iterable<Listened>} connections */
  const probe = async (address, connections) => {
    probing.add(address)
    if (await isAnswering(address)) {
      await new Promise((resolve) => timers.setTimeout(() => resolve(undefined), graceMs))
      const silent = [...connections()].filter((each) => each.address === address && isSilent(each))
      const longestMs = silent.reduce((most, each) => Math.max(most, each.silentMs()), 0)
      const counted = silent.length === 1 ? 'a connection' : `${silent.length} connections`
      if (silent.length > 0)
        onEvent(
          'half-open',
          `${address}: ${counted} silent for ${Math.round(longestMs)} ms, and a new one is answered: given up`,
        )
      for (const connection of silent) connection.cut()
    }
    probing.delete(address)
  }

  /** Once a second. @param {() => Iterable<Listened>} connections */
  return (connections) => {
    for (const each of connections())
      if (isSilent(each) && !probing.has(each.address)) probe(each.address, connections)
  }
}
