// The connections of a reader: one to each server, the map of who serves what, and what is reported of both.
import { longestValueOf } from './longest-reply.js'
import { ReadError } from './read-driver.js'
import { readQueueOf } from './read-queue.js'
import { readTopologyOf } from './read-topology.js'
import { closed as closedReason } from './topology-events.js'

/**
 * @import { ReadDriverOptions } from './read-driver.js'
 * @import { ReadQueue } from './read-queue.js'
 */

// Commands on a frozen connection are retried on another server.
const frozenLimitMs = 10_000

/** @param {ReadDriverOptions} options */
export const readQueuesOf = (options) => {
  const { plan, target, machine } = options
  /** @type {Map<string, ReadQueue>} */
  const queues = new Map()
  // A fetch waits for the map.
  const topology = readTopologyOf(options, { spacingMs: 0, connections: () => queues.values() })
  const { topologyEvents, servers } = topology
  /** @type {Map<string, Error>} of the start */
  const faults = new Map()
  let started = false
  let closed = false

  /** @type {Parameters<typeof readQueueOf>[0]['onState']} */
  const onState = (address, state, error) => {
    if (error && !started) faults.set(address, error)
    if (!started || closed) return
    if (state === 'up') return topologyEvents.up(address)
    topologyEvents.down(address, error?.message ?? closedReason)
    // Each failed attempt to connect asks again, until the cluster has dropped a dead replica.
    if (topology.isServing(address)) topology.refresh()
  }

  /** @param {string} address @param {boolean} stale old values will do */
  const queueAt = (address, stale) => {
    const readOnly = plan.cluster && stale && plan.reads !== 'master'
    const name = readOnly ? address : `${address} master`
    const known = queues.get(name)
    if (known) return known
    const maxUnansweredBytes = plan.windowBytes
    const open = (/** @type {Parameters<typeof target.dial>[1]} */ events) => target.dial(address, events)
    const limits = { maxUnansweredBytes, mostBytes: longestValueOf(plan) }
    const queue = readQueueOf({ address, readOnly, limits, open, machine, onState })
    queues.set(name, queue)
    if (started) queue.connect()
    return queue
  }

  const close = () => {
    closed = true
    topology.close()
    for (const queue of queues.values()) queue.close()
  }

  return {
    ...topology,
    queueAt: queueAt,
    isClosed: () => closed,

    async connectAll() {
      await Promise.all(servers().map((address) => queueAt(address, true).connect()))
      for (const { address, isUp } of queues.values()) {
        if (isUp()) continue
        close()
        throw faults.get(address) ?? new ReadError('CONNECT', `${address}: ${closedReason}`)
      }
      started = true
    },

    figures() {
      /** @type {Record<string, { commands: number, bytes_in: number }>} */
      const sums = {}
      for (const queue of queues.values()) {
        const { commands, bytes_in } = queue.figures()
        const sum = sums[queue.address] ?? { commands: 0, bytes_in: 0 }
        sums[queue.address] = { commands: sum.commands + commands, bytes_in: sum.bytes_in + bytes_in }
      }
      return sums
    },
    /** Retries what a half-open connection or a frozen server owes. */
    watch() {
      topology.listen()
      for (const queue of queues.values()) if (queue.silentMs() > frozenLimitMs) queue.cut()
      topology.watch()
    },
    close,
  }
}
