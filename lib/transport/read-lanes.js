// The connections of a reader: one to each server, the map of who serves what, and what is reported of both.

import { halfOpenOf } from './half-open.js'
import { ReadError } from './read-driver.js'
import { readLaneOf } from './read-lane.js'
import { readTopologyOf } from './read-topology.js'
import { closed as closedReason } from './topology-events.js'

/**
 * @import { ReadDriverOptions } from './read-driver.js'
 * @import { ReadLane } from './read-lane.js'
 */

// Another server may have what a frozen one owes.
const frozenLimitMs = 10_000

/** @param {ReadDriverOptions} options */
export const readLanesOf = (options) => {
  const { plan, target, clock, random, onEvent } = options
  // A fetch waits for the map.
  const topology = readTopologyOf(options, { spacingMs: 0 })
  const { topologyEvents, servers } = topology
  /** @type {Map<string, ReadLane>} */
  const lanes = new Map()
  /** @type {Map<string, Error>} of the start */
  const faults = new Map()
  let started = false
  let closed = false

  /** @type {Parameters<typeof readLaneOf>[0]['onState']} */
  const onState = (address, state, error) => {
    if (error && !started) faults.set(address, error)
    if (!started || closed) return
    if (state === 'up') return topologyEvents.up(address)
    topologyEvents.down(address, error?.message ?? closedReason)
    // Until the cluster has given up a dead replica, each failed attempt to connect asks again.
    if (topology.isServing(address)) topology.refresh()
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
    if (started) lane.connect()
    return lane
  }

  const listen = halfOpenOf({ dial: target.dial, onEvent })
  const close = () => {
    closed = true
    topology.close()
    for (const lane of lanes.values()) lane.close()
  }

  return {
    ...topology,
    laneAt,
    isClosed: () => closed,

    async connectAll() {
      await Promise.all(servers().map((address) => laneAt(address, true).connect()))
      for (const { address, isUp } of lanes.values()) {
        if (isUp()) continue
        close()
        throw faults.get(address) ?? new ReadError('CONNECT', `${address}: ${closedReason}`)
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
      topology.watch()
    },
    close,
  }
}
