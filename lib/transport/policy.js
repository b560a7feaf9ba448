// What follows a command that was not answered, or refused: one rule for writers, readers and clients, with both drivers.
import { exactly } from '../base/typed.js'
import { ruleOf } from './refusals.js'

/**
 * @import { Loss } from '../probes/ledger.js'
 * @import { Action } from './refusals.js'
 *
 * @typedef {{ action: Action, cause: string, address: string | null, slot: number | null, waitMs: number, lost: Loss | null, isStray: boolean }} Ruling
 *   lost: it is given up with this outcome; else it is repeated, after `waitMs`
 */

const laterMs = 40
const maxAttempts = 8
// After this many redirects the servers contradict each other and need time to agree.
const atOnce = 3

const closed = exactly({
  action: 'later',
  cause: 'CLOSED',
  address: null,
  slot: null,
  isStray: false,
})

/** @param {number} attempts from 1 */
const waitFor = (attempts) => laterMs * 2 ** Math.min(4, attempts - 1)

/**
 * @param {object} needs
 * @param {number} needs.maxBehindMs
 * @param {() => number} needs.clock
 * @param {(from: string, to: string) => boolean} needs.follows
 */
export const policyOf = ({ maxBehindMs, clock, follows }) => {
  const isLate = (/** @type {number} */ dueMs, /** @type {number} */ attempts) =>
    attempts > maxAttempts && clock() - dueMs > maxBehindMs

  return {
    waitFor,
    /**
     * A server refused the command, so it was not executed.
     * @param {string} line
     * @param {string} from the server
     * @param {number} dueMs
     * @param {number} attempts this one included
     * @returns {Ruling}
     */
    refused(line, from, dueMs, attempts) {
      const { action: asked, cause, address = null, slot = null } = ruleOf(line, from)
      // That server is not confirmed: the slot's owner may redirect to another one later.
      const isStray = address !== null && !follows(from, address)
      const action = isStray ? 'later' : asked
      const lost = action === 'give-up' || isLate(dueMs, attempts) ? 'failed' : null
      const mustWait = action === 'later' || action === 'load' || attempts > atOnce
      return { action, cause, address, slot, lost, isStray, waitMs: mustWait ? waitFor(attempts) : 0 }
    },

    /**
     * A read that was refused, or whose connection ended first: it is safe to repeat.
     * @param {string | null} line null: the connection ended
     * @param {string} from the server
     * @param {number} dueMs
     * @param {number} attempts this one included
     * @returns {Ruling}
     */
    unread(line, from, dueMs, attempts) {
      if (line === null)
        return { ...closed, lost: isLate(dueMs, attempts) ? 'dropped' : null, waitMs: waitFor(attempts) }
      const decision = this.refused(line, from, dueMs, attempts)
      // A read follows the map only: redirected again, it waits until the map names the owner.
      return attempts > 1 && decision.action === 'there'
        ? { ...decision, waitMs: waitFor(attempts) }
        : decision
    },

    /**
     * The connection ended before an answer came.
     * @param {{ repeatable?: boolean }} step
     * @param {boolean} left it may have been executed
     * @param {number} dueMs
     * @param {number} attempts this one included
     * @param {boolean} scheduled
     * @returns {Loss | null} null: it is repeated
     */
    unanswered(step, left, dueMs, attempts, scheduled) {
      if (left && step.repeatable === false) return 'uncertain'
      return !left && scheduled && isLate(dueMs, attempts) ? 'dropped' : null
    },

    /** Work due before this that has not begun is dropped. @param {boolean} scheduled */
    deadline: (scheduled) => (scheduled ? clock() - maxBehindMs : Number.NEGATIVE_INFINITY),
  }
}

/**
 * Commands that were sent are retried as long as their server is there.
 * @param {{ tick: { dueMs: number, firstMs: number | null } }} tickJobs
 * @param {number} deadline
 * @param {boolean} isUp
 */
export const isOverdue = ({ tick }, deadline, isUp) =>
  tick.dueMs < deadline && !(tick.firstMs !== null && isUp)
