// Workers of a queue: each takes jobs over its own connection, does their work one after the other, and confirms them. One
// more connection a process reports that they are alive, and returns the jobs of silent workers to the queue.
import { setTimeout as sleep } from 'node:timers/promises'
import { settledWithin } from '../../base/timers.js'
import { certain } from '../../base/typed.js'
import { asValues, laneOf } from '../../transport/lane.js'
import { ruleOf } from '../../transport/refusals.js'
import { commandBytes } from '../../wire/encode.js'
import { jobIn } from '../../workloads/queue/job.js'
import { jobsIn } from '../../workloads/queue/replies.js'

/**
 * @import { Socket } from 'node:net'
 * @import { Machine } from '../../base/timers.js'
 * @import { BoundWork, Known } from '../../workloads/bind/worker.js'
 * @import { Workers } from '../../workloads/declare.js'
 * @import { Taken } from '../../workloads/queue/replies.js'
 * @import { Reply } from '../../wire/values.js'
 *
 * @typedef {object} Bound of the strategy's declaration
 * @property {Workers['promise']} promise
 * @property {BoundWork[]} open
 * @property {BoundWork | null} take
 * @property {BoundWork | null} wait
 * @property {number} pollMs
 * @property {BoundWork | null} own
 * @property {BoundWork[]} confirm
 * @property {BoundWork | null} alive
 * @property {BoundWork | null} reclaim
 * @property {BoundWork[]} leave
 *
 * @typedef {object} JobsTaken
 * @property {number} take
 * @property {number} reclaimMs
 * @property {Bound} bound
 * @property {(() => Promise<number>) | null} doWork resolves with how long it took, in ms
 *
 * @typedef {object} QueueServer
 * @property {(handlers: { onBytes: (received: Buffer) => void, onClose: (error?: Error) => void, clientName: string }) => Promise<Socket>} dial
 * @property {() => Promise<unknown>} refresh where it is now
 * @property {() => number} nowUs epoch, by its clock
 *
 * @typedef {object} WorkersNeeds
 * @property {{ names: readonly string[], first: number }} workers first: of them, among all of a run
 * @property {JobsTaken} work
 * @property {QueueServer} server
 * @property {WorkSink} sink
 * @property {Machine} machine
 */

// One connection of a worker: commands are written together, and their replies arrive together. When it is lost, so are the
// replies, and a new one is made.

/** A server refused all commands of a call. */
class Refused extends Error {}

