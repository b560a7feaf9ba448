// What is in flight on a connection of a writer in ticks: entries, each a part of a batch for one tick.

/**
 * @import { Progress } from '../probes/item-times.js'
 * @import { Account } from '../probes/ledger.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Step } from '../workloads/step.js'
 * @import { Batch } from './batch.js'
 * @import { TickBatch } from './tick-batches.js'
 *
 * @typedef {object} Tick
 * @property {number} index
 * @property {number} chunk which part of the agent's items, over all agents
 * @property {number} dueMs
 * @property {number | null} firstMs when its first byte went to a socket
 * @property {number[]} sends when each of its writes was first sent
 * @property {Progress | null} progress
 * @property {TickValues} values
 * @property {Account} account
 * @property {Float64Array | null} items in the places of the account; null: its own, in order
 * @property {TickBatch[][] | null} portions made for this tick alone
 *
 * @typedef {object} Entry commands [from, to) of a batch for one tick: the unit of sending and settling
 * @property {Tick} tick
 * @property {TickValues} values the tick's own
 * @property {Batch} batch
 * @property {number} from the first command not yet answered
 * @property {number} to
 * @property {number} lead answers to come before the first command's own (ASKING)
 * @property {boolean} again its bytes are made anew: the batch may hold a later tick's
 * @property {boolean} inSlotQueue counts among the pending commands of its slot
 * @property {string | null} goTo the address that a redirect named for this once
 * @property {number} attempts
 * @property {number} bytes
 * @property {number} write which of its tick's writes it was first sent with, from 1; 0: it was not sent
 * @property {number} sentMs
 * @property {(number | string)[]} held replies that count once it is known whether they are kept: so many answered, or a refusal
 *
 * @typedef {((step: Step, reply: number | string | null | undefined) => void) | null} OnReply
 *   of a command that was answered, before that is known; null: replies are not looked at
 */

// Of all entries whose replies count at once.
/** @type {(number | string)[]} */
const nothingHeld = []

/**
 * @param {Tick} tick
 * @param {Batch} batch
 * @param {TickValues} values
 * @param {number} from
 * @param {number} to
 * @param {boolean} again
 * @returns {Entry}
 */
export const entryOf = (tick, batch, values, from, to, again) => ({
  tick,
  values,
  batch,
  from,
  to,
  lead: 0,
  again,
  inSlotQueue: false,
  goTo: null,
  attempts: 0,
  bytes: 0,
  write: 0,
  sentMs: 0,
  held: nothingHeld,
})
