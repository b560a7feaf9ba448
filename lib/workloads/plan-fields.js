// What the strategies of each workload read of a plan.
import { termsOf as counters } from './counters/plan-fields.js'
import { termsOf as documents } from './documents/plan-fields.js'
import { strategyNamed } from './index.js'
import { termsOf as latest } from './latest/plan-fields.js'
import { termsOf as lookup } from './lookup/plan-fields.js'
import { termsOf as membership } from './membership/plan-fields.js'
import { termsOf as own } from './own/plan-fields.js'
import { termsOf as query } from './query/plan-fields.js'
import { termsOf as queue } from './queue/plan-fields.js'

/** @type {Readonly<Record<string, (plan: any) => any>>} */
const byWorkload = Object.freeze({ counters, documents, latest, lookup, membership, own, query, queue })

/** @param {{ strategy: string } & Record<string, any>} plan */
export const termsOf = (plan) => byWorkload[strategyNamed(plan.strategy).workload](plan)
