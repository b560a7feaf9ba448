// What scripts of this repository with a few options of their own do around their work.

import { ownOptions } from '../../settings.js'
import { ExitCode } from '../base/errors.js'
import { typedLine } from '../options/command-line.js'
import { concluded } from './start.js'

/**
 * @import { Surroundings } from './start.js'
 * @import { Values } from '../options/values.js'
 */

/**
 * @param {object} script
 * @param {string} script.usage what --help prints
 * @param {Record<string, { type: 'string' | 'boolean', short?: string, default?: string | boolean }>} script.options
 * @param {(values: Values, words: string[], surroundings: Surroundings) => Promise<number>} script.work
 */
export const repositoryScript = ({ usage, options, work }) =>
  concluded(async (surroundings) => {
    const rows = Object.entries(options).map(([name, { type, short }]) => ({
      name,
      help: '',
      aliases: short === undefined ? [] : [short],
      /** @type {'flag' | 'text'} */
      type: type === 'boolean' ? 'flag' : 'text',
    }))
    const typed = typedLine(process.argv.slice(2), ownOptions('', rows))
    if (typed.help) {
      process.stdout.write(`${usage}\n`)
      return ExitCode.done
    }
    const values = rows.flatMap(({ name, type }) => {
      const text = typed.options.get(name) ?? options[name].default
      return text === undefined ? [] : [[name, type === 'flag' ? String(text) === 'true' : text]]
    })
    return work(Object.fromEntries(values), [...typed.words], surroundings)
  })