/** How commands are sent, and what follows a refusal. @param {Pick<WorkersNeeds, 'server' | 'sink'>} needs */
const askingOf = ({ server: { refresh }, sink }) => {
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
class LostReply extends Error {
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
const workerConnection = ({ open, onDown, onRenewed = () => {}, machine }) => {
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

// Where a worker's flow reports what it does: the records of the run, or the journal that brings it to them from another process.

/**
 * @typedef {object} WorkSink
 * @property {(worker: number, maker: string, number: number, times: JobTimes) => void} done
 * @property {(worker: number) => void} foreign a text that is no job of ours was taken, and confirmed
 * @property {(jobs: number, tookMs: number) => void} took
 * @property {(jobs: number, tookMs: number) => void} confirmed
 * @property {(worker: number, ms: number) => void} busy with jobs in hand
 * @property {(cause: string) => void} refused
 * @property {(lost: 'take' | 'confirm' | 'other') => void} lostReply
 * @property {(jobs: number) => void} reclaimed
 * @property {(tookMs: number) => void} renewed a connection was opened anew, as it was asked for
 * @property {(kind: string, text: string) => void} event
 *
 * @typedef {{ waitUs: number, wholeUs: number, workUs: number, doneUs: number }} JobTimes from when it was due to when it was
 *   taken, and to when it was done; of its work; and when it was done, by the clock of the queue's server
 */

/** Reports a job that a worker has done. @param {WorkersNeeds} needs */
const doneOf = ({ workers: { names, first }, server: { nowUs }, sink, machine: { clock } }) => {
  const lastMs = new Float64Array(names.length)
  /** @param {number} index @param {Taken} taken @param {number} takenMs @param {number} doneMs both by the clock @param {number} workMs */
  return (index, { text }, takenMs, doneMs, workMs) => {
    const job = jobIn(text)
    const fromMs = Math.max(takenMs, lastMs[index])
    lastMs[index] = doneMs
    sink.busy(first + index, doneMs - fromMs)
    if (job === null) return sink.foreign(first + index)
    const doneUs = nowUs() - (clock() - doneMs) * 1000
    sink.done(first + index, job.maker, job.number, {
      waitUs: doneUs - (doneMs - takenMs) * 1000 - job.dueUs,
      wholeUs: doneUs - job.dueUs,
      workUs: workMs * 1000,
      doneUs,
    })
  }
}

const blockMs = 250
const aliveMs = 1000
const refusedMs = 100
const mostAtOnce = 100

/** @param {WorkersNeeds} needs */
export const workersFlow = async (needs) => {
  const { workers, work, server, sink, machine } = needs
  const { names, first } = workers
  const { take, reclaimMs, bound, doWork } = work
  const { clock, random } = machine
  const ask = askingOf(needs)
  const done = doneOf(needs)
  let stopping = false
  let atOnce = false
  let working = 0
  /** @type {unknown} */
  let fault = null
  /** @type {Error | undefined} */
  let opening

  const connectionFor = (/** @type {string} */ clientName) =>
    workerConnection({
      open: (handlers) => server.dial({ ...handlers, clientName }),
      onDown: (error) => {
        opening ??= error
        if (started) sink.event('connection', error?.message ?? 'a connection of a worker was closed')
      },
      onRenewed: sink.renewed,
      machine,
    })
  let started = false
  const connections = names.map((name) => connectionFor(`millrace-worker-${name}`))
  const household = connectionFor('millrace-workers')

  const knownOf = (/** @type {string} */ worker) => ({
    worker,
    take,
    reclaimMs,
    waitS: blockMs / 1000,
    waitMs: blockMs,
  })

  /** Repeats until it succeeds or the limit has passed. What must not be repeated is given up once it may have been executed. @template T @param {WorkerConnection} connection @param {'confirm' | 'other'} what @param {() => Promise<T>} once */
  const untilDone = async (connection, what, once) => {
    while (!atOnce) {
      try {
        return await once()
      } catch (error) {
        if (error instanceof LostReply) {
          if (error.isSent) sink.lostReply(what)
          if (error.isSent && what === 'confirm' && bound.promise === 'at-most-once') return
          await connection.up()
        } else if (error instanceof Refused) await sleep(refusedMs * (0.5 + random()))
        else throw error
      }
    }
  }

  /** @param {number} index */
  const loop = async (index) => {
    const connection = connections[index]
    const values = knownOf(names[index])
    // Jobs may have been sent to this worker in a lost reply: it asks for them.
    let mayHaveOwn = false
    let reclaimAtMs = clock() + (reclaimMs / 2) * (index === 0 ? 1 : Number.POSITIVE_INFINITY)

    /** @param {BoundWork} one */
    const jobsBy = async (one) => {
      const askedMs = clock()
      const replies = await ask(connection, [one], values)
      const jobs = replies.flatMap((reply) => jobsIn(certain(one.work.jobs), reply))
      if (jobs.length > 0) sink.took(jobs.length, clock() - askedMs)
      return jobs
    }
    const next = async () => {
      if (mayHaveOwn && bound.own) {
        const jobs = await jobsBy(bound.own)
        mayHaveOwn = false
        if (jobs.length > 0) return jobs
      }
      if (bound.reclaim?.work.jobs && clock() >= reclaimAtMs) {
        const jobs = await jobsBy(bound.reclaim)
        // More jobs may be waiting.
        reclaimAtMs = clock() + (jobs.length < take ? reclaimMs / 2 : 0)
        if (jobs.length > 0) {
          sink.reclaimed(jobs.length)
          return jobs
        }
      }
      const jobs = bound.take ? await jobsBy(bound.take) : []
      return jobs.length === 0 && bound.wait && !stopping ? jobsBy(bound.wait) : jobs
    }
    /** @param {Taken[]} jobs */
    const confirm = async (jobs) => {
      if (bound.confirm.length === 0) return
      const askedMs = clock()
      await untilDone(connection, 'confirm', () => ask(connection, bound.confirm, values, jobs))
      const tookMs = clock() - askedMs
      sink.busy(first + index, tookMs)
      sink.confirmed(jobs.length, tookMs)
    }

    while (!stopping) {
      await connection.up()
      if (stopping) break
      /** @type {Taken[]} */
      let jobs
      try {
        jobs = await next()
      } catch (error) {
        if (error instanceof LostReply) {
          if (error.isSent) sink.lostReply('take')
          mayHaveOwn ||= error.isSent
        } else if (error instanceof Refused) await sleep(refusedMs * (0.5 + random()))
        else throw error
        continue
      }
      if (jobs.length === 0) {
        if (bound.wait === null) await sleep(bound.pollMs)
        continue
      }
      const takenMs = clock()
      for (const job of jobs) {
        const workMs = doWork ? await doWork() : 0
        done(index, job, takenMs, clock(), workMs)
      }
      await confirm(jobs)
    }
    await untilDone(connection, 'other', async () => {
      for (const one of bound.leave) await ask(connection, [one], values)
    })
  }

  /** The housekeeping of a process: signs of life, and the jobs of silent workers. */
  const keepHouse = async () => {
    const { alive, reclaim } = bound
    const reclaims = reclaim !== null && reclaim.work.jobs === null ? reclaim : null
    if (alive === null && reclaims === null) return
    let reclaimAtMs = clock() + reclaimMs / 2
    let aliveAtMs = 0
    while (working > 0 && !atOnce) {
      try {
        await household.up()
        if (alive && clock() >= aliveAtMs) {
          aliveAtMs = clock() + Math.min(aliveMs, reclaimMs / 4)
          for (const name of names) await ask(household, [alive], knownOf(name))
        }
        if (reclaims && clock() >= reclaimAtMs) {
          reclaimAtMs = clock() + reclaimMs / 2
          const [moved] = await ask(household, [reclaims], knownOf(names[0]))
          if (Number(moved) > 0) sink.reclaimed(Number(moved))
        }
      } catch (error) {
        if (!(error instanceof LostReply || error instanceof Refused)) throw error
      }
      await sleep(50)
    }
  }

  const close = () => {
    for (const connection of [...connections, household]) connection.close()
  }
  const all = [household, ...connections]
  for (let i = 0; i < all.length; i += mostAtOnce)
    await Promise.all(all.slice(i, i + mostAtOnce).map((connection) => connection.connect()))
  if (!all.every((connection) => connection.isUp())) {
    close()
    throw opening ?? new Error('no connection to the queue')
  }
  for (const name of names)
    for (const one of bound.open)
      await ask(household, [one], knownOf(name)).catch((error) => {
        close()
        throw error
      })
  started = true

  /** @type {Promise<unknown>} */
  let ended = Promise.resolve()
  const stop = () => {
    stopping = true
  }
  const failed = (/** @type {unknown} */ error) => {
    fault ??= error
    stop()
  }
  return {
    start() {
      working = names.length
      const loops = names.map((_, index) =>
        loop(index)
          .catch(failed)
          .finally(() => {
            working--
          }),
      )
      ended = Promise.all([...loops, keepHouse().catch(failed)])
    },
    stop,
    working: () => working,
    /** Renews the next of the connections. */
    renew: (/** @type {number} */ index) => connections[index % connections.length].renew(),
    /** Waits at most so long for the jobs in hand. @param {number} limitMs @param {AbortSignal} [now] */
    async settle(limitMs, now) {
      const whole = await settledWithin(limitMs, () => working > 0, { clock, atOnce: now })
      atOnce = true
      close()
      await ended
      if (fault) throw fault
      return whole
    },
    close,
  }
}
