// The stages of a run of workers: one, or filters that pass their jobs to outputs. Each has its own workers, records and
// queue; together they have the interface of one group.

import { jobsOf } from '../../probes/jobs.js'
import { series } from '../../probes/latency.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { waitingOf } from './contents.js'
import { groupsInProcesses } from './groups.js'
import { stepsPerUs as measuredSteps } from './job-work.js'
import { stagesOf } from './plan.js'
import { workerGroupOf } from './worker-group.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { WorkPlan } from './plan.js'
 * @import { Target } from '../../servers/open.js'
 * @import { WorkSink } from './flow.js'
 *
 * @typedef {Awaited<ReturnType<typeof workerGroupOf>> | Awaited<ReturnType<typeof groupsInProcesses>>} WorkerGroup
 *
 * @typedef {object} StagesNeeds
 * @property {WorkPlan} plan
 * @property {Target} target
 * @property {() => string} owner address of the server that has the queues
 * @property {string} box
 * @property {number} offsetMs of the server's clock
 * @property {() => number} epochMs of ours
 * @property {() => number} clock
 * @property {(kind: string, text: string) => void} onEvent
 */

// Counts and latencies of the workers of a queue.

// A difference between clocks that is not reported.
const aheadUs = 100_000

/** @param {number} workers */
const workRecords = (workers) => {
  const jobs = jobsOf()
  const times = {
    whole: series(),
    service: series(),
    waiting: series(),
    work: series(),
    take: series(),
    confirm: series(),
    connect: series(),
  }
  const byWorker = new Float64Array(workers)
  const lostReplies = { take: 0, confirm: 0, other: 0 }
  const whole = { batches: 0, busyMs: 0, workUs: 0, processesLost: 0, renewed: 0 }
  // When the first job was taken and the last one done, by the clock of the queue's server.
  const span = { fromUs: Number.POSITIVE_INFINITY, toUs: 0 }
  let ahead = { jobs: 0, maxUs: 0 }
  /** @type {Record<string, number>} */
  const refusedBy = {}

  /** @type {WorkSink} */
  const sink = {
    done(worker, maker, number, { waitUs, wholeUs, workUs, doneUs }) {
      jobs.add({ maker, number, dueUs: 0 })
      byWorker[worker]++
      span.fromUs = Math.min(span.fromUs, doneUs - (wholeUs - waitUs))
      span.toUs = Math.max(span.toUs, doneUs)
      whole.workUs += workUs
      if (waitUs < -aheadUs) {
        ahead = { jobs: ahead.jobs + 1, maxUs: Math.max(ahead.maxUs, -waitUs) }
      } else {
        times.whole.record(Math.max(0, wholeUs))
        times.waiting.record(Math.max(0, waitUs))
        times.service.record(Math.max(0, wholeUs - waitUs))
      }
      times.work.record(workUs)
    },
    foreign: () => {
      jobs.counts.foreign++
    },
    took(n, tookMs) {
      jobs.counts.taken += n
      whole.batches++
      times.take.record(tookMs * 1000)
    },
    confirmed: (_, tookMs) => times.confirm.record(tookMs * 1000),
    busy: (_, ms) => {
      whole.busyMs += ms
    },
    refused: (cause) => {
      refusedBy[cause] = (refusedBy[cause] ?? 0) + 1
    },
    lostReply: (what) => {
      lostReplies[what]++
    },
    reclaimed: (n) => {
      jobs.counts.reclaimed += n
    },
    renewed(tookMs) {
      whole.renewed++
      times.connect.record(tookMs * 1000)
    },
    event: () => {},
  }
  return {
    jobs,
    times,
    byWorker,
    lostReplies,
    whole,
    span,
    /** Jobs with a time in the future since the last call. */
    aheadTurn() {
      const found = ahead
      ahead = { jobs: 0, maxUs: 0 }
      return found
    },
    refusedBy,
    sink,
    close: () => {
      for (const one of Object.values(times)) one.close()
    },
  }
}

/** @typedef {ReturnType<typeof workRecords>} WorkRecords */

/** Computing in this process would delay everything else in it. @param {WorkPlan['work']} work */
const needsProcesses = ({ processes, stage, kind, us }) =>
  processes > 1 || (stage !== null && kind === 'cpu' && us > 0)

/**
 * @typedef {object} Stage
 * @property {WorkPlan} plan
 * @property {ReturnType<typeof workRecords>} records
 * @property {number} stepsPerUs of a core
 */

/** @param {StagesNeeds} needs @param {Stage} stage */
const openProcesses = ({ target, owner, box, offsetMs, onEvent }, { records, ...stage }) =>
  groupsInProcesses({
    ...stage,
    box,
    server: { address: owner, refresh: target.refresh, access: target.access, offsetMs },
    sink: { ...records.sink, event: onEvent },
    onKilled: (text) => {
      records.whole.processesLost++
      onEvent('worker-lost', text)
    },
  })

/** @param {StagesNeeds} needs @param {Stage} stage */
const openHere = (needs, { records, ...stage }) => {
  const { target, owner, box, offsetMs } = needs
  return workerGroupOf({
    ...stage,
    workers: {
      names: Array.from({ length: stage.plan.work.workers }, (_, i) => `${box}.${i + 1}`),
      first: 0,
    },
    server: {
      dial: (handlers) => target.dial(owner(), handlers),
      refresh: target.refresh,
      nowUs: () => (needs.epochMs() + offsetMs) * 1000,
    },
    sink: { ...records.sink, event: needs.onEvent },
    clock: needs.clock,
  })
}

/** @param {StagesNeeds} needs */
export const openStages = async (needs) => {
  const plans = stagesOf(needs.plan)
  const computes = plans.some(({ work: { kind, us } }) => kind === 'cpu' && us > 0)
  const steps = computes ? measuredSteps(needs.clock) : 0
  const stages = plans.map((plan) => ({
    plan,
    strategy: strategyOf(plan),
    records: workRecords(plan.work.workers),
  }))
  /** @type {WorkerGroup[]} */
  const groups = []
  const close = () => {
    for (const group of groups) group.close()
    for (const { records } of stages) records.close()
  }
  try {
    for (const { plan, records } of stages) {
      const open = needsProcesses(plan.work) ? openProcesses : openHere
      groups.push(await open(needs, { plan, records, stepsPerUs: steps }))
    }
  } catch (error) {
    close()
    throw error
  }
  return {
    stages,
    /** Jobs waiting, by stage. @param {Redis} client */
    waiting: (client) => Promise.all(stages.map(({ strategy }) => waitingOf(client, strategy))),
    start() {
      for (const group of groups) group.start()
    },
    stop() {
      for (const group of groups) group.stop()
    },
    /** Measurements of the other processes. */
    measured: () => groups.flatMap((group) => ('measured' in group ? group.measured() : [])),
    /** @param {number} limitMs @param {AbortSignal} [now] */
    async settle(limitMs, now) {
      const whole = await Promise.all(groups.map((group) => group.settle(limitMs, now)))
      return whole.every(Boolean)
    },
    close,
  }
}
