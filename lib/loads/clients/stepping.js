// Operations of several commands on their way: what is sent next, the pauses between, and their outcome.
import { causeOf } from '../../transport/refusals.js'

/**
 * @import { Kind, Router } from '../../transport/router.js'
 * @import { FlowNeeds } from './flow.js'
 * @import { Operation } from './operation.js'
 *
 * @typedef {Parameters<Kind<Operation>['send']>[1]} ToLane
 */

/**
 * @param {Pick<FlowNeeds, 'clients' | 'ledger' | 'latency' | 'machine' | 'durable' | 'onDone'>} needs
 * @param {object} own
 * @param {() => Router<Operation>} own.routing
 * @param {readonly boolean[]} own.waits whether an operation sends a command more, whose reply says whether it is kept
 * @param {Kind<Operation>['lose']} own.lose
 * @param {(atMs: number) => void} own.settledAt
 */
export const steppingOf = (needs, { routing, waits, lose, settledAt }) => {
  const { clients, ledger, latency, durable = null, onDone } = needs
  const { clock, timers } = needs.machine
  /** Operations between two of their commands. @type {Map<Operation, NodeJS.Timeout>} */
  const pausing = new Map()

  /** Sends the next commands; false: it is over. @param {Operation} operation @param {ToLane} lane @param {number} nowMs @param {number} lead */
  const say = (operation, lane, nowMs, lead) => {
    const next = operation.multiStep.send()
    if (next === null) return false
    const isKept = durable !== null && waits[operation.kind]
    lane.push(operation, next.replies + (isKept ? 1 : 0), nowMs, lead)
    routing().outbox.plain(lane, next.bytes)
    if (isKept) routing().outbox.plain(lane, durable.bytes)
    ledger.commands.sent += next.replies
    return true
  }
  /** Goes on after its pause, which is no part of its latency. @param {Operation} operation @param {number} pauseMs */
  const pause = (operation, pauseMs) => {
    operation.dueMs += pauseMs
    operation.firstMs += pauseMs
    const goOn = () => {
      pausing.delete(operation)
      routing().begin(operation, clock())
      routing().outbox.end()
    }
    pausing.set(operation, timers.setTimeout(goOn, pauseMs))
  }

  return {
    say,
    /** The replies to its last commands are here. @param {Operation} operation @param {ToLane} lane @param {number} nowMs */
    stepped(operation, lane, nowMs) {
      const { multiStep } = operation
      const fault = multiStep.fault?.() ?? null
      if (fault !== null) {
        operation.isOver = true
        return lose(operation, 'failed', causeOf(fault))
      }
      const pauseMs = multiStep.pauseMs?.() ?? 0
      if (pauseMs > 0) return pause(operation, pauseMs)
      if (say(operation, lane, nowMs, 0)) return
      const overMs = clock()
      operation.isOver = true
      // The client's work on the replies counts as part of the operation.
      onDone?.(operation, overMs)
      if (operation.measured) latency.record(operation.dueMs, operation.firstMs, overMs, 1)
      ledger.acked(1, operation.measured ? 1 : 0)
      clients[operation.client].inFlight--
      settledAt(overMs)
    },
    /** The run has ended: those that pause are unsettled. */
    abandon() {
      for (const [operation, timer] of pausing) {
        timers.clearTimeout(timer)
        lose(operation, 'unsettled', '')
      }
      pausing.clear()
    },
  }
}
