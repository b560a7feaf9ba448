// What the strategies of 'queue' read of a plan.
import { headBytes, makerName } from './job.js'

/**
 * @typedef {object} QueuePlan of a producer or of workers, or an announcement
 * @property {string} prefix
 * @property {number} valueBytes
 * @property {'random' | 'sparse' | 'zero'} payload
 * @property {number} seed
 * @property {{ maker: string, most: number, limit?: number | null } | null} [queue]
 * @property {{ confirm?: boolean | null, stage?: 'filter' | 'output' | null, take?: number } | null} [work]
 */

/** @param {QueuePlan} plan */
export const planFieldsOf = (plan) => {
  const { maker, most, limit = null } = plan.queue ?? { maker: makerName(0, 1), most: 0 }
  const confirm = plan.work?.confirm ?? null
  return {
    ...plan,
    stamp: false,
    maker,
    /** Bytes that fill a job up. */
    valueBytes: Math.max(1, plan.valueBytes - headBytes(maker)),
    valueSizes: null,
    jobBytes: plan.valueBytes,
    /** Most jobs that wait when there are no workers. */
    most: Math.min(most, limit ?? Number.POSITIVE_INFINITY),
    /** The queue's; null: there is none. */
    limit,
    confirm,
    /** With two queues filters hand their jobs over to outputs; null: there is one. */
    stage: plan.work?.stage ?? null,
    takesMany: (plan.work?.take ?? 1) > 1,
  }
}

/** @typedef {ReturnType<typeof planFieldsOf>} PlanFields */
