// The stages of a run of workers: one, or filters that pass their jobs to outputs. Each has its own workers, records and
// queue; together they have the interface of one group.

import { bitsOf, commonNumbers, numbersIn, onesIn, unionOf, without } from '../../probes/bits.js'
import { series } from '../../probes/latency.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { waitingOf } from './contents.js'
import { groupsInProcesses } from './groups.js'
import { stepsPerUs as measuredSteps, workerGroupOf } from './worker-group.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { WorkPlan } from './plan.js'
 * @import { Target } from '../../servers/open.js'
 * @import { WorkSink } from './flow.js'
 * @import { Job } from '../../workloads/queue/job.js'
 * @import { Bits } from '../../probes/bits.js'
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

/** The plans of its stages, each like that of a run of its own. @param {WorkPlan} plan @returns {WorkPlan[]} */
const stagesOf = (plan) =>
  plan.work.outputs === null
    ? [plan]
    : [plan, { ...plan, work: { ...plan.work, ...plan.work.outputs, stage: 'output' } }]

// What became of jobs, each by its maker and number: done once, done again, still queued, taken by a worker, or lost. Exact,
// and without a clock.

/**
 * @typedef {Record<string, Uint8Array>} Sets numbers by maker
 *
 * @typedef {object} Standing what is known of the queue when no worker takes from it
 * @property {Sets} acked that the makers know to be stored
 * @property {Sets[]} others done by other boxes and earlier runs
 * @property {Sets} queued
 * @property {Sets} taken given to workers and not confirmed
 * @property {Sets} passed of the queued and taken, those that filters have handed over to outputs
 * @property {number} foreign texts in the queue that are no jobs of ours
 * @property {Doubt} doubt
 *
 * @typedef {{ makers: Set<string>, most: number }} Doubt jobs of these makers, so many at most, may have been done by boxes
 *   that were killed or are at work, since their last accounts
 *
 * @typedef {object} Account of all jobs that were ever in the queue; produced = done + queued + in flight + lost + unknown
 * @property {number} produced acknowledged to their makers, or seen
 * @property {number} done once or more, by whomever
 * @property {number} done_elsewhere of them only by other boxes or in earlier runs
 * @property {number} queued
 * @property {number} in_flight given to a worker, and neither done nor back in the queue
 * @property {number} passed of the queued and in flight, those between filters and outputs
 * @property {number} lost acknowledged, and nowhere
 * @property {number} unknown the same, but a box that has not ended may have done them since its last account
 * @property {number} unacknowledged seen, but their makers never got the reply
 * @property {number} unconfirmed done, but the queue still has them: they would be done again
 * @property {number} duplicates done again, beyond the first time, by whomever
 * @property {string[]} examples of lost ones
 */

const mostExamples = 5
const none = new Uint8Array(0)

export const jobsOf = () => {
  /** @type {Map<string, Bits>} */
  const done = new Map()
  const counts = { taken: 0, done: 0, duplicates: 0, foreign: 0, reclaimed: 0 }

  return {
    counts,
    done,
    /** @param {Job} job */
    add({ maker, number }) {
      let bits = done.get(maker)
      if (bits === undefined) {
        bits = bitsOf()
        done.set(maker, bits)
      }
      counts.done++
      if (!bits.add(number)) counts.duplicates++
    },
    /** @param {Standing} standing @returns {Account} */
    account: ({ acked, others, queued, taken, passed, doubt }) => {
      const account = {
        produced: 0,
        done: 0,
        done_elsewhere: 0,
        queued: 0,
        in_flight: 0,
        passed: 0,
        lost: 0,
        unknown: 0,
        unacknowledged: 0,
        unconfirmed: 0,
        duplicates: counts.duplicates,
        /** @type {string[]} */
        examples: [],
      }
      const makers = new Set([acked, ...others, queued, taken].flatMap(Object.keys).concat([...done.keys()]))
      for (const maker of makers) {
        const own = done.get(maker)?.bytes() ?? none
        const elsewhere = others.map((sets) => sets[maker] ?? none)
        const all = unionOf([own, ...elsewhere])
        // Each box counts a job once: jobs counted by several boxes were done again.
        account.duplicates += [own, ...elsewhere].reduce((sum, set) => sum + onesIn(set), 0) - onesIn(all)
        const [waits, held] = [queued[maker] ?? none, taken[maker] ?? none]
        const known = acked[maker] ?? none
        const seen = unionOf([all, waits, held])
        const lost = without(known, seen)
        account.produced += onesIn(unionOf([known, seen]))
        account.done += onesIn(all)
        account.done_elsewhere += onesIn(without(all, own))
        account.queued += onesIn(without(waits, all))
        account.in_flight += onesIn(without(without(held, all), waits))
        account.passed += onesIn(without(passed[maker] ?? none, all))
        account.unconfirmed += onesIn(commonNumbers(unionOf([waits, held]), all))
        account.unacknowledged += onesIn(without(seen, known))
        account[doubt.makers.has(maker) ? 'unknown' : 'lost'] += onesIn(lost)
        account.examples.push(...numbersIn(lost, mostExamples).map((n) => `${maker}:${n}`))
      }
      account.examples = account.examples.slice(0, mostExamples)
      const beyond = Math.max(0, account.unknown - doubt.most)
      account.unknown -= beyond
      account.lost += beyond
      return account
    },
  }
}

/** @typedef {ReturnType<typeof jobsOf>} Jobs */

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
