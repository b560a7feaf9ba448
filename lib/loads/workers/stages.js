// The stages of a run of workers: one, or filters that pass their jobs to outputs. Each has its own workers, records and
// queue; together they have the interface of one group.

import { strategyOf } from '../../workloads/bound-strategy.js'
import { waitingOf } from './contents.js'
import { groupsInProcesses } from './groups.js'
import { stepsPerUs as measuredSteps } from './job-work.js'
import { stagesOf } from './plan.js'
import { workRecords } from './records.js'
import { workerGroupOf } from './worker-group.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { WorkPlan } from './plan.js'
 * @import { Target } from '../../servers/open.js'
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
