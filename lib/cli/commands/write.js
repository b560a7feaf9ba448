// `millrace write`: the producer.
import { optionsOf } from '../../../settings.js'
import { strategyNames } from '../../workloads/index.js'
import { withPassword } from '../password.js'
import { interruptsOfRun } from '../signals.js'

/** @import { Command } from '../commands.js' */

/** @type {Command} */
export const command = {
  about: {
    words: '[STRATEGY]',
    does: 'Writes items at a fixed rate, and reports what they cost.',
    examples: [
      ['a minute against a local server, started here', '--rate 50k --duration 60s'],
      ['lists, into a local cluster', '--strategy list --rate 50k --cluster --duration 60s'],
      [
        'one of eight boxes: the same line on each',
        '--rate 300k -t 8 --cluster --host cache.example.net --tls',
      ],
      ['as fast as the server accepts items', '--rate max --duration 30s --json > run.json'],
    ],
  },
  options: optionsOf('producer'),
  takesStrategy: true,
  takesModel: true,
  words: () => strategyNames(),
  // Help and mistyped options do not wait for what only a run needs.
  work: async ({ settings: given, redact, as }) => {
    const settings = await withPassword(given, redact)
    const guidance = { ...interruptsOfRun(), redact }
    if (settings.dryRun) return (await import('../dry-run.js')).dryRunOfWriter(settings, { ...guidance, as })
    return (await import('../run.js')).runProgram('producer', settings, { ...guidance, as })
  },
}
