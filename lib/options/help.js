// --help on one screen, and --help all.
import yargs from 'yargs'
import { wrapped } from '../base/layout.js'

/**
 * @import { Argv } from 'yargs'
 * @import { Option, Program } from '../../settings.js'
 * @import { TypeName } from './values.js'
 *
 * @typedef {object} About what a command is, beside its options
 * @property {string} as how it is started: `millrace write`
 * @property {string} [words] behind it
 * @property {string} does in a sentence
 * @property {readonly (readonly [what: string, line: string])[]} examples without the command
 * @property {string} [more] below the options, a paragraph a line
 */

/** @type {Record<Program, About>} */
export const programs = {
  producer: {
    as: 'millrace write',
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
  consumer: {
    as: 'millrace read',
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
  cleanup: {
    as: 'millrace cleanup',
    does: 'Removes the keys that runs left under a prefix, according to their plans, and nothing else.',
    examples: [
      ['count what would be removed', '--cluster --host cache.example.net --tls'],
      ['remove it', '--cluster --host cache.example.net --tls --yes'],
    ],
  },
  reshard: {
    as: 'millrace reshard',
    words: 'move|add-shard|remove-shard|failover',
    does: 'Changes a cluster while it serves, and reports how long that took.',
    examples: [
      ['move 1,500 slots to the third shard', 'move --slots 0-1499 --to 3 --host cache.example.net --tls'],
      ['let the replica of the second shard take over', 'failover --shard 2'],
    ],
  },
}

const variables = [
  'The command line overrides a file (-f), which overrides the environment, .env and the defaults.',
  'Variables are named MILLRACE_ and the option, as in MILLRACE_TTL; those of the target are REDIS_HOST and ' +
    'the like. MILLRACE_NO_DOTENV=1 ignores .env.',
  'Numbers may end in k or M, sizes in kB, MB, KiB or MiB. --no-json and so on switch a flag off.',
]

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

const placeholders = /** @type {Partial<Record<TypeName, string>>} */ ({
  flag: '',
  integer: 'N',
  number: 'N',
  rate: 'N',
  bytes: 'SIZE',
  duration: 'TIME',
  lifetime: 'TIME',
  sizes: 'SIZE',
  choice: 'NAME',
  choices: 'NAMES',
  path: 'PATH',
  host: 'NAME',
  url: 'URL',
  limits: 'LIMIT',
  listener: 'PORT',
  ratio: 'N:N',
  agents: 'N',
})

/** What there is besides, unless it says nothing. @param {Option} option */
const unlessGiven = (option) => {
  const text = defaultText(option)
  return ['off', 'none'].includes(text) || text.startsWith('see ') ? '' : ` (${text})`
}

/** @param {Option} option */
const briefDefault = ({ default: value, type, otherwise }) =>
  value === undefined || ['', 'none'].includes(value) || otherwise || type === 'flag' ? '' : ` (${value})`

/**
 * The names of an option as yargs prints them: the last long one has the placeholder of its value behind it.
 * @param {Option} option
 */
const printed = ({ name, aliases, type, place }) => {
  const long = [name, ...aliases.filter((alias) => alias.length > 1)]
  const value = place ?? placeholders[type] ?? 'TEXT'
  const [first, ...others] = long.map((one, i) => (i < long.length - 1 ? one : `${one} ${value}`.trimEnd()))
  return { key: first, alias: [...aliases.filter((one) => one.length === 1), ...others] }
}

/**
 * @param {About} about
 * @param {readonly Option[]} options
 * @param {{ columns: number, whole: boolean }} look whole: every option, in groups
 */
export const helpText = ({ as, words, does, examples, more }, options, { columns, whole }) => {
  const width = Math.max(60, Math.min(columns, 110))
  const shown = options.filter(({ hidden }) => !hidden)
  const isShort = shown.some(({ brief }) => brief !== undefined) && !whole
  const listed = isShort ? shown.filter(({ brief }) => brief !== undefined) : shown
  const page = yargs([]).locale('en').help(false).version(false).wrap(width)
  for (const option of listed) {
    const { key, alias } = printed(option)
    const describe = isShort
      ? `${option.brief}${briefDefault(option)}`
      : `${meaning(option)}${unlessGiven(option)}`
    page.option(key, { alias, describe, group: isShort ? 'Options' : option.group || 'Options' })
  }
  const last = isShort || listed.length === 0 ? 'Options' : listed.at(-1)?.group || 'Options'
  const others = `this text; all: the other ${shown.length - listed.length} options`
  page.option(isShort ? 'help [all]' : 'help', {
    alias: 'h',
    describe: isShort ? others : 'this text',
    group: last,
  })
  const isVaried = !isShort && shown.some(({ env }) => env !== null)
  // Examples are never wrapped: they are there to be pasted.
  const lines = examples.flatMap(([what, line]) => [`  # ${what}`, `  ${as} ${line}`.trimEnd()])
  return [
    wrapped(does, width).join('\n'),
    `Usage: ${[as, words, shown.length > 0 && '[options]'].filter(Boolean).join(' ')}`,
    ...(lines.length > 0 ? [['Examples', ...lines].join('\n')] : []),
    optionsText(page),
    // What is indented is a table.
    ...(more === undefined
      ? []
      : [
          more
            .split('\n')
            .flatMap((line) => (line.startsWith('  ') ? line : wrapped(line, width)))
            .join('\n'),
        ]),
    ...(isVaried ? [variables.flatMap((note) => wrapped(note, width)).join('\n')] : []),
  ].join('\n\n')
}

/** @param {Argv} page */
const optionsText = (page) => {
  let text = ''
  page.showHelp((help) => {
    text = help
  })
  return text.trimEnd()
}
