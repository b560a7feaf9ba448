// `millrace help [COMMAND] --json`: commands and their options, as data for programs.
import { ExitCode, OptionError } from '../base/errors.js'
import { millraceVersion } from '../base/version.js'
import { VALUE_TYPES } from '../options/values.js'
import { commandNamed, commands } from './commands.js'

/**
 * @import { Option } from '../../settings.js'
 * @import { About } from '../options/help.js'
 *
 * @typedef {object} OptionData
 * @property {string} name
 * @property {string[]} aliases
 * @property {string} type
 * @property {string} expects what a value must be, in words; empty for a flag
 * @property {string | boolean | null} default of a flag a boolean; null: none, or see otherwise
 * @property {string | null} otherwise what happens without the option, where no value says that
 * @property {string[]} choices
 * @property {boolean} repeatable
 * @property {string | null} env the variable that has the same effect
 * @property {string} group
 * @property {string} help
 */

/** @param {Option} option @returns {OptionData} */
const optionData = (option) => {
  const {
    name,
    aliases,
    type,
    choices = [],
    repeatable,
    env,
    group,
    help,
    otherwise,
    default: value,
  } = option
  const isFlag = type === 'flag'
  return {
    name,
    aliases: [...aliases],
    type,
    expects: isFlag ? '' : VALUE_TYPES[type].expects(option),
    default: isFlag ? value === 'true' : (value ?? null),
    otherwise: otherwise ?? null,
    choices: [...choices],
    repeatable: repeatable !== undefined,
    env,
    group,
    help,
  }
}

/** @param {readonly Option[]} options */
const shownOf = (options) => options.filter((option) => !option.hidden && !option.with).map(optionData)

/** What --with takes. @param {readonly Option[]} options */
const settingsIn = (options) => options.filter((option) => !option.hidden && option.with).map(optionData)

/**
 * @param {string} name
 * @param {string} does in the list of commands
 * @param {Omit<About, 'as'>} about
 * @param {readonly Option[]} options
 * @param {readonly Option[]} passed that it hands on
 */
const commandData = (name, does, { words = '', examples, ...about }, options, passed) => ({
  name,
  does,
  about: about.does,
  words,
  examples: examples.map(([what, line]) => ({ what, line: `millrace ${name} ${line}`.trimEnd() })),
  options: shownOf(options),
  passed: shownOf(passed),
  settings: settingsIn([...options, ...passed]),
})

/** @param {string} name */
const dataOf = async (name) => {
  const { about, options, passed = [] } = await commandNamed(name)
  return commandData(name, commands[name], about, options, passed)
}

/** @param {readonly string[]} names of commands; all without one */
export const helpData = async (names) => ({
  version: millraceVersion(),
  exit_codes: ExitCode,
  commands: await Promise.all((names.length > 0 ? names : Object.keys(commands)).map(dataOf)),
})

/** @param {readonly string[]} words @param {Pick<NodeJS.Process, 'stdout' | 'stderr'>} streams @returns {Promise<number>} exit code */
export const helpJson = async (words, { stdout, stderr }) => {
  try {
    const data = await helpData(words.filter((word) => word !== '--json'))
    stdout.write(`${JSON.stringify(data, null, 2)}\n`)
    return ExitCode.done
  } catch (error) {
    if (!(error instanceof OptionError)) throw error
    stderr.write(`${error.message}\n`)
    return error.exitCode
  }
}
