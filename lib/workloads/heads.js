// How the keys of any strategy begin, so that a key of ours can be recognised before its plan is known.
import { familiesOf, headOf } from './derive.js'
import { allStrategies } from './index.js'
import { termsOf } from './terms.js'

/** What the names of keys do not depend on. */
const anyPlan = {
  prefix: '',
  quantity: 1,
  ttlS: 1,
  once: false,
  valueBytes: 16,
  payload: 'zero',
  seed: 0,
  stamp: false,
  sets: ['', ''],
  extraSets: [''],
  placement: 'plain',
  taggedItems: false,
  buckets: 1,
}

/** Names without a variable, and the texts before the first variable of the others. */
export const headsOf = () => {
  const families = allStrategies().flatMap((declared) =>
    familiesOf(declared.keys(termsOf({ ...anyPlan, strategy: declared.name }))),
  )
  const isWhole = (/** @type {import('./declare.js').Family} */ { parts }) => parts.length === 1
  return {
    whole: ['latest-ids', ...new Set(families.filter(isWhole).map(headOf))],
    begun: [...new Set(families.filter((family) => !isWhole(family)).map(headOf))],
  }
}
