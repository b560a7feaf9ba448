// The command line, as yargs splits it.
import { Parser } from 'yargs/helpers'
import { nearest } from '../base/nearest.js'
import { OptionError } from '../errors.js'
import { shown } from './values.js'

/** @typedef {import('../../settings.js').Option} Option */

/**
 * What yargs makes of the command line: every value a text, every flag a boolean.
 * @param {string[]} argv
 * @param {readonly Option[]} options
 * @returns {Record<string, unknown> & { _: (string | number)[] }}
 */
export function typedOptions(argv, options) {
  const flags = ['help', 'version']
  for (const { name, aliases, type } of options) if (type === 'flag') flags.push(name, ...aliases)
  for (const word of argv) {
    // yargs takes whatever is not 'true' for false, and -tls for -t -l -s.
    const [, flag, text] = /^--([^=]+)=(.*)$/s.exec(word) ?? []
    if (flags.includes(flag) && text !== 'true' && text !== 'false')
      throw new OptionError(`--${flag} takes no value`)
    const long = options.find(({ name, aliases }) => [name, ...aliases].includes(word.slice(1)))
    if (long && /^-[^-]{2}/.test(word))
      throw new OptionError(`unknown option ${word}; did you mean -${word}?`)
  }
  return Parser(argv, {
    alias: { ...Object.fromEntries(options.map(({ name, aliases }) => [name, aliases])), help: ['h'] },
    boolean: flags,
    string: options.filter(({ type }) => type !== 'flag').map(({ name }) => name),
    configuration: {
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
    },
  })
}

/**
 * Refuses options without their value, unknown options, and words that belong to none.
 * @param {ReturnType<typeof typedOptions>} typed
 * @param {readonly Option[]} options
 */
export function refuseStrangers(typed, options) {
  for (const { name } of options)
    if (typed[name] === '' && name !== 'prefix') throw new OptionError(`--${name} needs a value`)

  const names = [...options.flatMap(({ name, aliases }) => [name, ...aliases]), 'help', 'h', 'version']
  for (const [name, value] of Object.entries(typed)) {
    if (name === '_' || names.includes(name)) continue
    const like = name.length > 1 && nearest(name, names)
    const dashed = `${name.length === 1 ? '-' : value === false ? '--no-' : '--'}${shown(name)}`
    throw new OptionError(`unknown option ${dashed}${like ? `; did you mean --${like}?` : ''}`)
  }
  if (typed._.length === 0) return
  // The word may be the rest of a secret with a blank in it.
  const secret = options.find((option) => option.secret && typed[option.name] !== undefined)
  throw new OptionError(
    secret
      ? `a word too many on the command line (not shown: it may belong to --${secret.name})`
      : `a word too many on the command line: '${shown(String(typed._[0]))}'`,
  )
}

/**
 * @param {Record<string, unknown>} typed
 * @param {Option} option
 */
export function typedText(typed, { name, type, repeatable }) {
  const value = typed[name]
  if (repeatable && Array.isArray(value)) return value.join(',')
  if (Array.isArray(value) && type !== 'flag') throw new OptionError(`--${name} is given twice`)
  if (type !== 'flag' && value === false) throw new OptionError(`unknown option --no-${name}`)
  return value === undefined ? undefined : String(value)
}
