// The workers of one process: the flow with the strategy's commands, the work of a job, and connections that are renewed.
import { machineWith, systemTimers } from '../../base/timers.js'
import { reconnectsOf } from '../../transport/reconnects.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { workersFlow } from './flow.js'
import { jobWorkOf } from './job-work.js'

/**
 * @import { Bound, WorkersNeeds } from './flow.js'
 * @import { WorkPlan } from './plan.js'
 * @import { Work } from '../../workloads/declare.js'
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

/** @param {Omit<WorkersNeeds, 'work' | 'machine'> & { plan: WorkPlan, stepsPerUs: number, clock: () => number }} needs stepsPerUs: of a core */
export const workerGroupOf = async ({ plan, stepsPerUs, clock, ...needs }) => {
  const { names } = needs.workers
  const { take, reclaimMs } = plan.work
  const flow = await workersFlow({
    ...needs,
    work: {
      take,
      reclaimMs,
      bound: boundOf(plan, strategyOf(plan)),
      doWork: jobWorkOf(plan.work, stepsPerUs, clock),
    },
    machine: machineWith(clock),
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
