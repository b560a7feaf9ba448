// How each flow is run: what is counted of it, and what it is put together of.
import { ledgerOf } from '../measure/ledger.js'
import { operationsOf } from '../measure/operations.js'
import { chunksWriting } from './chunks-writing.js'
import { clientsWriting } from './clients-writing.js'
import { ticksWriting } from './ticks-writing.js'

/**
 * @import { Plan } from '../plan/plan.js'
 * @import { FlowName } from '../workloads/flows.js'
 *
 * @typedef {Parameters<typeof ticksWriting>[0]} FlowNeeds
 *
 * @typedef {object} FlowRun
 * @property {(plan: Plan, isMeasured: () => boolean) => ReturnType<typeof ledgerOf> | ReturnType<typeof operationsOf>} ledger
 * @property {(needs: FlowNeeds) => ReturnType<typeof ticksWriting> | ReturnType<typeof clientsWriting> | ReturnType<typeof chunksWriting>} open
 */

/** @type {FlowRun} */
const clients = {
  ledger: (_, isMeasured) => operationsOf({ isMeasured }),
  open: (needs) => (needs.plan.clients?.delivery ? chunksWriting : clientsWriting)(needs),
}

/** @type {Record<FlowName, FlowRun>} */
export const runOfFlow = {
  ticks: { ledger: ledgerOf, open: ticksWriting },
  clients,
  jobs: clients,
}
