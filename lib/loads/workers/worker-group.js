// The workers of one process: the flow with the strategy's commands, the work of a job, and connections that are renewed.
import { machineWith, systemTimers } from '../../base/timers.js'
import { reconnectsOf } from '../../transport/reconnects.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { workersFlow } from './flow.js'

/**
 * @import { Bound, WorkersNeeds } from './flow.js'
 * @import { WorkPlan } from './plan.js'
 * @import { Work } from '../../workloads/declare.js'
 */

// The work of a job: a computing core, or a wait. Computing is a number of steps, not a time, so it takes longer while
// others use the core, as real work does.

// Steps of about a millisecond, so that one measurement is short.
const trialSteps = 100_000
const trials = 60

/** @param {number} steps */
const compute = (steps) => {
  let x = 1
  for (let i = 0; i < steps; i++) x = (Math.imul(x, 1_103_515_245) + 12_345) | 0
  return x
}

/**
 * Steps that a core of this box does in a microsecond: the most of many short trials, as others may use the core.
 * @param {() => number} clock ms
 */
export const stepsPerUs = (clock) => {
  let best = 0
  // An optimising compiler removes work whose result is not used.
  let kept = 0
  for (let i = 0; i < trials; i++) {
    const fromMs = clock()
    kept ^= compute(trialSteps)
    const tookUs = (clock() - fromMs) * 1000
    if (tookUs > 0) best = Math.max(best, trialSteps / tookUs)
  }
  return kept === 0.5 ? 0 : best
}

/**
 * @param {{ kind: 'cpu' | 'sleep', us: number }} work
 * @param {number} perUs steps
 * @param {() => number} clock ms
 * @returns {(() => Promise<number>) | null} resolves with how long it took, in ms; null: there is none
 */
const jobWorkOf = ({ kind, us }, perUs, clock) => {
  if (us === 0) return null
  if (kind === 'sleep')
    return () =>
      new Promise((resolve) => {
        const fromMs = clock()
        setTimeout(() => resolve(clock() - fromMs), us / 1000)
      })
  const steps = Math.round(us * perUs)
  const computed = { kept: 0 }
  return () => {
    const fromMs = clock()
    computed.kept ^= compute(steps)
    const tookMs = clock() - fromMs
    // Lets the other workers of this process run.
    return new Promise((resolve) => {
      setImmediate(resolve, tookMs)
    })
  }
}

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
