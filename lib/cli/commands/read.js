// `millrace read`: the consumer.
import { optionsOf } from '../../../settings.js'
import { refuseWords } from '../../options/command-line.js'
import { programs } from '../../options/help.js'
import { withPassword } from '../password.js'
import { interruptsOfRun } from '../signals.js'

/** @import { Command } from '../commands.js' */

/** @type {Command} */
export const command = {
  about: programs.consumer,
  options: optionsOf('consumer'),
  takesWords: true,
  work: async (asked) => {
    const { settings: given, typed, redact, as } = asked
    // Anything else may be a password.
    if (/\.ya?ml$/.test(typed.words[0] ?? '')) {
      const { playedReads } = await import('./replay.js')
      return playedReads(asked)
    }
    refuseWords(typed)
    const settings = await withPassword(given, redact)
    const guidance = { ...interruptsOfRun(), redact }
    if (settings.dryRun) return (await import('../dry-run.js')).dryRunOfReader(settings, { ...guidance, as })
    return (await import('../run.js')).runProgram('consumer', settings, { ...guidance, as })
  },
}
