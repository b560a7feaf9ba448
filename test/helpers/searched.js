// A search in the process of the test, and its find.json.

import { findProgram } from '../../lib/cli/find.js'
import { findOptions, findRequest, loadOptions } from '../../lib/cli/find-options.js'
import { interruptsOfRun } from '../../lib/cli/signals.js'
import { typedLine } from '../../lib/options/command-line.js'
import { settingsOf } from '../../lib/options/read-settings.js'
import { runCommand } from './command-here.js'

/** @import { Scope } from './servers.js' */

const as = 'millrace find'

/** What a search is asked for. @param {readonly string[]} words @param {NodeJS.ProcessEnv} [env] */
export const requested = (words, env = {}) => {
  const typed = typedLine(words, [...findOptions, ...loadOptions])
  const settings = settingsOf(typed, findOptions, { env, takesWords: true })
  return findRequest(/** @type {any} */ ({ settings, typed, env, as }))
}

/** @param {Scope} t @param {readonly string[]} words @param {NodeJS.ProcessEnv} env @param {number} [seconds] fewer than --time may be */
export const searched = async (t, words, env, seconds) => {
  const line = ['find', ...words, '--json', '--log', 'error']
  const { code, stdout, stderr } = await runCommand(t, line, {
    env,
    ...(seconds && {
      work: (argv, surroundings) =>
        findProgram(
          { ...requested(argv, surroundings.env), seconds },
          { ...interruptsOfRun(), redact: surroundings.redact, as },
        ),
    }),
  })
  process.stderr.write(stderr)
  return { code: /** @type {any} */ (code), answer: JSON.parse(stdout) }
}
