// The options of RunOptions in lib/index.d.ts come from the table of settings.js.
import { programOptions } from '../../lib/cli/run-options.js'
import { OPTIONS } from '../../settings.js'

const numbers = new Set(['integer', 'bytes', 'duration', 'seconds', 'rate', 'agents', 'listener'])

const camel = (/** @type {string} */ name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase())

/** @param {import('../../settings.js').Option} option */
const typeOf = ({ type, choices, repeatable }) => {
  if (type === 'flag') return 'boolean'
  if (type === 'choice' && choices) return choices.map((choice) => `'${choice}'`).join(' | ')
  if (numbers.has(type)) return 'number | string'
  return repeatable || type === 'choices' ? 'string | readonly string[]' : 'string'
}

/** @param {import('../../settings.js').Option} option */
const member = (option) => `  /** ${option.help} */\n  ${camel(option.name)}?: ${typeOf(option)}`

const members = () =>
  OPTIONS.filter(
    ({ hidden, name, ...option }) =>
      !hidden &&
      !programOptions.includes(name) &&
      option.for.some((program) => program === 'producer' || program === 'consumer'),
  ).map(member)

const command = "  command?: 'write' | 'read'\n"

/** The file with the options as settings.js has them. @param {string} types */
export const typesFile = (types) => {
  const from = types.indexOf(command)
  const to = types.indexOf('\n}\n', from)
  if (from < 0 || to < 0) throw new Error(`lib/index.d.ts lacks ${command.trim()} of RunOptions`)
  return `${types.slice(0, from + command.length)}${members().join('\n')}${types.slice(to)}`
}
