// The commands of a writer on a client library: sent, and counted by the library's final replies.
import { itemTimesOf } from '../probes/item-times.js'
import { plainCommand } from '../wire/encode.js'
import { firstKeyIn } from './library.js'
import { answerLimitOf, answersOf, unansweredCause } from './library-answers.js'

/**
 * @import { Loss } from '../probes/ledger.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Tick } from './send-queue.js'
 * @import { Batch } from './tick-batches.js'
 * @import { Fault, Library, Redirect } from './library.js'
 * @import { waitingTicksOf } from './waiting-ticks.js'
 * @import { policyOf } from './policy.js'
 * @import { DriverOptions } from './socket-writer.js'
 * @import { Net } from './net.js'
 *
 * @typedef {{ tick: Tick, batch: Batch, values: TickValues, i: number, attempts: number, left: boolean, to: Redirect | null, from: string, write: number, sentMs: number }} One
 * a command; `left` when it may have left this process, `to` where a redirect has sent it, `from` where it was sent,
 * `write` as that of an Entry
 */

// Retries of commands that a client library has not, or may not have, executed: by the same policy as on plain sockets.

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
const libraryRetriesOf = ({ library, options, policy, net, lose, onDue }) => {
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

/**
 * @param {object} needs
 * @param {Library} needs.library
 * @param {DriverOptions} needs.options
 * @param {ReturnType<typeof policyOf>} needs.policy
 * @param {Pick<Net, 'refresh' | 'events'>} needs.net
 * @param {ReturnType<typeof waitingTicksOf>} needs.waitingTicks
 * @param {() => void} needs.onSettled a command has an outcome, or is to be repeated
 */
export const libraryCommandsOf = ({ library, options, policy, net, waitingTicks, onSettled }) => {
  const { plan, ledger, onBegun, onReply } = options
  const { clock } = options.machine
  const itemTimes = itemTimesOf(options)
  let answeredMs = clock()
  let closed = false

  /** @param {One} one @param {Loss} outcome @param {string} cause */
  const lose = ({ tick, batch, i }, outcome, cause) => {
    ledger.lose(tick.account, batch, i, i + 1, outcome, cause)
    waitingTicks.finished(tick)
  }
  const retries = libraryRetriesOf({
    library,
    options,
    policy,
    net,
    lose,
    onDue: onSettled,
  })
  const answers = answersOf({
    library,
    limitMs: answerLimitOf(plan),
    clock,
    onReply(/** @type {One} */ one, reply) {
      if (closed) return
      const { tick, batch, i, write, sentMs } = one
      answeredMs = clock()
      const stored = itemTimes.answered(tick, batch, i, i + 1, write, sentMs, answeredMs)
      onReply?.(batch.step, Array.isArray(reply) ? undefined : /** @type {any} */ (reply))
      ledger.answered(tick.account, 1, stored)
      waitingTicks.finished(tick)
      onSettled()
    },
    onFault(one, fault) {
      if (closed) return
      if (fault.line !== null) answeredMs = clock()
      one.attempts++
      one.left ||= fault.left
      if (fault.isSilent) lose(one, 'uncertain', unansweredCause)
      else retries.decide(one, fault)
      onSettled()
    },
  })

  /** @param {One} one */
  const send = (one) => {
    const { tick, batch, values, i, to } = one
    const args = plainCommand(batch.args(i), values)
    const nowMs = clock()
    if (tick.firstMs === null) {
      tick.firstMs = nowMs
      onBegun(tick)
    }
    if (one.write === 0) one.write = tick.sends.push(nowMs)
    ledger.commands.sent++
    one.to = null
    one.from = to?.address ?? ((plan.cluster && library.ownerOf(batch.slotAt(i, values))) || one.from)
    answers.ask(one, () => library.send(args, firstKeyIn(args), to))
  }

  return {
    send,
    repeatDue() {
      for (const one of retries.takeDue()) send(one)
    },
    hasRoom: () => answers.count() + retries.waiting() < library.limit,
    /** Whether a command waits for its retry, or for an answer longer than usual. @param {number} ms */
    isDisturbed: (ms) => retries.waiting() > 0 || (answers.count() > 0 && clock() - answeredMs > ms),
    wake: retries.wake,
    watch: answers.watch,
    close() {
      closed = true
      retries.close()
    },
    /** The run has ended: gives up all commands; one that has long been unanswered may still have been sent. */
    abandon() {
      for (const one of answers.take())
        if (answers.isOverdue(one)) lose(one, 'uncertain', unansweredCause)
        else lose(one, 'unsettled', '')
      for (const one of retries.takeAll()) lose(one, 'unsettled', '')
    },
  }
}
