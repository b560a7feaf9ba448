// Properties of a strategy's commands on which traffic options depend.
import { anyPlan } from './any-plan.js'
import { planFieldsOf } from './fields.js'
import { strategyNamed } from './index.js'

/** @import { Command } from './declare.js' */

/** @param {any} slot @returns {string[]} */
const variablesIn = (slot) => {
  if (Array.isArray(slot)) return slot.flatMap(variablesIn)
  if (slot?.many) return slot.many.flatMap(variablesIn)
  if (slot?.parts) return slot.parts.flatMap(variablesIn)
  return typeof slot?.variable === 'string' ? [slot.variable] : []
}

/** @param {string} strategy @returns {Command[]} */
const commandsOf = (strategy) => {
  const declared = strategyNamed(strategy)
  const planFields = planFieldsOf({ ...anyPlan, ttlS: 2, ttlLeastS: 1, strategy })
  return Object.values(declared.operations(planFields, declared.keys(planFields))).flat()
}

/** Whether items have values. @param {string} strategy */
export const storesValues = (strategy) =>
  commandsOf(strategy).some(({ args }) => variablesIn(args).includes('value'))

/** Why items of a strategy cannot have lifetimes of their own; null: they can. @param {string} strategy */
export const lifetimeFault = (strategy) => {
  const commands = commandsOf(strategy)
  if (!commands.some(({ args }) => variablesIn(args).includes('ttl')))
    return `${strategy} has no command that gives an item a lifetime of its own`
  const shared = commands.find(
    ({ kind, args }) =>
      kind !== 'each' &&
      args.some((slot) => !(/** @type {any} */ (slot).many) && variablesIn(slot).includes('ttl')),
  )
  return shared ? `${shared.name} of ${strategy} gives one lifetime to many items` : null
}
