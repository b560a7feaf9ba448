// The commands of a writer on a client library: sent, and counted by the library's final replies.
import { itemTimesOf } from '../probes/item-times.js'
import { plainCommand } from '../wire/encode.js'
import { firstKeyIn } from './library.js'
import { answerLimitOf, answersOf, unansweredCause } from './library-answers.js'
import { libraryRetriesOf } from './library-repeats.js'

/**
 * @import { Loss } from '../probes/ledger.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Tick } from './tick-entry.js'
 * @import { Batch } from './batch.js'
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
