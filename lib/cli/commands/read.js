// `millrace read`: the consumer.
import { optionsOf } from '../../../settings.js'
import { programs } from '../../options/help.js'
import { withPassword } from '../password.js'
import { interruptsOfRun } from '../signals.js'

/** @import { Command } from '../commands.js' */

/** @type {Command} */
export const command = {
  about: programs.consumer,
  options: optionsOf('consumer'),
  work: async ({ settings: given, redact, as }) => {
    const settings = await withPassword(given, redact)
    const guidance = { ...interruptsOfRun(), redact }
    if (settings.dryRun) return (await import('../dry-run.js')).dryRunOfReader(settings, { ...guidance, as })
    return (await import('../run.js')).runProgram('consumer', settings, { ...guidance, as })
  },
}
