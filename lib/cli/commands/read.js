// `millrace read`: the consumer.
import { optionsOf } from '../../../settings.js'
import { refuseWords } from '../../options/command-line.js'
import { withPassword } from '../password.js'
import { interruptsOfRun } from '../signals.js'

/** @import { Command } from '../commands.js' */

/** @type {Command} */
export const command = {
  about: {
    words: '[FILE]',
    does: 'Reads the latest items as an application would, by the plan that a writer leaves in the target; or sends the reads of FILE, a workload file of millrace profile.',
    examples: [
      ['all items every second, with a writer in another terminal', '--duration 60s'],
      ['the newest 1,000 from the replicas of a local cluster', '--cluster --limit 1000'],
      [
        'eight consumers, every value checked byte by byte',
        '--host cache.example.net --consumers 8 --verify',
      ],
      ['32 consumers that fetch every 250 ms', '--consumers 32 -p 250 --limit 1000 --json > run.json'],
    ],
  },
  options: optionsOf('consumer'),
  takesStrategy: true,
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
