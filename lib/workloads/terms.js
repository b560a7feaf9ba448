// What the strategies of each workload read of a plan.
import { termsOf as counters } from './counters/terms.js'
import { termsOf as documents } from './documents/terms.js'
import { strategyNamed } from './index.js'
import { termsOf as latest } from './latest/terms.js'
import { termsOf as lookup } from './lookup/terms.js'
import { termsOf as membership } from './membership/terms.js'
import { termsOf as own } from './own/terms.js'
import { termsOf as query } from './query/terms.js'
import { termsOf as queue } from './queue/terms.js'

/** @type {Readonly<Record<string, (plan: any) => any>>} */
const byWorkload = Object.freeze({ counters, documents, latest, lookup, membership, own, query, queue })

/** @param {{ strategy: string } & Record<string, any>} plan */
export const termsOf = (plan) => byWorkload[strategyNamed(plan.strategy).workload](plan)
