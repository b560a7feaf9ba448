// How operations meet connections, as data: what each flow counts, and what planning, running and reporting need to know
// of it. A strategy's role names one. What differs in kind is in tables by flow, whose type wants a line for each:
// lib/options/conflicts.js (its options), lib/loads/plan.js (its plan), lib/run/flows.js (how it is run).

/**
 * @typedef {object} Flow
 * @property {string} unit what is counted
 * @property {string} stored what takes memory
 * @property {string} sends what its sends are called in a report
 * @property {boolean} inBatches batches of items are due at deadlines, sent by writers with ranges of their own (-t, -a)
 * @property {boolean} expires every item has a lifetime
 * @property {number | null} defaultItems null: as many as the rate says
 * @property {string} defaultOrder in which numbers are drawn
 */

/** @typedef {keyof typeof flows} FlowName of writers */

export const flows = Object.freeze({
  /** Batches at absolute deadlines. */
  ticks: /** @type {Flow} */ (
    Object.freeze({
      unit: 'item',
      stored: 'item',
      sends: 'ticks',
      inBatches: true,
      expires: true,
      defaultItems: null,
      defaultOrder: 'sequential',
    })
  ),
  /** Connections with up to so many operations in flight each, in a closed loop or at an open rate. */
  clients: /** @type {Flow} */ (
    Object.freeze({
      unit: 'operation',
      stored: 'key',
      sends: 'sends',
      inBatches: false,
      expires: false,
      defaultItems: 100_000,
      defaultOrder: 'uniform',
    })
  ),
  /** Clients that put jobs into a queue, each job once. */
  jobs: /** @type {Flow} */ (
    Object.freeze({
      unit: 'job',
      stored: 'job',
      sends: 'sends',
      inBatches: false,
      expires: false,
      defaultItems: 1000,
      defaultOrder: 'sequential',
    })
  ),
})

/** For consumers that read what is there, again and again. */
export const ofConsumers = /** @type {const} */ ('fetches')

/** For consumers: they count what was written. */
const readingFlows = Object.freeze({
  [ofConsumers]: flows.ticks,
  /** Each takes jobs out of a queue, does and confirms them. */
  workers: flows.jobs,
})

/** @type {Record<string, Flow>} */
const all = { ...flows, ...readingFlows }

/** The flow of a plan; those of earlier versions name none. @param {{ flow?: string }} plan */
export const flowOf = ({ flow = 'ticks' }) => all[flow] ?? flows.ticks
