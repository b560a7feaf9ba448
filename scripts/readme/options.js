// docs/reference/options.md and .env.example, from the table of options in settings.js.

import { commandNamed, commands } from '../../lib/cli/commands.js'
import { isSettingOf } from '../../lib/options/conflicts.js'
import { defaultText, meaning } from '../../lib/options/help.js'
import { VALUE_TYPES } from '../../lib/options/values.js'
import { strategyNamed, strategyNames } from '../../lib/workloads/index.js'
import { dashed, OPTIONS } from '../../settings.js'

/** @import { Option } from '../../settings.js' */

const isShown = (/** @type {Option} */ option) => !option.hidden && !option.with

const hasVariable = (/** @type {Option} */ { hidden, env }) => !hidden && env !== null

/** @param {string} text */
const code = (text) => `\`${text}\``

/** @typedef {{ command: string, option: Option }} Use an option as a command has it */

const uses = (
  await Promise.all(
    Object.keys(commands).map(async (command) =>
      (await commandNamed(command)).options.filter(isShown).map((option) => ({ command, option })),
    ),
  )
).flat()

/** What the commands have in common once; where they differ, the commands in front. @param {readonly Use[]} of @param {(option: Option) => string} said */
const inAll = (of, said) => {
  /** @type {Map<string, string[]>} */
  const byText = new Map()
  for (const { command, option } of of) {
    const text = said(option)
    byText.set(text, [...(byText.get(text) ?? []), command])
  }
  const texts = [...byText]
  if (texts.length === 1) return texts[0][0]
  return texts.map(([text, names], at) => (at === 0 ? text : `${names.join(', ')}: ${text}`)).join('; ')
}

/** @param {string} name @param {readonly Use[]} of */
const rowOf = (name, of) => {
  const namesIn = (/** @type {Use} */ { option }) => [...option.aliases, option.name, ...option.also]
  // A name that only some of the commands know has these behind it.
  const names = [...new Set(of.flatMap(namesIn))].map((one) => {
    const knowing = of.filter((use) => namesIn(use).includes(one)).map(({ command }) => command)
    return code(dashed(one)) + (knowing.length < of.length ? ` (${knowing.join(', ')})` : '')
  })
  const variables = new Set(of.flatMap(({ option }) => [option.env ?? [], option.alsoEnv].flat()))
  const cells = [
    names.join(' '),
    of.map(({ command }) => command).join(', '),
    inAll(of, ({ help }) => help),
    inAll(of, (option) => VALUE_TYPES[option.type].shape(option)),
    inAll(of, (option) => option.otherwise ?? code(defaultText(option))),
    [...variables].map(code).join(' '),
  ]
  if (name !== of[0].option.name) throw new Error(`${name} is two options`)
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const head =
  '| option | commands | meaning | values | default | environment |\n| --- | --- | --- | --- | --- | --- |'
const several = 'Of several other commands'

/** Every option once, in the groups of `millrace write` and `millrace read`, then those that one command has. */
export const optionsPart = () => {
  /** @type {Map<string, Use[]>} */
  const byName = new Map()
  for (const use of uses) byName.set(use.option.name, [...(byName.get(use.option.name) ?? []), use])
  /** @type {Map<string, string[]>} */
  const groups = new Map()
  for (const [name, of] of byName) {
    const own = of.length > 1 ? several : `Of ${of[0].command} alone`
    const title = OPTIONS.find((option) => option.name === name)?.group.replace(/ \(.*/, '') ?? own
    groups.set(title, [...(groups.get(title) ?? []), rowOf(name, of)])
  }
  const titled = [...groups].map(([title, rows]) => `## ${title}\n\n${head}\n${rows.join('\n')}`)
  return [...titled, settingsSection()].join('\n\n')
}

/** Strategies; those of one workload together where all of them are meant. @param {readonly string[]} names */
const grouped = (names) => {
  const whole = (/** @type {string} */ name) => {
    const family = strategyNames().filter((one) => one.startsWith(`${name.split('-', 1)[0]}-`))
    return family.length > 1 && family.includes(name) && family.every((one) => names.includes(one))
      ? `${name.split('-', 1)[0]}-*`
      : name
  }
  return [...new Set(names.map(whole))].join(', ')
}

/** What --with takes: settings of some strategies, and of readers. */
const settingsSection = () => {
  const rows = OPTIONS.filter((option) => option.with).map((option) => {
    const taking = strategyNames().filter((name) => isSettingOf(strategyNamed(name), option.key))
    const cells = [
      code(option.name),
      option.for.includes('producer') ? grouped(taking) : 'millrace read',
      option.help,
      VALUE_TYPES[option.type].shape(option),
      option.otherwise ?? code(defaultText(option)),
      code(String(option.env)),
    ]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  })
  return `## Settings of \`--with\`

\`--with NAME=VALUE,...\` takes the settings of the strategy; a flag stands without a value. In a file of options, an experiment and a side
of a comparison they are options of their own: \`page-size: 50\`.

| setting | strategies | meaning | values | default | environment |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`
}

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
