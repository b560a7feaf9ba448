// Options of a run that a program hands over, as values by their names: they become settings as those of a command line.
import { optionsOf, wordsOf } from '../../settings.js'
import { OptionError } from '../base/errors.js'
import { exactly } from '../base/typed.js'
import { readSettings } from '../options/read-settings.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { RunOptions } from '../index.js'
 */

/** What belongs to the programs: files, the screen, the terminal, what follows a run, and templates (a model's file is for all). */
export const programOptions = Object.freeze(
  'out report json quiet verbose log dashboard metrics ask-password cloudwatch region replication-group cache-clusters file command'.split(
    ' ',
  ),
)

const programs = { write: exactly('producer'), read: exactly('consumer') }

/** warmUp as --warm-up @param {string} key */
const dashed = (key) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** An option as it is typed. @param {[string, unknown]} entry @returns {string[]} */
const typed = ([key, value]) => {
  const name = dashed(key)
  if (programOptions.includes(name))
    throw new OptionError(`${key} is an option of the programs: run() writes no files and prints nothing`)
  if (value === undefined) return []
  if (typeof value === 'boolean') return wordsOf(name, value)
  const [option, text] = wordsOf(name, Array.isArray(value) ? value.join(',') : String(value))
  return [`${option}=${text}`]
}

/** @param {RunOptions} options @returns {{ program: 'producer' | 'consumer', settings: Settings }} */
export const settingsOfRun = ({ command = 'write', ...options }) => {
  if (!Object.hasOwn(programs, command)) throw new OptionError("command must be 'write' or 'read'")
  const program = programs[command]
  const known = optionsOf(program).map(({ name }) => name)
  const argv = Object.entries(options).flatMap(typed)
  const stranger = Object.keys(options).find((key) => !known.includes(dashed(key)))
  if (stranger !== undefined) throw new OptionError(`unknown option ${stranger} of a run that ${command}s`)
  const settings = /** @type {Settings} */ (readSettings({ program, argv, env: {} }))
  if (settings.host === undefined)
    throw new OptionError('a run needs url or host; startLocalServers() starts servers and returns their url')
  return { program, settings }
}
