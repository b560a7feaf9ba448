// `millrace write`: the producer.
import { optionsOf } from '../../../settings.js'
import { programs } from '../../options/help.js'
import { withPassword } from '../password.js'
import { interruptsOfRun } from '../signals.js'

/** @import { Command } from '../commands.js' */

/** @type {Command} */
export const command = {
  about: programs.producer,
  options: optionsOf('producer'),
  // Help and mistyped options do not wait for what only a run needs.
  work: async ({ settings: given, redact, as }) => {
    const settings = await withPassword(given, redact)
    const guidance = { ...interruptsOfRun(), redact }
    if (settings.dryRun) return (await import('../dry-run.js')).dryRunOfWriter(settings, { ...guidance, as })
    return (await import('../run.js')).runProgram('producer', settings, { ...guidance, as })
  },
}
