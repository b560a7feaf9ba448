// The result of the workers of a queue: counts, latencies and the account, under the names of run.json.
import { sums } from '../../base/sums.js'
import { commandsOfRole } from '../../measures/nodes.js'

/**
 * @import { Account } from '../../probes/jobs.js'
 * @import { WorkRun } from './open.js'
 *
 * @typedef {{ host: string, done: number }} Box
 * @typedef {object} Ending
 * @property {number} startedEpochMs
 * @property {boolean} interrupted
 * @property {boolean} whole every job in hand was finished
 * @property {(Account & { foreign: number, makers_at_work: number, boxes_at_work: number, boxes_silent: number, boxes?: Box[] }) | null} account boxes: those that took at once
 */

/** How evenly jobs are spread: 1 where all have as many, 1/n where one has all (Jain). @param {readonly number[]} counts */
const fairness = (counts) => {
  const sum = counts.reduce((a, b) => a + b, 0)
  const squares = counts.reduce((a, b) => a + b * b, 0)
  return squares === 0 ? null : (sum * sum) / (counts.length * squares)
}

/** How far the busiest worker is above the median one. @param {Float64Array} counts */
const busiest = (counts) => {
  const sorted = counts.toSorted()
  const middle = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
  return middle === 0 ? null : sorted[sorted.length - 1] / middle
}

/** Jobs a second from when the first one was taken to when the last one was done. @param {WorkRun['last']} records of a stage */
const rateOf = ({ jobs: { counts }, span: { fromUs, toUs } }) =>
  counts.done > 1 && toUs > fromUs ? (counts.done * 1e6) / (toUs - fromUs) : null

/** @param {WorkRun['last']} records of a stage @param {number} durationMs */
const workersOf = ({ jobs: { counts }, byWorker, whole }, durationMs) => {
  const { busyMs, batches, processesLost, workUs } = whole
  return {
    count: byWorker.length,
    busy_share: durationMs > 0 ? busyMs / (durationMs * byWorker.length) : null,
    jobs_a_take: batches > 0 ? counts.taken / batches : null,
    work_us_mean: counts.done > 0 ? workUs / counts.done : null,
    fewest: Math.min(...byWorker),
    most: Math.max(...byWorker),
    fairness: fairness([...byWorker]),
    busiest: busiest(byWorker),
    processes_lost: processesLost,
  }
}

/** Filters and outputs, each like a run of its own. @param {WorkRun} run @param {number} durationMs */
const stagesOf = ({ workers: { stages } }, durationMs) =>
  stages.length === 1
    ? null
    : Object.fromEntries(
        stages.map(({ plan, records }) => {
          const { done, duplicates, reclaimed } = records.jobs.counts
          return [
            String(plan.work.stage),
            {
              rate: rateOf(records),
              done,
              duplicates,
              reclaimed,
              latency_us: records.times.whole.whole(),
              ...workersOf(records, durationMs),
            },
          ]
        }),
      )

/** Commands of the workers that the masters ran. @param {WorkRun} run */
const commandsIn = ({ instruments, strategy }) =>
  Object.fromEntries(
    Object.entries(commandsOfRole(instruments.sofar.nodes, 'master')).filter(([name]) =>
      strategy.workCommands.has(name),
    ),
  )

/** @param {WorkRun} run @param {Ending} ending */
export const workResultOf = (run, { startedEpochMs, interrupted, whole, account }) => {
  const { plan, announced, workers, last, clocks, journal, elapsed, strategy } = run
  const [{ records: first }] = workers.stages
  const { jobs } = last
  const durationMs = elapsed()
  const { counts } = jobs
  return {
    /** @type {'consumer'} */
    kind: 'consumer',
    startedEpochMs,
    durationS: durationMs / 1000,
    interrupted,
    plan,
    writing: announced,
    jobs: {
      settled: whole,
      ...(counts.done > 0 && {
        first_ms: (last.span.fromUs - run.startUs()) / 1000,
        last_ms: (last.span.toUs - run.startUs()) / 1000,
      }),
      promise: strategy.workers()?.promise,
      account,
    },
    rate: { nominal: null, achieved: rateOf(last) },
    workers: {
      ...workersOf(first, durationMs),
      ...(account?.boxes && { boxes_fairness: fairness(account.boxes.map(({ done }) => done)) }),
    },
    stages: stagesOf(run, durationMs),
    ...(plan.work.reconnectHz !== null && {
      connections: {
        stated: `${plan.work.reconnectHz}/s`,
        renewed: workers.stages.reduce((sum, { records }) => sum + records.whole.renewed, 0),
        connect_us: first.times.connect.whole(),
      },
    }),
    commands: {
      refused_by: sums(workers.stages.map(({ records }) => records.refusedBy)),
      lost_replies: sums(workers.stages.map(({ records }) => records.lostReplies)),
    },
    clocks: clocks.figures(),
    server: { commands: commandsIn(run) },
    events: journal.events,
    ...run.instruments.result({ stored: counts.done, overS: durationMs / 1000 }, workers.measured()),
  }
}
