// Options in the form of experiments, and in that of programs.
import { optionsOf, wordsOf } from '../../settings.js'
import { isLibrary, libraries } from '../base/libraries.js'
import { wordsForMissing } from '../base/optional-packages.js'
import { readAs } from '../options/values.js'
import { defaultStrategy, strategyNamed } from '../workloads/index.js'

/**
 * @import { Program } from '../../settings.js'
 * @import { Options } from './schema.js'
 */

// Options that the runner sets for every run.
const runnersGroups = /^(Target|Output|Duration|Permissions|CloudWatch)/
const runnersOwn = ['agent']
// For net costs of runs that are too short to measure the idle servers by default.
const ofShortRuns = ['idle-cost']

/** Long names that an experiment may set. @param {Program} program */
export const settableOptions = (program) =>
  optionsOf(program)
    .filter(
      ({ group, name }) =>
        ofShortRuns.includes(name) || (!runnersGroups.test(group) && !runnersOwn.includes(name)),
    )
    .flatMap(({ name, also }) => [name, ...also])

/** @param {string[]} words @param {[string, string | number | boolean]} option */
const withWords = (words, [name, value]) => {
  const [first, ...more] = wordsOf(name, typeof value === 'boolean' ? value : String(value))
  const at = first === '--with' ? words.indexOf(first) : -1
  return at < 0
    ? [...words, first, ...more]
    : words.map((word, i) => (i === at + 1 ? `${word},${more[0]}` : word))
}

/** Settings of strategies are in one --with. @param {Options} options @returns {string[]} */
export const optionWords = (options) =>
  Object.entries(options).reduce(withWords, /** @type {string[]} */ ([]))

/** The strategy that a writer with these options plays; an own model is read for it. @param {Options} options @returns {string} */
export const strategyOfOptions = ({ strategy = defaultStrategy, model, command }) =>
  /** @type {string} */ (
    model !== undefined
      ? readAs('model', String(model))
      : command !== undefined
        ? readAs('commands', String(command))
        : String(strategy)
  )

/** How to install the library of these options' driver; false: it is installed, or part of the program. @param {Options | null} options */
export const missingDriver = (options) => {
  const driver = String(options?.driver)
  return isLibrary(driver) && wordsForMissing([libraries[driver].package], `--driver ${driver}`)
}

/** The line that a person would type. @param {readonly string[]} args */
export const typedWords = (args) =>
  args.map((word) => (/^[\w./:=,>%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')

/**
 * The same load at a part of its rate; never fewer items than agents and chunks need.
 * @param {Options} options
 * @param {number} factor
 * @returns {Options}
 */
export const scaledLoad = (options, factor) => {
  const rate = Number(readAs('rate', String(options.rate)))
  const least = Number(options['total-agents'] ?? 1) * Number(options.chunks ?? 1)
  const name = ['items', 'keys'].find((one) => one in options) ?? 'quantity'
  const quantity = Number(options[name] ?? (rate > 0 ? rate : 10_000))
  return {
    ...options,
    // The file of a mix has its numbers of keys.
    ...(!strategyNamed(strategyOfOptions(options)).mix && {
      [name]: Math.max(least, Math.round(quantity * factor)),
    }),
    ...(rate > 0 && { rate: Math.max(1, Math.round(rate * factor)) }),
  }
}
