// The part of a plan that a reader needs, as it is stored in the target beside the leases.
import { createHash } from 'node:crypto'
import { entryOf } from '../base/typed.js'
import { count, plainText } from '../base/units.js'
import { isDrawn } from '../traffic/items.js'
import { paceOf } from '../traffic/pace.js'
import { orderOf } from '../traffic/popularity.js'
import { sizesIn } from '../traffic/sizes.js'
import { slotCount } from '../wire/slot.js'
import { isStrategy, strategyNamed } from '../workloads/index.js'
import { lingerS } from '../workloads/latest/fields.js'
import { storedIn } from './stored-fields.js'

/**
 * @import { PlanModel } from '../workloads/own/model.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { StoredFields } from './stored-fields.js'
 *
 * @typedef {Omit<StoredFields, 'ttlLeastS' | 'valueSizes'> & Announced} AnnouncedPlan
 *
 * @typedef {object} Announced besides what is stored
 * @property {number} periodMs
 * @property {number} chunks
 * @property {number} totalAgents
 * @property {number} [ttlLeastS]
 * @property {string} [valueSizes]
 * @property {string} [order] where items are drawn
 * @property {string | null} [shift]
 * @property {string | null} [churn]
 * @property {Omit<PlanModel, 'title' | 'source' | 'replies'>} [model] of a user's own
 * @property {boolean} [paced] its items are written at a rate, so that it is known how many are alive
 * @property {string} version of the Millrace that writes
 * @property {number} startedMs epoch, by the clock of the server that holds the announcement
 * @property {number} renewedMs the same, of the last sign of life
 * @property {boolean} ended every agent that said so has stopped
 */

// Keys without a lifetime stay until cleanup, so their announcement stays for ten years.
const foreverS = 10 * 365 * 24 * 3600

/**
 * The announcement outlives the keys of its plan: none of its keys is ever without a lifetime, none lives longer than `lingerS`
 * after it was written, and the announcement is renewed every 5 s.
 * @param {{ strategy: string, ttlS: number, model?: { lifetimeS: number | null } }} plan
 */
export const markerS = (plan) => {
  const { model, strategy } = plan
  const lifetimeS = model?.lifetimeS ?? 0
  const stays = model ? model.lifetimeS === null : strategyNamed(strategy).keepsKeys
  return stays ? foreverS : Math.max(lingerS(plan), lifetimeS) + 60
}

/** The fields that two writers of one load must have in common. @param {Partial<AnnouncedPlan>} announced */
const withoutTimes = ({ startedMs, renewedMs, ended, version, ...plan }) => plan

/** @param {Partial<AnnouncedPlan>} a @param {Partial<AnnouncedPlan>} b */
export const samePlan = (a, b) => JSON.stringify(withoutTimes(a)) === JSON.stringify(withoutTimes(b))

/** The name under which the plan is announced: plans that differ have different ones. @param {Partial<AnnouncedPlan>} announced */
export const announcedHash = (announced) =>
  createHash('sha1')
    .update(JSON.stringify(withoutTimes(announced)))
    .digest('hex')
    .slice(0, 10)

/** How long a writer counts as present after its last sign of life: as long as a lease lasts. */
export const leaseMs = 30_000

/**
 * Plans with other fields that are being written: items, ids and purges of two would destroy each other.
 * @param {Partial<AnnouncedPlan>} announced
 * @param {readonly AnnouncedPlan[]} announcements of the same prefix
 * @param {number} nowMs by the server's clock
 */
export const rivalsOf = (announced, announcements, nowMs) =>
  announcements.filter(
    (other) => !other.ended && nowMs - other.renewedMs < leaseMs && !samePlan(announced, other),
  )

/** @type {readonly [keyof AnnouncedPlan, string][]} */
const optionsOfFields = [
  ['strategy', '--strategy'],
  ['quantity', '-q'],
  ['totalAgents', '-t'],
  ['once', '--once'],
  ['ttlS', '--ttl'],
  ['ttlLeastS', '--ttl from'],
  ['periodMs', '-p'],
  ['chunks', '-c'],
  ['sets', '--ns'],
  ['extraSets', '--with extra-sorted-sets'],
  ['placement', '--spread or --same-slot'],
  ['valueBytes', '--value-size'],
  ['valueSizes', '--value-size'],
  ['order', '--popularity'],
  ['shift', '--shift'],
  ['churn', '--churn'],
  ['payload', '--payload'],
  ['seed', '--seed'],
  ['stamp', '--stamp'],
]

/**
 * In which options two plans differ: `--ttl 600 (here 3), --once`.
 * @param {Partial<AnnouncedPlan>} theirs
 * @param {Partial<AnnouncedPlan>} ours
 * @param {readonly (readonly [string, string])[]} [besides] further fields of both, and their options
 */
export const differingFields = (theirs, ours, besides = []) => {
  const shown = (/** @type {unknown} */ value) => (Array.isArray(value) ? value.length : value)
  const words = [...optionsOfFields, ...besides].flatMap(([key, option]) => {
    const [their, our] = [theirs, ours].map((announced) => shown(entryOf(announced, key)) ?? 'none')
    if (their === our) return []
    if (typeof their === 'boolean') return [their ? option : `no ${option}`]
    return [`${option} ${their} (here ${our})`]
  })
  const another = theirs.model?.digest === ours.model?.digest ? 'layout of its keys' : 'version of its model'
  return words.slice(0, 3).join(', ') || `another ${another}`
}

/** @param {PlanModel} model */
const announcedModel = ({ title, source, replies, ...model }) => model

