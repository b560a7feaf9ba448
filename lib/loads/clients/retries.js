// What becomes of operations that were refused or whose connection was lost: each is retried by its rules, at the node
// that owns its slot by then, or gets its outcome.
import { policyOf } from '../../transport/policy.js'
import { refresherOf } from '../../transport/refresher.js'
import { slotMapOf } from '../../transport/slot-map.js'
import { topologyEventsOf } from '../../transport/topology-events.js'

/**
 * @import { ClientConnection, Operation } from './connection.js'
 * @import { Outcomes } from './outcomes.js'
 * @import { ClientsNeeds } from './flow.js'
 *
 * @typedef {{ operation: Operation, address: string | null, isAsking: boolean, notBeforeMs: number }} Retry address: null is
 *   the owner of its slot
 *
 * @typedef {(client: number, waitMs: number) => void} Later looks at a client again after that time
 *
 * @typedef {ReturnType<typeof retriesOf>} Retries
 */

// A server that is busy with a script would refuse the same client thousands of times a second.
const pauseMs = 1000

/** Who owns which slot by now, with what changed reported. @param {Pick<ClientsNeeds, 'target' | 'clock' | 'timers' | 'onEvent'>} needs */
const ownersOf = ({ target, clock, timers, onEvent }) => {
  const map = slotMapOf(target.topology)
  const topologyEvents = topologyEventsOf({ onEvent, clock })
  const refresher = refresherOf({
    ask: target.refresh,
    learn: (topology) => {
      topologyEvents.topology(topology)
      const left = map.replace(topology)
      if (left.size > 0) topologyEvents.left(left, map.ownerOf)
    },
    clock,
    timers,
  })
  topologyEvents.topology(target.topology)
  return { map, topologyEvents, refresher }
}

/**
 * @param {ClientsNeeds} needs
 * @param {Outcomes} outcomes
 */
export const retriesOf = (needs, { lose }) => {
  const { plan, operations, target, ledger, clock, random } = needs
  const { waitsFor = [] } = plan
  const owners = ownersOf(needs)
  const { map, topologyEvents, refresher } = owners
  const policy = policyOf({ maxBehindMs: plan.maxBehindMs, clock, follows: target.follows })
  const pausedUntilMs = new Float64Array(plan.clients)
  /** @type {Retry[][]} by client: they go first */
  const waiting = Array.from({ length: plan.clients }, () => [])

  /** @param {number} client @param {Operation} operation @param {string | null} [address] @param {boolean} [isAsking] @param {number} [waitMs] */
  const retry = (client, operation, address = null, isAsking = false, waitMs = 0) => {
    waiting[client].push({ operation, address, isAsking, notBeforeMs: waitMs > 0 ? clock() + waitMs : 0 })
  }

  /** By the map or the address that the refusal named, or later. @param {number} client @param {Operation} operation @param {ReturnType<typeof policy.refused>} ruling @param {Later} later */
  const follow = (client, operation, { action, slot, address }, later) => {
    // An address that the map does not know is not followed: first the cluster must confirm it.
    const isKnown = address !== null && map.addresses().includes(address)
    if (action === 'there' && isKnown && slot !== null) {
      const was = map.ownerOf(slot)
      if (was !== address) {
        map.move(slot, address)
        topologyEvents.moved(was, address, 1)
      }
      return retry(client, operation)
    }
    if (action === 'asking' && isKnown) return retry(client, operation, address, true)
    refresher.request()
    const waitMs = policy.waitFor(operation.attempts) * (0.5 + random())
    retry(client, operation, null, false, waitMs)
    later(client, waitMs)
  }

  return {
    ...owners,
    pausedUntilMs,
    waiting,
    retry,

    /** @param {ClientConnection} connection @param {number} place @param {string} line @param {Later} later */
    refused(connection, place, line, later) {
      const { client } = connection
      const operation = connection.operationAt(place)
      operation.attempts++
      ledger.commands.refused++
      const { fatal = [] } = operations[operation.kind]
      if (fatal.some((cause) => line.startsWith(`${cause} `))) {
        lose(client, operation, 'failed', line.split(' ', 1)[0])
        pausedUntilMs[client] = clock() + pauseMs
        return later(client, pauseMs)
      }
      const decision = policy.refused(line, connection.address, operation.dueMs, operation.attempts)
      const { action, cause, lost } = decision
      needs.onRefused?.(cause)
      if (waitsFor.includes(cause)) {
        if (clock() - operation.dueMs > plan.maxBehindMs) return lose(client, operation, 'dropped', '')
        ledger.retried(cause)
        const holdMs = policy.waitFor(1) * (0.5 + random())
        retry(client, operation, null, false, holdMs)
        return later(client, holdMs)
      }
      if (lost || action === 'load') return lose(client, operation, 'failed', cause)
      ledger.retried(cause)
      topologyEvents.refused(cause)
      follow(client, operation, decision, later)
    },

    /** @param {ClientConnection} connection */
    lost(connection) {
      const isGivenUp = connection.isGivenUp()
      for (const operation of connection.drain()) {
        if (isGivenUp) {
          lose(connection.client, operation, 'failed', 'TIMEOUT')
          continue
        }
        if (!operations[operation.kind].repeatable) lose(connection.client, operation, 'uncertain', 'CLOSED')
        else {
          operation.attempts++
          ledger.retried('CLOSED')
          retry(connection.client, operation)
        }
      }
    },
  }
}
