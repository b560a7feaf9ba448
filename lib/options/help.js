// --help on one screen, and --help all.
import yargs from 'yargs'
import { wrapped } from '../base/layout.js'

/**
 * @import { Option } from '../../settings.js'
 *
 * @typedef {object} About what a command is, beside its options
 * @property {string} as how it is started: `millrace write`
 * @property {string} [words] behind it
 * @property {string} does in a sentence
 * @property {readonly (readonly [what: string, line: string])[]} examples without the command
 * @property {string} [more] below the options, a paragraph a line
 */

const variables = `The command line overrides a file (-f), which overrides the environment, .env and the defaults.
Variables are named MILLRACE_ and the option, as in MILLRACE_TTL; those of the target are REDIS_HOST and the like. MILLRACE_NO_DOTENV=1 ignores .env.
Numbers may end in k or M, sizes in kB, MB, KiB or MiB. --no-json and so on switch a flag off.`

/** The value of an option that is not given. @param {Option} option */
export const defaultText = ({ otherwise, default: value, type }) =>
  otherwise ?? (type === 'flag' ? (value === 'true' ? 'on' : 'off') : (value ?? 'none'))

/**
 * The help of an option, with its choices where the text does not name them.
 * @param {Option} option
 */
export function meaning({ help, choices = [] }) {
  return choices.every((choice) => help.includes(choice)) ? help : `${help}: ${choices.join(', ')}`
}

/** What there is besides, unless it says nothing. @param {Option} option */
const unlessGiven = (option) => {
  const text = defaultText(option)
  return ['off', 'none'].includes(text) || text.startsWith('see ') ? '' : ` (${text})`
}

/** @param {Option} option */
const briefDefault = ({ default: value, type, otherwise }) =>
  value === undefined || ['', 'none'].includes(value) || otherwise || type === 'flag' ? '' : ` (${value})`

/** @type {Record<string, string>} types of options by the placeholder of their values */
const placeholders = {
  '': 'flag',
  N: 'integer number rate agents',
  SIZE: 'bytes sizes',
  TIME: 'duration lifetime',
  NAME: 'choice host',
  NAMES: 'choices',
  PATH: 'path',
  URL: 'url',
  LIMIT: 'limits',
  PORT: 'listener',
  'N:N': 'ratio',
}
/** @param {string} type */
const placeholderOf = (type) =>
  Object.keys(placeholders).find((one) => placeholders[one].split(' ').includes(type)) ?? 'TEXT'

/**
 * The names of an option as yargs prints them: the last long one has the placeholder of its value behind it.
  // What is indented is a table, or an example to paste.
 * @param {Option} option
 */
const printed = ({ name, aliases, type, place }) => {
  const long = [name, ...aliases.filter((alias) => alias.length > 1)]
  const value = place ?? placeholderOf(type)
  const [first, ...others] = long.map((one, i) => (i < long.length - 1 ? one : `${one} ${value}`.trimEnd()))
  return { key: first, alias: [...aliases.filter((one) => one.length === 1), ...others] }
}

/**
 * @param {About} about
 * @param {readonly Option[]} options
 * @param {{ columns: number, whole: boolean }} layout whole: every option, in groups
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
  page.option(isShort ? 'help [all]' : 'help', {
    alias: 'h',
    describe: isShort ? `this text; all: the other ${shown.length - listed.length} options` : 'this text',
    group: (!isShort && listed.at(-1)?.group) || 'Options',
  })
  let table = ''
  page.showHelp((text) => {
    table = text.trimEnd()
  })
  // What is indented is a table.
  const paragraph = (/** @type {string} */ text) =>
    text
      .split('\n')
      .flatMap((line) => (line.startsWith('  ') ? line : wrapped(line, width)))
      .join('\n')
  // Examples are never wrapped: they are there to be pasted.
  const lines = examples.flatMap(([what, line]) => [`  # ${what}`, `  ${as} ${line}`.trimEnd()])
  return [
    paragraph(does),
    `Usage: ${[as, words, shown.length > 0 && '[options]'].filter(Boolean).join(' ')}`,
    lines.length > 0 && ['Examples', ...lines].join('\n'),
    table,
    more && paragraph(more),
    !isShort && shown.some(({ env }) => env !== null) && paragraph(variables),
  ]
    .filter(Boolean)
    .join('\n\n')
}
