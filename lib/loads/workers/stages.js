// The stages of a run of workers: one, or filters that pass their jobs to outputs. Each has its own workers, records and
// queue; together they have the interface of one group.

import { strategyOf } from '../../workloads/bound-strategy.js'
import { waitingOf } from './contents.js'
import { groupsInProcesses } from './groups.js'
import { stepsPerUs } from './job-work.js'
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

/** @param {StagesNeeds} needs @param {WorkPlan} plan of the stage @param {ReturnType<typeof workRecords>} records @param {number} steps @returns {Promise<WorkerGroup>} */
const openGroup = ({ target, owner, box, offsetMs, epochMs, clock, onEvent }, plan, records, steps) => {
  const common = {
    plan,
    stepsPerUs: steps,
    refresh: target.refresh,
    sink: { ...records.sink, event: onEvent },
  }
  return needsProcesses(plan.work)
    ? groupsInProcesses({
        ...common,
        box,
        address: owner,
        access: target.access,
        offsetMs,
        onKilled: (text) => {
          records.whole.processesLost++
          onEvent('worker-lost', text)
        },
      })
    : workerGroupOf({
        ...common,
        first: 0,
        names: Array.from({ length: plan.work.workers }, (_, i) => `${box}.${i + 1}`),
        dial: (handlers) => target.dial(owner(), handlers),
        nowUs: () => (epochMs() + offsetMs) * 1000,
        clock,
      })
}

/** @param {StagesNeeds} needs */
export const openStages = async (needs) => {
  const plans = stagesOf(needs.plan)
  const computes = plans.some(({ work: { kind, us } }) => kind === 'cpu' && us > 0)
  const steps = computes ? stepsPerUs(needs.clock) : 0
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
    for (const { plan, records } of stages) groups.push(await openGroup(needs, plan, records, steps))
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
