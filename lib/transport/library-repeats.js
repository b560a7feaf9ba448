// Retries of commands that a client library has not, or may not have, executed: by the same policy as on plain sockets.

/**
 * @import { Loss } from '../probes/ledger.js'
 * @import { One } from './library-commands.js'
 * @import { Fault, Library } from './library.js'
 * @import { policyOf } from './policy.js'
 * @import { DriverOptions } from './socket-writer.js'
 * @import { Net } from './net.js'
 */

// Without a limit, a library that rejects a command again and again would be asked for ever.
const mostAtOnce = 3

/**
 * @param {object} needs
 * @param {Library} needs.library
 * @param {DriverOptions} needs.options
 * @param {ReturnType<typeof policyOf>} needs.policy
 * @param {Pick<Net, 'refresh' | 'events'>} needs.net
 * @param {(one: One, outcome: Loss, cause: string) => void} needs.lose
 * @param {() => void} needs.onDue a command is to be sent again now
 */
export const libraryRetriesOf = ({ library, options, policy, net, lose, onDue }) => {
  const { plan, ledger, target } = options
  const { random } = options.machine
  /** @type {One[]} */
  let atOnce = []
  /** @type {Map<One, NodeJS.Timeout | null>} */
  const postponed = new Map()
  let closed = false

  /** @param {One} one @param {number} waitMs */
  const repeat = (one, waitMs) => {
    ledger.commands.repeated++
    if (waitMs === 0) atOnce.push(one)
    else postponed.set(one, setTimeout(due, waitMs * (0.5 + random()), one))
  }
  const due = (/** @type {One} */ one) => {
    if (closed || !postponed.delete(one)) return
    atOnce.push(one)
    onDue()
  }
  const loadThenRepeat = (/** @type {One} */ one, /** @type {number} */ waitMs) => {
    postponed.set(one, null)
    const again = () => {
      if (!closed) repeat(one, waitMs)
    }
    Promise.all(target.topology.masters.map((address) => target.loadScripts(address))).then(again, again)
  }

  /** @param {One} one @param {boolean} mayHaveLeft */
  const unanswered = (one, mayHaveLeft) => {
    net.refresh()
    const { tick, batch, left, attempts } = one
    const outcome = policy.unanswered(batch.step, left, tick.dueMs, attempts, plan.schedule !== 'none')
    if (outcome) return lose(one, outcome, outcome === 'dropped' ? '' : 'CLOSED')
    if (mayHaveLeft) ledger.sentAgain('CLOSED')
    repeat(one, policy.waitFor(attempts))
  }
  /** @param {One} one @param {string} line */
  const refused = (one, line) => {
    ledger.commands.refused++
    const { from, tick, attempts } = one
    const { action, cause, address, waitMs, lost } = policy.refused(line, from, tick.dueMs, attempts)
    if (lost) return lose(one, lost, cause)
    net.events.refused(cause)
    ledger.sentAgain(cause)
    if (action !== 'asking') net.refresh()
    if ((action === 'there' || action === 'asking') && address !== null)
      one.to = { address, asking: action === 'asking' }
    if (action === 'there') library.refreshSlots()
    if (action === 'load') loadThenRepeat(one, waitMs)
    else repeat(one, waitMs)
  }

  return {
    /** @param {One} one @param {Fault} fault */
    decide(one, fault) {
      if (fault.line !== null) refused(one, fault.line)
      else if (fault.atOnce) repeat(one, one.attempts > mostAtOnce ? policy.waitFor(one.attempts) : 0)
      else unanswered(one, fault.left)
    },
    takeDue: () => atOnce.splice(0),
    /** Commands that wait for their retry. */
    waiting: () => postponed.size,
    /** Commands that wait for the server go out at once. */
    wake() {
      for (const [one, timer] of postponed) {
        if (timer === null) continue
        clearTimeout(timer)
        due(one)
      }
    },
    close() {
      closed = true
      for (const timer of postponed.values()) if (timer) clearTimeout(timer)
    },
    takeAll() {
      const all = [...atOnce, ...postponed.keys()]
      atOnce = []
      postponed.clear()
      return all
    },
  }
}
