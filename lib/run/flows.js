// How each flow is run: what is counted of it, and what it is put together of.

import { chunksWriting } from '../loads/chunks/open.js'
import { clientsWriting } from '../loads/clients/open.js'
import { ticksWriting } from '../loads/ticks/open.js'
import { ledgerOf } from '../measure/ledger.js'
import { operationsOf } from '../measure/operations.js'

/**
 * @import { Plan } from '../loads/plan.js'
 * @import { FlowName } from '../loads/names.js'
 *
 * @typedef {Parameters<typeof ticksWriting>[0]} FlowNeeds
 *
 * @typedef {object} Writing offers what is written
 * @property {() => number} elapsed
 * @property {Promise<unknown>} offered everything was, or it was stopped
 * @property {(limitMs: number, atOnce: AbortSignal) => Promise<boolean>} settle
 * @property {() => void} stop
 * @property {() => number} lastSettledMs
 * @property {() => number} measuredTicks
 * @property {(unpreparedBytes: number | null) => void} start unpreparedBytes: of data on the masters before anything was
 *   prepared; null: nothing was
 * @property {() => void} [progress] answers came
 * @property {(atMs: number, late: boolean) => void} [beginAt] of a fleet
 * @property {() => number} [nextTick] the first that was not offered
 *
 * @typedef {object} FlowRun
 * @property {(plan: Plan, isMeasured: () => boolean) => ReturnType<typeof ledgerOf> | ReturnType<typeof operationsOf>} ledger
 * @property {(needs: FlowNeeds) => Promise<Awaited<ReturnType<typeof ticksWriting> | ReturnType<typeof clientsWriting> | ReturnType<typeof chunksWriting>> & { writing: Writing }>} open
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
