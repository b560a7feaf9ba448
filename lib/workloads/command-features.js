// Properties of a strategy's commands on which traffic options depend.
import { anyPlan } from './any-plan.js'
import { isMany, isVariable } from './bind/arguments.js'
import { planFieldsOf } from './fields.js'
import { strategyNamed } from './index.js'

/** @import { Command, Slot } from './declare.js' */

/** @param {Slot} slot @returns {string[]} */
const variablesIn = (slot) => {
  if (Array.isArray(slot)) return slot.flatMap(variablesIn)
  if (isMany(slot)) return slot.many.flatMap(variablesIn)
  if (typeof slot === 'object' && 'parts' in slot) return slot.parts.flatMap(variablesIn)
  return isVariable(slot) ? [slot.variable] : []
}

/** @param {string} strategy @returns {Command[]} */
const commandsOf = (strategy) => {
  const declared = strategyNamed(strategy)
  const planFields = planFieldsOf({ ...anyPlan, ttlS: 2, ttlLeastS: 1, strategy })
  return Object.values(declared.operations(planFields, declared.keys(planFields))).flat()
}

/** Whether items have values. @param {string} strategy */
export const storesValues = (strategy) =>
  commandsOf(strategy).some(({ args }) => args.flatMap(variablesIn).includes('value'))

/** Why items of a strategy cannot have lifetimes of their own; null: they can. @param {string} strategy */
export const lifetimeFault = (strategy) => {
  const commands = commandsOf(strategy)
  if (!commands.some(({ args }) => args.flatMap(variablesIn).includes('ttl')))
    return `${strategy} has no command that gives an item a lifetime of its own`
  const shared = commands.find(
    ({ kind, args }) =>
      kind !== 'each' && args.some((slot) => !isMany(slot) && variablesIn(slot).includes('ttl')),
  )
  return shared ? `${shared.name} of ${strategy} gives one lifetime to many items` : null
}
