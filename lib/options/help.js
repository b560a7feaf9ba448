// --help on one screen, and --help all.
import yargs from 'yargs'
import { everywhere } from '../../settings.js'
import { wrapped } from '../base/layout.js'
import { VALUE_TYPES } from './values.js'

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
Numbers may end in k or M, sizes in kB, MB, KiB or MiB. --no-json and so on switch a flag off, as --json=false does.`

/** The value of an option that is not given. @param {Option} option */
export const defaultText = ({ otherwise, default: value, type }) =>
  otherwise ?? (type === 'flag' ? (value === 'true' ? 'on' : 'off') : (value ?? 'none'))

/** The help of an option, with its choices where the text does not name them. @param {Option} option */
export const meaning = ({ help, choices = [] }) =>
  choices.every((choice) => help.includes(choice)) ? help : `${help}: ${choices.join(', ')}`

/** A line of the help, with the default; a brief one has it in words where it is not fixed. @param {Option} option @param {boolean} isBrief */
const described = (option, isBrief) => {
  const value = defaultText(option)
  const isSaid = isBrief && (option.otherwise || option.type === 'flag')
  const end = isSaid || /^(off|none|see .*|)$/.test(value) ? '' : ` (${value})`
  return `${(isBrief && option.brief) || meaning(option)}${end}`
}

/** @param {Pick<Option, 'type'>} option */
const placeOf = ({ type }) => VALUE_TYPES[type].place ?? 'TEXT'

/** The title above an option. @param {Option} option @param {boolean} isBrief @param {string} [strategy] */
const groupOf = (option, isBrief, strategy) => {
  if (option.with && strategy !== undefined)
    return `Settings of ${strategy}: --with NAME=VALUE,..., or each as --NAME VALUE`
  return isBrief
    ? 'Options'
    : option.with
      ? `${option.group}: --with NAME=VALUE,..., or each as --NAME VALUE`
      : option.group || 'Options'
}

/** A setting as --with takes it, where yargs has it as an option. @param {string} text @param {Option} option */
const withoutDashes = (text, option) => {
  const { name, type } = option
  const end = type === 'flag' ? '' : ` ${placeOf(option)}`
  return text.replace(
    new RegExp(`^( +)--${name}${end.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?= |$)`, 'm'),
    `$1${name}${end.replace(' ', '=')}  `,
  )
}

/** Which settings a strategy takes, and which only some take. @param {string} name */
const settingsOf = async (name) => {
  const [{ strategyNamed }, { isSettingOf }] = await Promise.all([
    import('../workloads/index.js'),
    import('./conflicts.js'),
  ])
  const strategy = strategyNamed(name)
  return {
    takes: (/** @type {string} */ key) => isSettingOf(strategy, key),
    has: (/** @type {string} */ key) => strategy.options.includes(key),
  }
}

/**
 * @param {About} about
 * @param {readonly Option[]} options
 * @param {{ columns: number, whole: boolean, strategy?: string }} layout whole: every option, in groups; strategy: of those that
 *   it takes
 */
export const helpText = async (
  { as, words, does, examples, more },
  options,
  { columns, whole, strategy },
) => {
  const width = Math.max(60, Math.min(columns, 110))
  const own = strategy === undefined ? null : await settingsOf(strategy)
  // Its settings are listed below the options.
  const shown = options.filter(
    ({ hidden, key, name }) => !hidden && (!own || (own.takes(key) && name !== 'with')),
  )
  const briefly = shown.filter(({ brief, key }) => brief !== undefined || own?.has(key))
  const isBrief = briefly.length > 0 && !whole
  const listed = isBrief ? briefly : shown
  const help = { ...everywhere[0], ...(isBrief && { place: '[all]' }), group: listed.at(-1)?.group ?? '' }
  const page = yargs([]).locale('en').help(false).version(false).wrap(width)
  for (const option of [...listed, help]) {
    const { name, aliases, place = placeOf(option) } = option
    // yargs prints letters first, then the others in this order: the place of the value is behind the last.
    const last = [name, ...aliases].findLast((one) => one.length > 1)
    const [key, ...alias] = [name, ...aliases].map((one) =>
      one === last ? `${one} ${place}`.trimEnd() : one,
    )
    const group = groupOf(option, isBrief, strategy)
    page.option(key, { alias, describe: described(option, isBrief), group })
  }
  const lines = examples.flatMap(([what, line]) => [`  # ${what}`, `  ${as} ${line}`.trimEnd()])
  // What is indented is a table, or an example to paste.
  return [
    does,
    `Usage: ${[as, words, shown.length > 0 && '[options]'].filter(Boolean).join(' ')}`,
    examples.length > 0 && ['Examples', ...lines].join('\n'),
    listed.filter((option) => option.with).reduce(withoutDashes, (await page.getHelp()).trimEnd()),
    more,
    !isBrief && shown.some(({ env }) => env !== null) && variables,
  ]
    .filter(Boolean)
    .join('\n\n')
    .replace(/^(?! {2}).+$/gm, (line) => wrapped(line, width).join('\n'))
}
