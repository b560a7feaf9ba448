// What the strategies of each workload read of a plan.
import { termsOf as counters } from './counters/terms.js'
import { strategyNamed } from './index.js'
import { termsOf as latest } from './latest/terms.js'
import { termsOf as lookup } from './lookup/terms.js'
import { termsOf as membership } from './membership/terms.js'
import { termsOf as own } from './own/terms.js'

/** @type {Readonly<Record<string, (plan: any) => any>>} */
const byWorkload = Object.freeze({ counters, latest, lookup, membership, own })

/** @param {{ strategy: string } & Record<string, any>} plan */
export const termsOf = (plan) => byWorkload[strategyNamed(plan.strategy).workload](plan)
