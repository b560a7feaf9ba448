// `millrace help [COMMAND] --json`: commands and their options, as data for programs.
import { ExitCode, OptionError } from '../base/errors.js'
import { millraceVersion } from '../base/version.js'
import { commandData } from '../options/help-data.js'
import { commandNamed, commands } from './commands.js'

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
