// The connections of a reader: one to each server, the map of who serves what, and what is told of both.
import { ReadError } from './read-driver.js'
import { sendOne } from './read-exchange.js'
import { deaf, readLaneOf } from './read-lane.js'
import { readMapOf } from './read-map.js'
import { silenceOf } from './silence.js'

/** @typedef {import('./read-lane.js').ReadLane} ReadLane */

// Nobody tells of a replica that has come back.
const staleMs = 10_000
// Another server may have what a frozen one owes.
const frozenLimitMs = 10_000

/**
 * Tells when a server is away, and when it is back.
 * @param {() => number} clock
 * @param {(kind: string, text: string) => void} onEvent
 */
const outagesOf = (clock, onEvent) => {
  /** @type {Map<string, number>} */
  const downSince = new Map()
  return (
    /** @type {string} */ address,
    /** @type {'up' | 'down'} */ state,
    /** @type {Error | undefined} */ error,
  ) => {
    const was = downSince.get(address)
    if (state === 'down' && was === undefined) {
      downSince.set(address, clock())
      onEvent('disconnected', `${address}: ${error?.message ?? 'closed the connection'}`)
    }
    if (state === 'up' && was !== undefined) {
      downSince.delete(address)
      onEvent('reconnected', `${address} after ${Math.round(clock() - was)} ms`)
    }
  }
}

/** @param {import('./read-driver.js').ReadDriverOptions} options */
export const readLanesOf = ({ plan, target, clock, random, onEvent }) => {
  const mapNow = () => readMapOf({ nodes: target.nodes(), ...target.topology }, plan.reads)
  let map = mapNow()
  /** @type {Map<string, ReadLane>} */
  const lanes = new Map()
  let started = false
  let closed = false
  /** @type {Promise<void> | null} */
  let refreshing = null
  let refreshedMs = clock()

  const learn = () => {
    const before = map
    map = mapNow()
    if (String(before.servers) !== String(map.servers))
      onEvent('servers', `reads go to ${map.servers.join(', ')} now`)
  }
  const tellOutage = outagesOf(clock, onEvent)
  /** @type {typeof tellOutage} */
  const onState = (address, state, error) => {
    if (!started || closed) return
    tellOutage(address, state, error)
    // Until the cluster has given up a dead replica, each failed attempt to connect asks again.
    if (state === 'down' && map.isServing(address)) refresh()
  }
  /** Once, however many ask for it at the same time. */
  const refresh = () => {
    refreshing ??= target
      .refresh()
      .then(learn, () => {})
      .finally(() => {
        refreshing = null
        refreshedMs = clock()
      })
    return refreshing
  }

  /** @param {string} address @param {boolean} stale old values will do */
  const laneAt = (address, stale) => {
    const readOnly = plan.cluster && stale && plan.reads !== 'master'
    const name = readOnly ? address : `${address} master`
    const known = lanes.get(name)
    if (known) return known
    const { windowBytes } = plan
    const open = (/** @type {Parameters<typeof target.dial>[1]} */ events) => target.dial(address, events)
    const lane = readLaneOf({ address, readOnly, windowBytes, open, clock, random, onState })
    lanes.set(name, lane)
    lane.connect()
    return lane
  }

  const listen = silenceOf({ dial: target.dial, onEvent })
  const close = () => {
    closed = true
    for (const lane of lanes.values()) lane.close()
  }

  return {
    laneAt,
    map: () => map,
    /** @param {number} slot @param {number} consumer */
    serverAt: (slot, consumer) => map.serverOf(map.shardOf(slot), consumer),
    isClosed: () => closed,

    refresh,

    async connectAll() {
      for (const address of map.servers) laneAt(address, true)
      const faults = await Promise.all(
        [...lanes.values()].map(async (lane) => {
          const { closed: lost } = await sendOne(lane, ['TIME'], deaf)
          return lost ? lane.address : null
        }),
      )
      const [first] = faults.filter((fault) => fault !== null)
      if (first) {
        close()
        // Once more by itself, to say why.
        const socket = await target.dial(first, { onBytes: () => {}, onClose: () => {} })
        socket.destroy()
        throw new ReadError('CONNECT', `${first}: closed the connection`)
      }
      started = true
    },

    figures() {
      /** @type {Record<string, { commands: number, bytes_in: number }>} */
      const sums = {}
      for (const lane of lanes.values()) {
        const { commands, bytes_in } = lane.figures()
        const sum = sums[lane.address] ?? { commands: 0, bytes_in: 0 }
        sums[lane.address] = { commands: sum.commands + commands, bytes_in: sum.bytes_in + bytes_in }
      }
      return sums
    },
    /** What a half-open connection or a frozen server owes is asked again. */
    watch() {
      listen(() => lanes.values())
      for (const lane of lanes.values()) if (lane.silentMs() > frozenLimitMs) lane.cut()
      if (clock() - refreshedMs > staleMs) refresh()
    },
    close,
  }
}
