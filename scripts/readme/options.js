// docs/reference/options.md and .env.example, from the table of options in settings.js.

import { commandNamed } from '../../lib/cli/commands.js'
import { findAbout, findOptions } from '../../lib/cli/find-options.js'
import { defaultText, meaning } from '../../lib/options/help.js'
import { VALUE_TYPES } from '../../lib/options/values.js'
import { dashed, OPTIONS, optionsOf } from '../../settings.js'

/** @import { Option, Program } from '../../settings.js' */

const isShown = (/** @type {Option} */ { hidden }) => !hidden

const hasVariable = (/** @type {Option} */ { hidden, env }) => !hidden && env !== null

/** @type {readonly (readonly [Program, string])[]} */
const programs = [
  ['producer', 'write'],
  ['consumer', 'read'],
  ['cleanup', 'cleanup'],
  ['reshard', 'reshard'],
]

/** @param {string} text */
const code = (text) => `\`${text}\``

/** @param {Option} option */
const rowOf = (option) => {
  const names = [...option.aliases, option.name, ...option.also].map(dashed).map(code).join(' ')
  const otherwise = option.otherwise ?? code(defaultText(option))
  const values = VALUE_TYPES[option.type].shape(option)
  const cells = [
    names,
    option.help,
    values,
    otherwise,
    [option.env ?? [], option.alsoEnv].flat().map(code).join(' '),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const head = '| option | meaning | values | default | environment |\n| --- | --- | --- | --- | --- |'

/** @param {readonly [Program, string]} program and its command */
const commandPart = ([program, name]) => {
  const options = optionsOf(program).filter(isShown)
  const groups = [...new Set(options.map(({ group }) => group))]
  const tables = groups.map((group) => {
    const rows = options.filter((option) => option.group === group).map(rowOf)
    return `### ${name}: ${group}\n\n${head}\n${rows.join('\n')}`
  })
  return [`## millrace ${name}`, ...tables].join('\n\n')
}

/** Commands whose options are all their own. */
const ownCommands = [
  'compare',
  'choose',
  'diff',
  'experiment',
  'staff',
  'calibrate',
  'plan',
  'report',
  'cloudwatch',
]

const named = await Promise.all(
  ownCommands.map(async (name) => ({ name, command: await commandNamed(name) })),
)

/** @param {{ name: string, command: { about: { does: string, words?: string }, options: readonly Option[] } }} command */
const ownPart = ({ name, command: { about, options } }) => {
  const rows = options.map((option) => rowOf(option).replace(/ \|[^|]*\|$/, ' |'))
  return [
    `## millrace ${name}`,
    `${about.does} \`millrace ${name} ${about.words}\``,
    ['| option | meaning | values | default |', '| --- | --- | --- | --- |', ...rows].join('\n'),
  ].join('\n\n')
}

/** The options as Markdown, by command and group. */
export const optionsPart = () =>
  [
    ...programs.map(commandPart),
    ownPart({ name: 'find', command: { about: findAbout, options: findOptions } }),
    ...named.map(ownPart),
    '## Other commands\n\n`millrace demo` and `millrace completion` have no options. `millrace doctor` has those of `millrace write`, `millrace verify` those of the target of `millrace read`. In `find`, `compare` and `experiment` options of `millrace write` are taken too: see their `--help`.',
  ].join('\n\n')

/** @param {Option} option */
const exampleOf = (option) => option.default ?? (option.type === 'flag' ? 'false' : '')

/** An example of `.env` that names every variable and changes nothing. */
export function envExample() {
  const options = OPTIONS.filter(hasVariable)
  const paragraphs = [...new Set(options.map(({ group }) => group))].map((group) => {
    const lines = options
      .filter((option) => option.group === group)
      .flatMap((option) => [
        `# ${meaning(option)} (${defaultText(option)})`,
        `#${option.env}=${exampleOf(option)}`,
      ])
    return [`## ${group}`, ...lines].join('\n')
  })
  const top = [
    '# Copy this file to .env and remove the # from the lines you need. The values shown are the defaults.',
    '# The environment and the command line override .env. Put a value with # or blanks in quotes.',
    '# MILLRACE_NO_DOTENV=1 in the environment ignores .env.',
  ]
  return `${[top.join('\n'), ...paragraphs].join('\n\n')}\n`
}
