// How the keys of any strategy begin, so that a key of ours can be recognised before its plan is known.
import { anyPlan } from './any-plan.js'
import { familiesOf, headOf } from './derive.js'
import { allStrategies } from './index.js'
import { termsOf } from './plan-fields.js'

/** @import { Family } from './declare.js' */

/** Names without a variable, and the texts before the first variable of the others. */
export const headsOf = () => {
  // Those of a user's model may be any text: its keys are known by their plan alone.
  const ours = allStrategies().filter(({ model }) => model === null)
  const families = ours.flatMap((declared) =>
    familiesOf(declared.keys(termsOf({ ...anyPlan, strategy: declared.name }))),
  )
  const isWhole = (/** @type {Family} */ { parts }) => parts.length === 1
  return {
    whole: ['latest-ids', ...new Set(families.filter(isWhole).map(headOf))],
    begun: [...new Set(families.filter((family) => !isWhole(family)).map(headOf))],
  }
}
