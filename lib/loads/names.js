// What the seven kinds of load are called and count, as data: what options, planning, running and reporting need to know of one
// without its modules. lib/loads/index.js has the kinds themselves.

/**
 * @typedef {object} Names
 * @property {string} unit what is counted
 * @property {string} stored what takes memory
 * @property {string} sends what its sends are called in a report
 * @property {boolean} inBatches batches of items are due at deadlines
 * @property {boolean} isShared by writers with numbers of their own (-t, -a)
 * @property {boolean} inThreads threads can share it
 * @property {boolean} isAsked each operation draws its item, and the distribution is reported
 * @property {boolean} keepsInFlight each connection has up to so many operations in flight, whatever they are about
 * @property {boolean} expires every item has a lifetime
 * @property {number | null} defaultItems null: as many as the rate says
 * @property {string} defaultOrder in which numbers are drawn
 */

/** @import { FLOWS } from '../measures/head.js' */
/** @typedef {typeof FLOWS[number]} KindName */
/** @typedef {Exclude<KindName, 'fetches' | 'workers'>} FlowName of a strategy's writers */

/** Batches at absolute deadlines. */
const ticks = Object.freeze({
  unit: 'item',
  stored: 'item',
  sends: 'ticks',
  inBatches: true,
  isShared: true,
  inThreads: true,
  isAsked: true,
  keepsInFlight: false,
  expires: true,
  defaultItems: null,
  defaultOrder: 'sequential',
})

/** Connections with up to so many operations in flight each, in a closed loop or at an open rate. */
const clients = Object.freeze({
  unit: 'operation',
  stored: 'key',
  sends: 'sends',
  inBatches: false,
  isShared: false,
  inThreads: true,
  isAsked: true,
  keepsInFlight: true,
  expires: false,
  defaultItems: 100_000,
  defaultOrder: 'uniform',
})

/** Clients over all numbers, one pass after the other; or one that sends in bundles. */
const whole = Object.freeze({ ...clients, inThreads: false, isAsked: false, keepsInFlight: false })

/** Clients that put jobs into a queue, each job once. */
const jobs = Object.freeze({
  ...clients,
  unit: 'job',
  stored: 'job',
  isShared: true,
  inThreads: false,
  defaultItems: 1000,
  defaultOrder: 'sequential',
})

/** Consumers count what was written. @type {Readonly<Record<KindName, Names>>} */
export const names = Object.freeze({
  ticks,
  clients,
  bundles: whole,
  passes: whole,
  jobs,
  fetches: ticks,
  workers: jobs,
})

/** @param {{ flow: KindName }} plan */
export const namesOfKind = ({ flow }) => names[flow]

/** Whether a load opens connections while it runs: clients replace theirs. @param {{ flow: KindName, reconnectHz?: number | null }} plan */
export const opensWhileItRuns = (plan) => !namesOfKind(plan).inBatches || Boolean(plan.reconnectHz)
