// The candidates: data models that meet the needs, each with a measure of its simplicity. Pure.

import { didYouMean, nameHint } from '../../base/did-you-mean.js'
import { OptionError } from '../../base/errors.js'
import { plainText } from '../../base/units.js'
import { namesOfWriters, strategiesInBatches } from '../../loads/names-of-strategy.js'
import { anyPlan } from '../../workloads/any-plan.js'
import { familiesOf } from '../../workloads/derive.js'
import { allStrategies, isStrategy, strategyNamed } from '../../workloads/index.js'
import { planFieldsOf } from '../../workloads/latest/fields.js'
import { namesElsewhere } from '../../workloads/names-elsewhere.js'
import { givenUpBy, needNames, unmetBy } from '../../workloads/needs.js'

/**
 * @import { Declaration } from '../../workloads/declare.js'
 * @import { NeedName } from '../../workloads/needs.js'
 *
 * @typedef {object} Model
 * @property {string} name
 * @property {string} title
 * @property {number} simplicity commands that store items, and keys, of its declaration: few are simple
 * @property {string[]} gives_up
 *
 * @typedef {{ name: string, unmet: NeedName[] }} Excluded
 */

/** @param {string} text as --need has it @returns {NeedName[]} */
export const needsIn = (text) =>
  text.split(',').map((name) => {
    const known = needNames.find((one) => one === name.trim())
    if (known) return known
    throw new OptionError(
      `--need ${plainText(name).slice(0, 40)}: must be of ${needNames.join(', ')}${didYouMean(name, needNames)}`,
    )
  })

/** Complexity of operating a model: its commands and its kinds of keys; a script counts twice. @param {Declaration} declared */
export const simplicityOf = (declared) => {
  const t = planFieldsOf(/** @type {any} */ ({ ...anyPlan, sets: [''], extraSets: [] }))
  const keys = declared.keys(t)
  const { store } = declared.operations(t, keys)
  const scripts = store.filter(({ name }) => name === 'EVALSHA' || name === 'FCALL').length
  return store.length + scripts + familiesOf(keys).length
}

/** @param {Declaration} declared @returns {Model} */
const modelOf = (declared) => ({
  name: declared.name,
  title: declared.title,
  simplicity: simplicityOf(declared),
  gives_up: givenUpBy(declared),
})

/**
 * @param {object} asked
 * @param {readonly NeedName[]} asked.needs
 * @param {readonly string[] | null} asked.names null: every model that declares what it is chosen by
 * @returns {{ models: Model[], excluded: Excluded[] }}
 */
export const modelsFor = ({ needs, names }) => {
  for (const name of names ?? []) {
    if (isStrategy(name) && strategyNamed(name).play.caches)
      throw new OptionError(`--strategy ${name}: of a cache its policies are chosen from; name it alone`)
    if (!isStrategy(name) || !namesOfWriters(name).inBatches)
      throw new OptionError(
        `--strategy ${plainText(name).slice(0, 40)}: must be of ${strategiesInBatches().join(', ')}, or the file of an own model${nameHint(plainText(name).slice(0, 40), strategiesInBatches(), namesElsewhere)}`,
      )
  }
  const declared = names
    ? [...new Set(names)].map(strategyNamed)
    : allStrategies().filter(({ choice, name }) => choice !== null && namesOfWriters(name).inBatches)
  const unmet = (/** @type {Declaration} */ one) => unmetBy(one, needs)
  return {
    models: declared.filter((one) => unmet(one).length === 0).map(modelOf),
    excluded: declared.flatMap((one) =>
      unmet(one).length === 0 ? [] : [{ name: one.name, unmet: unmet(one) }],
    ),
  }
}
