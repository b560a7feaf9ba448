// Commands of a worker over its connection, and what a refusal of them asks for.
import { verdictOf } from '../transport/refusals.js'

/**
 * @import { Reply } from '../wire/trees.js'
 * @import { BoundWork, Known, Taken } from '../workloads/bind-work.js'
 * @import { WorkerConnection } from './worker-connection.js'
 * @import { WorkersNeeds } from './workers.js'
 */

/** A server refused all commands of a call. */
export class Refused extends Error {}

/** How commands go out, and what a refusal asks for. @param {Pick<WorkersNeeds, 'refresh' | 'events'>} needs */
export const askingOf = ({ refresh, events }) => {
  /** @param {Reply[]} replies @param {RegExp | null} mayFail */
  const errorsIn = (replies, mayFail) =>
    replies.flatMap((reply) =>
      reply instanceof Error && !mayFail?.test(reply.message) ? [reply.message] : [],
    )

  /**
   * The replies that are no refusals; rejects where all are.
   * @param {WorkerConnection} connection
   * @param {readonly BoundWork[]} works of more than one a transaction
   * @param {Known} known
   * @param {readonly Taken[]} [jobs]
   */
  return async (connection, works, known, jobs = []) => {
    const [{ work }] = works
    const made = works.flatMap((one) => one.commands(known, jobs))
    const commands = works.length > 1 ? [['MULTI'], ...made, ['EXEC']] : made
    let replies = await connection.call(commands)
    let errors = errorsIn(replies, work.mayFail)
    const { withText } = works[0]
    if (withText && errors.some((line) => line.startsWith('NOSCRIPT'))) {
      replies = await connection.call(withText(known, jobs))
      errors = errorsIn(replies, work.mayFail)
    }
    if (errors.length === 0) return replies.filter((reply) => !(reply instanceof Error))
    for (const line of errors) events.onRefused(verdictOf(line, '').cause)
    if (errors.length < replies.length && works.length === 1)
      return replies.filter((reply) => !(reply instanceof Error))
    const { action } = verdictOf(errors[0], '')
    if (action === 'there' || action === 'asking' || action === 'later') {
      await refresh().catch(() => {})
      if (action === 'there') connection.cut()
    }
    throw new Refused(errors[0])
  }
}
