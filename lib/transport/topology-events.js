// Changes of the topology as events for people: at most a few a second, however many commands were refused.
import { count } from '../base/units.js'

/**
 * @typedef {ReturnType<typeof topologyEventsOf>} TopologyEvents
 * @typedef {{ onEvent: (kind: string, text: string) => void, clock: () => number }} Needs
 */

const quietMs = 1000
/** Used for a connection that ended without a reason. */
export const closed = 'closed the connection'

/** Whether a reason says only that the connection ended. @param {string} reason */
const isPlain = (reason) => reason.endsWith(closed)

/** @param {string} address @param {string} reason that may begin with it */
const without = (address, reason) =>
  reason.startsWith(`${address}: `) ? reason.slice(address.length + 2) : reason

const counted = (/** @type {number} */ n, /** @type {string} */ word) =>
  `${count(n)} ${word}${n === 1 ? '' : 's'}`

/** Connections that are lost and come back. @param {Needs} needs */
const connectionEvents = ({ onEvent, clock }) => {
  /** @type {Map<string, { sinceMs: number, reported: boolean, announced: boolean, reason: string }>} told: with this reason; announced: with any */
  const lost = new Map()
  /** @type {Map<string, number>} when an address was last spoken of */
  const spoken = new Map()

  const isQuiet = (/** @type {string} */ address) =>
    clock() - (spoken.get(address) ?? Number.NEGATIVE_INFINITY) >= quietMs
  const speak = (/** @type {string} */ address, /** @type {string} */ kind, /** @type {string} */ text) => {
    spoken.set(address, clock())
    onEvent(kind, text)
  }
  const tellDown = (/** @type {string} */ address) => {
    const state = lost.get(address)
    if (!state || state.reported || !isQuiet(address)) return
    state.reported = true
    state.announced = true
    speak(address, 'disconnected', `${address}: ${without(address, state.reason)}`)
  }

  return {
    tellDown: () => [...lost.keys()].forEach(tellDown),
    /** The connection is lost, or could not be made again. @param {string} address @param {string} reason */
    down(address, reason) {
      const state = lost.get(address)
      if (!state) lost.set(address, { sinceMs: clock(), reported: false, announced: false, reason })
      // Why it cannot reconnect says more than that it was lost.
      else if (reason !== state.reason && !isPlain(reason)) Object.assign(state, { reported: false, reason })
      tellDown(address)
    },

    /** @param {string} address */
    up(address) {
      const state = lost.get(address)
      if (!state) return
      lost.delete(address)
      // A connection that is lost and back within a second is reported once.
      if (!state.announced && !isQuiet(address)) return
      const cause = isPlain(state.reason) ? '' : `; ${without(address, state.reason)}`
      speak(address, 'reconnected', `${address} after ${Math.round(clock() - state.sinceMs)} ms${cause}`)
    },

    /** @param {string} address */
    isDown: (address) => lost.has(address),

    /** No connection to it is opened any more. @param {string} address */
    forget: (address) => lost.delete(address),
  }
}

/** @param {Needs} needs */
export const topologyEventsOf = ({ onEvent, clock }) => {
  /** @type {Map<string, number>} */
  const refusals = new Map()
  /** @type {Map<string, number>} slots by the way they went */
  const moves = new Map()
  /** @type {readonly string[] | null} */
  let masters = null
  let epoch = 0
  let seenEpoch = 0

  const { tellDown, ...connections } = connectionEvents({ onEvent, clock })

  return {
    ...connections,

    /** A server turned a command away. @param {string} cause */
    refused(cause) {
      refusals.set(cause, (refusals.get(cause) ?? 0) + 1)
    },

    /** @param {string} from @param {string} to @param {number} slots */
    moved(from, to, slots) {
      const way = `from ${from} to ${to}`
      moves.set(way, (moves.get(way) ?? 0) + slots)
    },

    /**
     * Slots that a new map gives to others.
     * @param {Map<string, number[]>} slots by the address they left
     * @param {(slot: number) => string} ownerOf
     */
    left(slots, ownerOf) {
      for (const [from, numbers] of slots) for (const slot of numbers) this.moved(from, ownerOf(slot), 1)
    },

    /** The topology as it is now. @param {{ masters: readonly string[], epoch?: number }} topology */
    topology(topology) {
      epoch = Math.max(epoch, topology.epoch ?? 0)
      // The first topology is no change.
      if (masters === null) seenEpoch = epoch
      else {
        for (const address of topology.masters) {
          if (!masters.includes(address)) onEvent('new-master', `${address} is a master now`)
        }
        for (const address of masters) {
          if (!topology.masters.includes(address))
            onEvent('master-gone', `${address} serves no slots any more`)
        }
      }
      masters = [...topology.masters]
    },

    /** Once a second. */
    tell() {
      tellDown()
      for (const [way, slots] of moves) onEvent('slots-moved', `${counted(slots, 'slot')} ${way}`)
      moves.clear()
      if (refusals.size > 0) {
        const list = [...refusals].map(([cause, n]) => `${cause} ${count(n)}`)
        onEvent('refused', `commands, which are retried: ${list.join(', ')}`)
        refusals.clear()
      }
      if (epoch > seenEpoch) onEvent('epoch', `the topology's epoch is ${epoch}`)
      seenEpoch = epoch
    },
  }
}
