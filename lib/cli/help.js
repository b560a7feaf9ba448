import yargs from 'yargs'
import { optionsOf } from '../../settings.js'

/**
 * @typedef {import('../../settings.js').Option} Option
 * @typedef {import('../../settings.js').Program} Program
 */

/** @type {Record<Program, { file?: string, words?: string, does: string, examples: [what: string, command: string][] }>} */
const programs = {
  cleanup: {
    file: 'scripts/cleanup.js',
    does: 'Removes the keys that runs left under a prefix, according to their plans, and nothing else.',
    examples: [
      ['count what would be removed', '--cluster --host cache.example.net --tls'],
      ['remove it', '--cluster --host cache.example.net --tls --yes'],
    ],
  },
  reshard: {
    file: 'scripts/reshard.js',
    words: 'move|add-shard|remove-shard|failover',
    does: 'Changes a cluster while it serves, and reports how long that took.',
    examples: [
      ['move 1,500 slots to the third shard', 'move --slots 0-1499 --to 3 --host cache.example.net --tls'],
      ['let the replica of the second shard take over', 'failover --shard 2'],
    ],
  },
  producer: {
    does: 'Writes items at a fixed rate, and reports what they cost and whether the rate was sustained.',
    examples: [
      ['a minute against a private server, started here', '-q 50000 --duration 60s'],
      [
        'one of eight boxes: the same line on each',
        '-q 300000 -t 8 --cluster --host cache.example.net --tls',
      ],
      ['lists, in ten chunks, into a private cluster', '-q 100000 -c 10 --sl --cluster'],
      ['as fast as the server accepts items, result as JSON', '--rate max --duration 30s --json > run.json'],
    ],
  },
  consumer: {
    does: 'Fetches the live items as an application would, and reports how fast, how fresh and how correct they are.',
    examples: [
      ['all items every second, with a producer in another terminal', '--duration 60s'],
      ['the newest 1,000 from the replicas of a private cluster', '--cluster --limit 1000'],
      [
        'eight consumers, every value checked byte by byte',
        '--cluster --host cache.example.net --tls --consumers 8 --verify',
      ],
      [
        '32 consumers, four fetches a second each, result as JSON',
        '--consumers 32 -p 250 --limit 1000 --duration 30s --json > run.json',
      ],
    ],
  },
}

const notes = [
  'The command line overrides the environment, which overrides .env, which overrides the defaults.',
  'Variables are named MILLRACE_ and the option, as in MILLRACE_TOTAL_AGENTS; those of the target are ' +
    'REDIS_HOST and the like. MILLRACE_NO_DOTENV=1 ignores .env.',
  'Numbers may end in k or M, sizes in kB, MB, KiB or MiB. --no-json and so on switch a flag off.',
]

/** The file of a program, as it is typed. @param {Program} program */
export const programFile = (program) => programs[program].file ?? `${program}.js`

/**
 * The value of an option that is not given.
 * @param {Option} option
 */
export const defaultText = ({ otherwise, default: value, type }) =>
  otherwise ?? (type === 'flag' ? (value === 'true' ? 'on' : 'off') : (value ?? 'none'))

/**
 * The help of an option, with its choices where the text does not name them.
 * @param {Option} option
 */
export function meaning({ help, choices = [] }) {
  return choices.every((choice) => help.includes(choice)) ? help : `${help}: ${choices.join(', ')}`
}

/**
 * @param {Program} program
 * @param {number} columns
 */
export function helpText(program, columns) {
  const { does, examples, words } = programs[program]
  const file = programFile(program)
  const help = yargs([])
    .detectLocale(false)
    .scriptName(`node ${file}`)
    .usage(`${does}\n\nUsage: $0 ${words ? `${words} ` : ''}[options]`)
    .wrap(Math.max(60, Math.min(columns, 120)))
    .help(false)
    .version(false)
    .epilogue(notes.join('\n'))
  for (const option of optionsOf(program)) {
    if (option.hidden) continue
    const unless = ['off', 'none'].includes(defaultText(option)) ? '' : ` (${defaultText(option)})`
    help.option(option.name, {
      alias: option.aliases,
      group: option.group,
      describe: `${meaning(option)}${unless}`,
    })
  }
  help.option('help', { alias: 'h', group: 'Output', describe: 'this text' })
  help.option('version', { group: 'Output', describe: 'the version of Millrace' })
  let text = ''
  help.showHelp((lines) => {
    text = lines
  })
  // Never wrapped: they are there to be pasted.
  const pasted = examples.flatMap(([what, command]) => [`  # ${what}`, `  node ${file} ${command}`])
  return [text.trimEnd(), '', 'Examples', ...pasted].join('\n')
}
