// The workers of one process: the flow, and its report of each job.
import { systemTimers } from '../../base/timers.js'
import { reconnectsOf } from '../../transport/reconnects.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { jobIn } from '../../workloads/queue/job.js'
import { workersFlow } from './flow.js'
import { jobWorkOf } from './job-work.js'

/**
 * @import { Bound, WorkersNeeds } from './flow.js'
 * @import { WorkPlan } from './plan.js'
 * @import { Work } from '../../workloads/declare.js'
 *
 * @typedef {object} GroupSink what a group reports
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

/** @param {WorkPlan} plan @param {ReturnType<typeof strategyOf>} strategy @returns {Bound} */
const boundOf = (plan, strategy) => {
  const workers = strategy.workers()
  if (workers === null) throw new TypeError(`${plan.strategy} has no workers`)
  const bound = (/** @type {Work | null} */ work) => work && strategy.boundWork(work)
  const all = (/** @type {readonly Work[]} */ works) => works.map((work) => strategy.boundWork(work))
  return {
    promise: workers.promise,
    open: all(workers.open),
    take: bound(workers.take),
    wait: bound(workers.wait),
    pollMs: workers.pollMs,
    own: bound(workers.own),
    confirm: all(workers.confirm),
    alive: bound(workers.alive),
    reclaim: bound(workers.reclaim),
    leave: all(workers.leave),
  }
}

/**
 * @param {object} needs
 * @param {WorkPlan} needs.plan
 * @param {readonly string[]} needs.names
 * @param {number} needs.stepsPerUs of a core
 * @param {WorkersNeeds['dial']} needs.dial
 * @param {() => Promise<unknown>} needs.refresh
 * @param {() => number} needs.nowUs epoch, by the clock of the queue's server
 * @param {GroupSink} needs.sink
 * @param {() => number} needs.clock
 */
export const workerGroupOf = async ({ plan, names, stepsPerUs, dial, refresh, nowUs, sink, clock }) => {
  const { take, reclaimMs } = plan.work
  const lastMs = new Float64Array(names.length)
  const flow = await workersFlow({
    names,
    take,
    reclaimMs,
    bound: boundOf(plan, strategyOf(plan)),
    doWork: jobWorkOf(plan.work, stepsPerUs, clock),
    dial,
    refresh,
    events: {
      onDone(worker, { text }, takenMs, doneMs, workMs) {
        const job = jobIn(text)
        const fromMs = Math.max(takenMs, lastMs[worker])
        lastMs[worker] = doneMs
        sink.busy(worker, doneMs - fromMs)
        if (job === null) return sink.foreign(worker)
        const doneUs = nowUs() - (clock() - doneMs) * 1000
        sink.done(worker, job.maker, job.number, {
          waitUs: doneUs - (doneMs - takenMs) * 1000 - job.dueUs,
          wholeUs: doneUs - job.dueUs,
          workUs: workMs * 1000,
          doneUs,
        })
      },
      onTaken: (_, jobs, askedMs, nowMs) => {
        if (jobs > 0) sink.took(jobs, nowMs - askedMs)
      },
      onConfirmed(worker, jobs, askedMs, nowMs) {
        sink.busy(worker, nowMs - askedMs)
        sink.confirmed(jobs, nowMs - askedMs)
      },
      onRefused: sink.refused,
      onLostReply: sink.lostReply,
      onReclaimed: (jobs) => {
        if (jobs > 0) sink.reclaimed(jobs)
      },
      onRenewed: sink.renewed,
      onEvent: sink.event,
    },
    clock,
    random: Math.random,
  })
  const { reconnectHz, connections } = plan.work
  let next = 0
  const reconnects = reconnectsOf({
    hz: reconnectHz === null ? null : (reconnectHz * names.length) / connections,
    renew: () => (flow.renew(next++) ? [] : null),
    clock,
    timers: systemTimers,
  })
  return {
    ...flow,
    start() {
      flow.start()
      reconnects.start()
    },
    stop() {
      reconnects.stop()
      flow.stop()
    },
  }
}
