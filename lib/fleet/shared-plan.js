// What the boxes of a run must have in common: the plan, and how it is played and judged.
import { createHash } from 'node:crypto'
import { differingFields } from '../plan/announcement.js'

/**
 * @import { ReaderSettings, Settings } from '../../settings.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Control } from './control.js'
 * @import { Needs, SharedPlan } from './member.js'
 */

/** @type {readonly (readonly [string, string])[]} */
const readingOptions = [
  ['consumers', '--consumers'],
  ['pacing', '--pacing'],
  ['limit', '--limit'],
  ['mode', '--mode'],
  ['fetch', '--read-with'],
  ['values', '--values'],
  ['reads', '--read-from'],
  ['verify', '--verify'],
  ['count', '--count'],
  ['driver', '--driver'],
  ['windowBytes', '--window'],
  ['fetchHz', '--fetch-rate'],
  ['durationMs', '--duration'],
]

/** Options that are no part of what readers need to know of a plan. @type {readonly (readonly [string, string])[]} */
const optionsBesides = [
  // What a second of a box holds is that of its version.
  ['version', 'Millrace'],
  ['nominalHz', '--rate, or -q and -p'],
  ['durationMs', '--duration'],
  ['ticks', '--duration or --intervals'],
  ['warmUpMs', '--warm-up'],
  ['pacing', '--pacing'],
  ['rate', '--rate'],
  ['arrivals', '--arrivals'],
  ['driver', '--driver'],
  ['cache', '--with, --connections, --pipeline or --fill'],
  ['maxBehindMs', '--max-behind'],
  ['masters', 'the number of masters'],
  ['stagger', '--stagger'],
  ['limits', '--threshold'],
]

/** @param {Record<string, unknown>} ours @param {readonly (readonly [string, string])[]} options @returns {SharedPlan} */
const sharedBy = (ours, options) => {
  const text = JSON.stringify(ours)
  return {
    text,
    digest: createHash('sha1').update(text).digest('hex').slice(0, 16),
    /** In which options the plan of others differs. */
    differing: (theirs) => differingFields(JSON.parse(theirs), ours, options),
  }
}

/** @param {Settings} settings @param {Plan} plan of all writers @param {object} announced of the plan */
export const sharedByWriters = (settings, plan, announced) => {
  const { durationMs, ticks, warmUpMs, pacing, rate, arrivals, driver, maxBehindMs, masters } = plan
  const { cache, clients, nominalHz, quantity, periodMs } = plan
  const ours = {
    ...announced,
    durationMs,
    ticks,
    warmUpMs,
    pacing,
    rate,
    arrivals,
    driver,
    maxBehindMs,
    masters,
    nominalHz: rate !== null ? null : cache ? nominalHz : (quantity * 1000) / periodMs,
    ...(cache && { cache: JSON.stringify([cache, clients]) }),
    stagger: settings.stagger,
    limits: settings.thresholds.join(', '),
  }
  return sharedBy(ours, optionsBesides)
}

/** What all readers have in common. @param {ReaderSettings} settings */
export const sharedByReaders = (settings) => {
  const names = ['totalAgents', 'periodMs', 'prefix', ...readingOptions.map(([name]) => name)]
  const ours = Object.fromEntries(names.map((name) => [name, Object(settings)[name] ?? null]))
  return sharedBy(ours, readingOptions)
}
