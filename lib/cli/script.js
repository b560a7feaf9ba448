// What scripts that have a few options of their own do around their work.
import { parseArgs } from 'node:util'
import { ExitCode, OptionError } from '../errors.js'
import { concluded } from './program.js'
import { shown } from './values.js'

/** @typedef {import('node:util').ParseArgsConfig['options']} ScriptOptions */

/**
 * @param {object} script
 * @param {string} script.usage what --help prints
 * @param {NonNullable<ScriptOptions>} script.options
 * @param {(values: Record<string, any>, words: string[], more: { separator: number | null } & import('./program.js').Surroundings) => Promise<number>} script.work
 *   separator: how many words are in front of a lone `--`
 */
export const script = ({ usage, options, work }) =>
  concluded(async (surroundings) => {
    const { values, positionals, tokens } = parsed(options)
    if (values.help) {
      process.stdout.write(`${usage}\n`)
      return ExitCode.done
    }
    const end = tokens.find(({ kind }) => kind === 'option-terminator')
    const before = end && tokens.filter(({ kind, index }) => kind === 'positional' && index < end.index)
    return work(values, positionals, { ...surroundings, separator: before ? before.length : null })
  })

/** @param {NonNullable<ScriptOptions>} options */
const parsed = (options) => {
  try {
    return parseArgs({
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      tokens: true,
    })
  } catch (cause) {
    const { message } = /** @type {Error} */ (cause)
    const [, dashed] = /^Option '(?:-\w, )?(--[\w-]+).*' argument is ambiguous/.exec(message) ?? []
    if (dashed)
      throw new OptionError(`${dashed} needs a value; one that begins with a dash is given as ${dashed}=-1`, {
        cause,
      })
    const [sentence] = message.split(/\.(?: |$)/)
    throw new OptionError(
      `${shown(sentence).replace(/^./, (first) => first.toLowerCase())} (--help names all options)`,
      { cause },
    )
  }
}
