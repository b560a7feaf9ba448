// Which keys are ours: the names, ranges and types that an announcement covers, and no others.
import { anyPlan } from '../workloads/any-plan.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { familiesOf, headOf } from '../workloads/derive.js'
import { planFieldsOf } from '../workloads/fields.js'
import { allStrategies } from '../workloads/index.js'
import { extraSetNames, setNames } from '../workloads/latest/parts.js'
import { typesOfPatterns } from '../workloads/own/patterns.js'

/**
 * @import { Family } from '../workloads/declare.js'
 * @import { AnnouncedPlan } from './announcement.js'
 */

const dayMinutes = 24 * 60
const longestPrefix = 100
const leaseShape = /^[^{}\s]{0,100}?millrace:lease:(?:read:[a-z][a-z0-9-]{0,39}:)?[1-9]\d{0,4}$/
const planName = 'millrace:plan'
const prefixShape = /^[^{}\s]*$/

/** The prefix of a plan that has this key; null: it is no plan's. @param {string} key */
export const prefixOfPlan = (key) => (key.endsWith(planName) ? key.slice(0, -planName.length) : null)

/** The names of our keys without a variable, and the texts before the first variable of the others. */
const keyPrefixesOf = () => {
  // Keys of a user's model may have any name: they are known by their plan only.
  const ours = allStrategies().filter(({ model }) => model === null)
  const families = ours.flatMap((declared) =>
    familiesOf(declared.keys(planFieldsOf({ ...anyPlan, strategy: declared.name }))),
  )
  const isWhole = (/** @type {Family} */ { parts }) => parts.length === 1
  return {
    whole: ['latest-ids', ...new Set(families.filter(isWhole).map(headOf))],
    begun: [...new Set(families.filter((family) => !isWhole(family)).map(headOf))],
  }
}

/**
 * Returns the prefix that a key of a built-in strategy with such a name would have; null when it cannot be one.
 * @returns {(key: string) => string | null}
 */
export const prefixReader = () => {
  const { whole, begun } = keyPrefixesOf()
  const names = [planName, ...whole]
  const starts = ['millrace:lease:', ...begun]
  return (key) => {
    let at = Number.POSITIVE_INFINITY
    for (const name of names) if (key.endsWith(name)) at = Math.min(at, key.length - name.length)
    for (const start of starts) {
      const found = key.indexOf(start)
      if (found >= 0) at = Math.min(at, found)
    }
    return at <= longestPrefix && prefixShape.test(key.slice(0, at)) ? key.slice(0, at) : null
  }
}

/** A lease is known by its name, as it is written before the plan. @param {string} key */
export const isLease = (key) => leaseShape.test(key)

/**
 * @param {AnnouncedPlan} announced
 * @returns {(key: string) => string | null} the type that a key of this plan has; null: the plan has no such key
 */
export const typesOfPlan = (announced) => {
  const { prefix, quantity, once, churn = null } = announced
  // The writers' clocks may differ slightly.
  const fromMinute = announced.startedMs / 60_000 - dayMinutes
  const toMinute = announced.renewedMs / 60_000 + dayMinutes
  const covers = {
    isItem: (/** @type {number} */ n) => n >= 1 && (once || churn !== null || n <= quantity),
    isMinute: (/** @type {number} */ n) => n >= fromMinute && n <= toMinute,
  }
  const typeOf = announced.model
    ? typesOfPatterns(announced.model.keys, prefix, covers)
    : strategyOf(announced).types(covers)
  return (key) => (key === prefix + planName ? 'hash' : typeOf(key))
}

/**
 * An announcement covers its own prefix and the names of a plan of its kind, whatever it claims.
 * @param {AnnouncedPlan} announced
 * @param {string} prefix under which it was found
 */
export const isGenuine = (announced, prefix) => {
  const { sets, extraSets, placement } = announced
  return (
    announced.prefix === prefix &&
    sets.join() === setNames(prefix, sets.length, placement).join() &&
    extraSets.join() === extraSetNames(prefix, extraSets.length).join()
  )
}
