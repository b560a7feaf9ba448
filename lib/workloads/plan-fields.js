// What the strategies of each workload read of a plan.
import { planFieldsOf as counters } from './counters/plan-fields.js'
import { planFieldsOf as documents } from './documents/plan-fields.js'
import { strategyNamed } from './index.js'
import { planFieldsOf as latest } from './latest/plan-fields.js'
import { planFieldsOf as lookup } from './lookup/plan-fields.js'
import { planFieldsOf as membership } from './membership/plan-fields.js'
import { planFieldsOf as own } from './own/plan-fields.js'
import { planFieldsOf as query } from './query/plan-fields.js'
import { planFieldsOf as queue } from './queue/plan-fields.js'

/** @type {Readonly<Record<string, (plan: any) => any>>} */
const byWorkload = Object.freeze({ counters, documents, latest, lookup, membership, own, query, queue })

/** @param {{ strategy: string } & Record<string, any>} plan */
export const planFieldsOf = (plan) => byWorkload[strategyNamed(plan.strategy).workload](plan)
