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

/** The card outlives what it stands for: it is renewed every 5 s, and EXPIRE travels with the load. @param {{ ttlS: number }} plan */
export const markerS = (plan) => lingerS(plan) + 60

/** What must be equal for two writers to be parts of one load. @param {Partial<PlanCard>} card */
const termsOf = ({ startedMs, renewedMs, ended, version, ...terms }) => terms

/** @param {Partial<PlanCard>} a @param {Partial<PlanCard>} b */
export const sameTerms = (a, b) => JSON.stringify(termsOf(a)) === JSON.stringify(termsOf(b))

/** Cards of other terms are fields of their own. @param {Partial<PlanCard>} card */
export const cardHash = (card) =>
  createHash('sha1')
    .update(JSON.stringify(termsOf(card)))
    .digest('hex')
    .slice(0, 10)

/** How long a writer counts as present after its last sign of life: as long as a lease lasts. */
export const leaseMs = 30_000
/** How often a lease and the plan are renewed: six times in the life of a lease. */
export const renewalMs = leaseMs / 6

/**
 * Plans of other terms that are being written: items, ids and purges of two would destroy each other.
 * @param {Partial<PlanCard>} card
 * @param {readonly PlanCard[]} cards of the same prefix
 * @param {number} nowMs by the server's clock
 */
export const rivalsOf = (card, cards, nowMs) =>
  cards.filter((other) => !other.ended && nowMs - other.renewedMs < leaseMs && !sameTerms(card, other))

/** @type {readonly [keyof PlanCard, string][]} */
const optionsOfTerms = [
  ['strategy', '--strategy'],
  ['quantity', '-q'],
  ['totalAgents', '-t'],
  ['once', '--once'],
  ['ttlS', '--ttl'],
  ['periodMs', '-p'],
  ['chunks', '-c'],
  ['sets', '--ns'],
  ['extraSets', '--extra-sorted-sets'],
  ['placement', '--spread or --same-slot'],
  ['valueBytes', '--value-size'],
  ['payload', '--payload'],
  ['seed', '--seed'],
  ['stamp', '--stamp'],
]

/**
 * In which options two plans differ: `--ttl 600 (here 3), --once`.
 * @param {Partial<PlanCard>} theirs
 * @param {Partial<PlanCard>} ours
 */
export const differingTerms = (theirs, ours) => {
  const shown = (/** @type {unknown} */ value) => (Array.isArray(value) ? value.length : value)
  const words = optionsOfTerms.flatMap(([key, option]) => {
    const [their, our] = [shown(theirs[key]), shown(ours[key])]
    if (their === our) return []
    if (typeof their === 'boolean') return [their ? option : `no ${option}`]
    return [`${option} ${their} (here ${our})`]
  })
  return words.slice(0, 3).join(', ') || 'another layout of its keys'
}

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
