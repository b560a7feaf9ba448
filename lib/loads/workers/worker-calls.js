// One connection of a worker: commands are written together, and their replies arrive together. When it is lost, so are the
// replies, and a new one is made.
import { asValues, laneOf } from '../../transport/lane.js'
import { ruleOf } from '../../transport/refusals.js'
import { commandBytes } from '../../wire/encode.js'

/**
 * @import { Machine } from '../../base/timers.js'
 * @import { Reply } from '../../wire/values.js'
 * @import { BoundWork, Known } from '../../workloads/bind/worker.js'
 * @import { Taken } from '../../workloads/queue/replies.js'
 * @import { WorkersNeeds } from './flow.js'
 */

/** A server refused all commands of a call. */
export class Refused extends Error {}

/** How commands are sent, and what follows a refusal. @param {Pick<WorkersNeeds, 'server' | 'sink'>} needs */
export const askingOf = ({ server: { refresh }, sink }) => {
  /** @param {Reply[]} replies @param {RegExp | null} mayFail */
  const errorsIn = (replies, mayFail) =>
    replies.flatMap((reply) =>
      reply instanceof Error && !mayFail?.test(reply.message) ? [reply.message] : [],
    )

  /**
   * The replies that are not refusals; rejects if all are.
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
    for (const line of errors) sink.refused(ruleOf(line, '').cause)
    if (errors.length < replies.length && works.length === 1)
      return replies.filter((reply) => !(reply instanceof Error))
    const { action } = ruleOf(errors[0], '')
    if (action === 'there' || action === 'asking' || action === 'later') {
      await refresh().catch(() => {})
      if (action === 'there') connection.cut()
    }
    throw new Refused(errors[0])
  }
}

/** The replies were lost; commands that were sent may have been executed. */
export class LostReply extends Error {
  /** @param {boolean} isSent */
  constructor(isSent) {
    super()
    this.isSent = isSent
  }
}

/** @typedef {{ replies: Reply[], resolve: (replies: Reply[]) => void, reject: (error: Error) => void }} Call */

/**
 * @param {object} needs
 * @param {Parameters<typeof laneOf>[0]['open']} needs.open
 * @param {(error?: Error) => void} needs.onDown
 * @param {(tookMs: number) => void} [needs.onRenewed]
 * @param {Machine} needs.machine
 */
export const workerConnection = ({ open, onDown, onRenewed = () => {}, machine }) => {
  /** @type {(() => void)[]} */
  const waiting = []
  let closed = false

  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  const fail = () => {
    for (const { reject } of lane.drain()) reject(new LostReply(true))
  }
  /** @param {Call} call @param {Reply} reply @param {number} left */
  const take = ({ replies, resolve }, reply, left) => {
    replies.push(reply)
    if (left === 0) resolve(replies)
  }
  /** @type {ReturnType<typeof laneOf<Call>>} */
  const lane = laneOf({
    open,
    decoder: asValues(),
    events: {
      onReplied: take,
      onRefused: (call, line, left) => take(call, new Error(line), left),
      onUp: wake,
      onDown(_, error) {
        fail()
        if (!closed) onDown(error)
      },
      onRenewed(_, tookMs) {
        onRenewed(tookMs)
        wake()
      },
    },
    machine,
  })

  return {
    connect: lane.connect,
    isUp: lane.isUp,
    renew: lane.renew,
    cut: lane.cut,
    /** Resolves when it is connected or closed. */
    up: () =>
      lane.isUp() || closed
        ? Promise.resolve()
        : new Promise((/** @type {(value: void) => void} */ resolve) => {
            waiting.push(resolve)
          }),
    /** Sends commands in one write. @param {readonly string[][]} commands @returns {Promise<Reply[]>} */
    call: (commands) =>
      new Promise((resolve, reject) => {
        if (closed || !lane.isUp()) return reject(new LostReply(false))
        lane.push({ replies: [], resolve, reject }, commands.length, machine.clock())
        lane.write(commandBytes(commands))
      }),
    close() {
      closed = true
      lane.close()
      fail()
      wake()
    },
  }
}

/** @typedef {ReturnType<typeof workerConnection>} WorkerConnection */
