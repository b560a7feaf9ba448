// Gives every operation of clients its outcome: acknowledged with its latency, or lost with a cause.

/**
 * @import { Loss } from '../../measure/ledger.js'
 * @import { ClientConnection, Exchange, Operation } from './connection.js'
 * @import { FlowNeeds } from './flow.js'
 *
 * @typedef {ReturnType<typeof outcomesOf>} Outcomes
 */

/** @param {Pick<FlowNeeds, 'clients' | 'ledger' | 'latency' | 'onAcked' | 'onDone' | 'clock'>} needs */
export const outcomesOf = ({ clients, ledger, latency, onAcked, onDone, clock }) => {
  let lastSettledMs = 0

  return {
    lastSettledMs: () => lastSettledMs,

    /** @param {number} client @param {Operation} operation @param {Loss} outcome @param {string} cause */
    lose(client, { measured }, outcome, cause) {
      ledger.lost(outcome, cause, measured)
      clients[client].inFlight--
      lastSettledMs = clock()
    },

    /** @param {ClientConnection} connection @param {number} from @param {number} count @param {number} nowMs */
    answered(connection, from, count, nowMs) {
      const { mask, dueMs, firstMs, measured, ns } = connection
      if (onAcked) for (let i = 0; i < count; i++) onAcked(ns[(from + i) & mask])
      let inWindow = 0
      for (let i = 0; i < count; ) {
        const at = (from + i) & mask
        const isIn = measured[at]
        const sent = firstMs[at]
        const due = dueMs[at]
        let run = 1
        // Operations sent and due at the same moment share one record.
        for (; i + run < count; run++) {
          const other = (from + i + run) & mask
          if (firstMs[other] !== sent || dueMs[other] !== due || measured[other] !== isIn) break
        }
        if (isIn) {
          latency.record(due, sent, nowMs, run)
          inWindow += run
        }
        i += run
      }
      ledger.acked(count, inWindow)
      clients[connection.client].inFlight -= count
      lastSettledMs = nowMs
    },

    /** The last reply of a multi-step operation. @param {ClientConnection} connection @param {Exchange} exchange @param {number} nowMs */
    over({ client }, exchange, nowMs) {
      exchange.isOver = true
      const { dueMs, firstMs, measured } = exchange
      // The client's work on the replies counts as part of the operation.
      onDone?.(exchange, nowMs)
      if (measured) latency.record(dueMs, firstMs, nowMs, 1)
      ledger.acked(1, measured ? 1 : 0)
      clients[client].inFlight--
      lastSettledMs = nowMs
    },
  }
}
