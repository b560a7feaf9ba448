// The part of a plan that a reader needs, as it stands in the target beside the leases.
import { createHash } from 'node:crypto'
import { lingerS } from '../workloads/latest/terms.js'

/**
 * @typedef {import('./plan.js').Plan} Plan
 *
 * @typedef {object} PlanCard
 * @property {string} strategy
 * @property {number} quantity
 * @property {number} periodMs
 * @property {number} chunks
 * @property {number} totalAgents
 * @property {readonly string[]} sets
 * @property {readonly string[]} extraSets
 * @property {'plain' | 'same-slot' | 'spread'} placement
 * @property {boolean} taggedItems
 * @property {number} buckets
 * @property {number} ttlS
 * @property {number} valueBytes
 * @property {'random' | 'sparse' | 'zero'} payload
 * @property {number} seed
 * @property {boolean} stamp
 * @property {boolean} once
 * @property {string} prefix
 * @property {string} version of the Millrace that writes
 * @property {number} startedMs epoch, by the clock of the server that holds the card
 * @property {number} renewedMs the same, of the last sign of life
 * @property {boolean} ended every agent that said so has stopped
 */

/**
 * Agents of one load share a name; the run's name is not in it, or two boxes would never meet.
 * @param {{ quantity: number, totalAgents: number, strategy: string }} load
 */
export const loadHash = ({ quantity, totalAgents, strategy }) =>
  createHash('sha1').update(`${quantity}/${totalAgents}/${strategy}`).digest('hex').slice(0, 10)

/** The card outlives what it stands for: it is renewed every 5 s, and EXPIRE travels with the load. @param {{ ttlS: number }} plan */
export const markerS = (plan) => lingerS(plan) + 60

/** Cards that differ stand side by side. @param {object} card */
export const cardHash = (card) => createHash('sha1').update(JSON.stringify(card)).digest('hex').slice(0, 10)

/**
 * @param {Plan} plan
 * @param {string} version
 * @returns {Omit<PlanCard, 'startedMs' | 'renewedMs' | 'ended'>}
 */
export const cardOf = (plan, version) => ({
  strategy: plan.strategy,
  quantity: plan.quantity,
  periodMs: plan.periodMs,
  chunks: plan.chunks,
  totalAgents: plan.totalAgents,
  sets: plan.sets,
  extraSets: plan.extraSets,
  placement: plan.placement,
  taggedItems: plan.taggedItems,
  buckets: plan.buckets,
  ttlS: plan.ttlS,
  valueBytes: plan.valueBytes,
  payload: plan.payload,
  seed: plan.seed,
  stamp: plan.stamp,
  once: plan.once,
  prefix: plan.prefix,
  version,
})

/** @type {Readonly<Record<Exclude<keyof PlanCard, 'placement' | 'payload'>, string>>} */
const types = {
  strategy: 'string',
  quantity: 'number',
  periodMs: 'number',
  chunks: 'number',
  totalAgents: 'number',
  sets: 'object',
  extraSets: 'object',
  taggedItems: 'boolean',
  buckets: 'number',
  ttlS: 'number',
  valueBytes: 'number',
  seed: 'number',
  stamp: 'boolean',
  once: 'boolean',
  prefix: 'string',
  version: 'string',
  startedMs: 'number',
  renewedMs: 'number',
  ended: 'boolean',
}

/**
 * The card that a text holds; null where it is none, as another program's key of that name would be.
 * @param {string} text
 * @returns {PlanCard | null}
 */
export const cardIn = (text) => {
  try {
    const card = JSON.parse(text)
    const whole = Object.entries(types).every(([name, type]) => typeof card[name] === type)
    const lists = [card.sets, card.extraSets].every(
      (list) => Array.isArray(list) && list.every((key) => typeof key === 'string'),
    )
    const words =
      ['plain', 'same-slot', 'spread'].includes(card.placement) &&
      ['random', 'sparse', 'zero'].includes(card.payload)
    return whole && lists && words ? card : null
  } catch {
    return null
  }
}
