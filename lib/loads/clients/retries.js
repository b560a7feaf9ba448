// What happens to operations that were refused or whose connection was lost: each is retried by its rules, at the node that
// owns its slot then, or gets its outcome.
import { policyOf } from '../../transport/policy.js'
import { refresherOf } from '../../transport/refresher.js'
import { slotMapOf } from '../../transport/slot-map.js'
import { topologyEventsOf } from '../../transport/topology-events.js'

/**
 * @import { ClientConnection, Operation } from './connection.js'
 * @import { Outcomes } from './outcomes.js'
 * @import { ClientsNeeds, FlowNeeds } from './flow.js'
 *
 * @typedef {{ operation: Operation, address: string | null, notBeforeMs: number }} Retry address: of the node that is asked before
 *   the slot is its own; null: the owner of its slot
 *
 * @typedef {(client: number, waitMs: number) => void} Later looks at a client again after that time
 *
 * @typedef {ReturnType<typeof retriesOf>} Retries
 */

// A server that is busy with a script would refuse the same client thousands of times a second.
const pauseMs = 1000

/** The owners of slots; changes are reported as events. @param {Pick<ClientsNeeds, 'target' | 'clock' | 'timers' | 'onEvent'>} needs */
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

/** @param {FlowNeeds} needs @param {Outcomes} outcomes */
export const retriesOf = (needs, { lose }) => {
  const { plan, clients, operations, target, ledger, clock, random } = needs
  const { waitsFor = [] } = plan
  const owners = ownersOf(needs)
  const { map, topologyEvents, refresher } = owners
  const policy = policyOf({ maxBehindMs: plan.maxBehindMs, clock, follows: target.follows })

  /** @param {number} client @param {Operation} operation @param {{ address?: string, waitMs?: number }} [how] address: the node that ASK names */
  const retry = (client, operation, { address, waitMs = 0 } = {}) => {
    const notBeforeMs = waitMs > 0 ? clock() + waitMs : 0
    clients[client].waiting.push({ operation, address: address ?? null, notBeforeMs })
  }

  /** Retries at the owner by the map, at the address that the refusal named, or later. @param {number} client @param {Operation} operation @param {ReturnType<typeof policy.refused>} ruling @param {Later} later */
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
    if (action === 'asking' && isKnown) return retry(client, operation, { address })
    refresher.request()
    const waitMs = policy.waitFor(operation.attempts) * (0.5 + random())
    retry(client, operation, { waitMs })
    later(client, waitMs)
  }

  return {
    ...owners,
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
        clients[client].pausedUntilMs = clock() + pauseMs
        return later(client, pauseMs)
      }
      const decision = policy.refused(line, connection.address, operation.dueMs, operation.attempts)
      const { action, cause, lost } = decision
      needs.onRefused?.(cause)
      if (waitsFor.includes(cause)) {
        if (clock() - operation.dueMs > plan.maxBehindMs) return lose(client, operation, 'dropped', '')
        ledger.retried(cause)
        const holdMs = policy.waitFor(1) * (0.5 + random())
        retry(client, operation, { waitMs: holdMs })
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