/** What is stored, as it is announced. @param {StoredFields} plan */
export const announcedFields = (plan) => {
  const { ttlLeastS, valueSizes, ...fields } = storedIn(plan)
  return { ...fields, ...(ttlLeastS !== null && { ttlLeastS }), ...(valueSizes !== null && { valueSizes }) }
}

/** @param {Plan} plan @param {string} version @returns {Omit<AnnouncedPlan, 'startedMs' | 'renewedMs' | 'ended'>} */
export const announcementOf = (plan, version) => ({
  ...announcedFields(plan),
  periodMs: plan.periodMs,
  chunks: plan.chunks,
  totalAgents: plan.totalAgents,
  ...(isDrawn(plan) && { order: plan.order, shift: plan.shift, churn: plan.churn }),
  paced: plan.schedule !== 'none',
  ...(plan.model && { model: announcedModel(plan.model) }),
  version,
})

/** @typedef {(value: unknown) => boolean} Is */

/** @param {number} from @param {number} to @returns {Is} */
const wholeIn = (from, to) => (value) =>
  isNumber(value) && Number.isInteger(value) && value >= from && value <= to
/** @type {Is} */
const isTime = (value) => isNumber(value) && value >= 0
/** @type {Is} */
const isFlag = (value) => typeof value === 'boolean'
/** @param {unknown} value @returns {value is string} */
const isText = (value) => typeof value === 'string'
/** @param {unknown} value @returns {value is number} */
const isNumber = (value) => Number.isFinite(value)
/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === 'object' && value !== null
/** @param {number} least @param {number} most @returns {Is} */
const textsIn = (least, most) => (value) =>
  Array.isArray(value) && value.length >= least && value.length <= most && value.every(isText)
/** @param {string[]} words @returns {Is} */
const among = (words) => (value) => isText(value) && words.includes(value)

/** @type {Is} */
const isPaceOrNone = (value) =>
  value === undefined || value === null || (isText(value) && paceOf(value) !== undefined)

/** @type {Is} */
const isModel = (value) =>
  isObject(value) &&
  isText(value.digest) &&
  (value.lifetimeS === null || wholeIn(0, 1e10)(value.lifetimeS)) &&
  Array.isArray(value.keys) &&
  value.keys.length <= 1000 &&
  value.keys.every((key) => isObject(key) && isText(key.pattern) && isText(key.type))

/** What each field may be: the ranges of the options that make it. @type {Readonly<Record<keyof AnnouncedPlan, Is>>} */
const fields = {
  strategy: isText,
  quantity: wholeIn(1, 100e6),
  periodMs: (value) => isNumber(value) && value >= 1 && value <= 86_400_000,
  chunks: wholeIn(1, 100e6),
  totalAgents: wholeIn(1, 10_000),
  sets: textsIn(1, slotCount),
  extraSets: textsIn(0, 100),
  placement: among(['plain', 'same-slot', 'spread']),
  taggedItems: isFlag,
  buckets: wholeIn(1, 1e6),
  ttlS: wholeIn(1, 31_536_000),
  ttlLeastS: (value) => value === undefined || wholeIn(1, 31_536_000)(value),
  valueBytes: wholeIn(1, 512 * 2 ** 20),
  valueSizes: (value) => value === undefined || (isText(value) && sizesIn(value) !== undefined),
  order: (value) => value === undefined || (isText(value) && orderOf(value) !== undefined),
  shift: isPaceOrNone,
  churn: isPaceOrNone,
  payload: among(['random', 'sparse', 'zero']),
  seed: wholeIn(0, 2 ** 32 - 1),
  stamp: isFlag,
  once: isFlag,
  prefix: isText,
  version: isText,
  startedMs: isTime,
  renewedMs: isTime,
  ended: isFlag,
  model: (value) => value === undefined || isModel(value),
  // Older announcements do not have it.
  paced: (value) => value === undefined || isFlag(value),
}

/** @param {string} text @returns {any} */
const objectIn = (text) => {
  try {
    const found = JSON.parse(text)
    return typeof found === 'object' && found !== null ? found : null
  } catch {
    return null
  }
}

/**
 * Why an announcement cannot be used for reading; null: it can. A text that is no announcement gives no reason.
 * @param {string} text
 * @returns {string | null}
 */
export const announcedFault = (text) => {
  const announced = objectIn(text)
  if (announced === null || !isText(announced.strategy) || !isText(announced.version)) return null
  const byWhom = `the plan of Millrace ${plainText(announced.version).slice(0, 20)} there`
  if (!isStrategy(announced.strategy) && announced.model === undefined)
    return `${byWhom} is of the strategy '${plainText(announced.strategy).slice(0, 40)}', which this version does not know`
  const wrong = Object.entries(fields).find(([name, is]) => !is(announced[name]))
  if (!wrong) return null
  const value = plainText(String(JSON.stringify(announced[wrong[0]]))).slice(0, 40)
  return `${byWhom} says ${wrong[0]} ${value}, which no option gives`
}

/**
 * The announcement in a text; null where there is none, as in another program's key of that name, or one that this version
 * cannot read.
 * @param {string} text
 * @returns {AnnouncedPlan | null}
 */
export const announcedIn = (text) => {
  const announced = objectIn(text)
  return announced !== null &&
    isText(announced.version) &&
    isText(announced.strategy) &&
    announcedFault(text) === null
    ? announced
    : null
}

/** A plan in a few words. @param {AnnouncedPlan} announced */
export const announcedWords = (announced) => {
  const { strategy, quantity, totalAgents, sets, once, ended } = announced
  const parts = [
    `${strategy} of ${count(quantity)} items`,
    totalAgents > 1 && `${totalAgents} writers`,
    sets.length > 1 && `${sets.length} sorted sets`,
    once && 'each item once',
    ended && 'ended',
  ]
  return parts.filter(Boolean).join(', ')
}
