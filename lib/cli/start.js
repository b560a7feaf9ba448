// What every command does around its work: options, help, secrets, its parent, and one place that turns errors into a
// line and an exit code.

import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { everywhere, namesOf, OPTIONS, registeredOptions } from '../../settings.js'
import { fromParent } from '../base/child.js'
import { didYouMean } from '../base/did-you-mean.js'
import { ExitCode, MillraceError, OptionError } from '../base/errors.js'
import { redactor } from '../base/redact.js'
import { plainText } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { typedLine } from '../options/command-line.js'
import { loadDotenv, settingsOf, variablesIn } from '../options/read-settings.js'
import { asTargetError } from '../servers/reason.js'
import { commandNamed } from './commands.js'
import { terminalText } from './log.js'
import { withStrategies } from './typed-strategies.js'

/**
 * @import { Redactor } from '../base/redact.js'
 * @import { Typed } from '../options/command-line.js'
 * @import { Option } from '../../settings.js'
 *
 * @typedef {object} Surroundings
 * @property {NodeJS.ProcessEnv} env with what a parent has handed over
 * @property {Redactor} redact
 */

// The passwords that a program was given, also those typed in the wrong place: they must never be printed.

const passwords = OPTIONS.filter(({ secret, type }) => secret && type !== 'url' && type !== 'server')
const urls = OPTIONS.filter(({ type }) => type === 'url' || type === 'server')
const files = OPTIONS.filter(({ key }) => key === 'passwordFile')

/** Text before the @ of an address may be a password alone. @param {string} text */
const inUrl = (text) =>
  spelled(/^(?:[a-z]+:\/\/)?(?:[^:@]*:)?(.*)@/i.exec(text.replace(/\?iam=[^?]*$/, ''))?.[1] ?? '')

/** `user:password@host` in a word that may as well be a path. @param {string} word */
const inWord = (word) => spelled(/^(?:--?[\w-]+=)?(?:[a-z]+:\/\/)?[^\s/:@]*:([^/]+)@/i.exec(word)?.[1] ?? '')

/** @param {string} typed @returns {string[]} as typed, and as it is meant */
const spelled = (typed) => {
  try {
    return [typed, decodeURIComponent(typed)]
  } catch {
    return [typed]
  }
}

/** @param {string} path @returns {string[]} */
const firstLineOf = (path) => {
  try {
    return [readFileSync(path, 'utf8').split(/\r?\n/, 1)[0]]
  } catch {
    return [] // a bad address is reported where it is used
  }
}

/** @param {readonly Option[]} options @param {string[]} argv */
const typed = (options, argv) => {
  const flags = options.flatMap((option) => namesOf(option).flatMap((word) => [`--${word}`, `-${word}`]))
  return argv.flatMap((word, i) => {
    const equals = word.indexOf('=')
    if (flags.includes(word)) return argv[i + 1] ?? []
    return equals > 0 && flags.includes(word.slice(0, equals)) ? word.slice(equals + 1) : []
  })
}

/** `-a` is the password of redis-cli, and here the number of a writer. @param {string[]} argv */
const mistaken = (argv) =>
  argv.flatMap((word, i) => {
    const next = argv[i + 1] ?? ''
    if (/^(-a|--agent)$/.test(word) && !/^(\d{1,5}(-\d{1,5})?|all|auto|-.*)?$/.test(next)) return [next]
    const [, attached] = /^(?:-a|--agent=)([^-\d=].*)$/.exec(word) ?? []
    return attached === undefined || /^(ll|uto|all|auto)$/.test(attached) ? [] : [attached]
  })

/** @param {string[]} argv @param {NodeJS.ProcessEnv} env @returns {string[]} */
export const secretsIn = (argv, env) => {
  const valuesOf = (/** @type {readonly Option[]} */ options) => [
    ...options.flatMap(({ env: own, alsoEnv }) =>
      [own ?? [], alsoEnv].flat().flatMap((name) => env[name] ?? []),
    ),
    ...typed(options, argv),
  ]
  return [
    ...valuesOf(passwords),
    ...valuesOf(urls).flatMap(inUrl),
    ...argv.flatMap(inWord),
    ...valuesOf(files).flatMap(firstLineOf),
    ...mistaken(argv),
  ].filter((secret) => secret !== '')
}

// V8 shrinks a heap that is idle for eight seconds, in pauses of 10 to 50 ms and on all its threads: this would happen in a run.
// Its switch (--no-memory-reducer) is read before a program begins, and the eight seconds when they begin.
setFlagsFromString('--gc-memory-reducer-start-delay-ms=1000000000')
// What runs ten times a second, or once, stays slow code for minutes by V8's own measure, 132 KiB of bytecode that has run. With
// this one the sending thread takes 0.93 of the CPU, the process as much as before.
setFlagsFromString('--interrupt-budget=20000')

// Time for a program to end in order when its parent has gone.
const orphanLimitMs = 1000

/** Without its parent the result has no reader: acts like two interrupts. */
const endWithParent = () => {
  setTimeout(() => process.exit(ExitCode.interrupted), orphanLimitMs)
  if (process.listenerCount('SIGTERM') === 0) process.exit(ExitCode.interrupted)
  process.emit('SIGTERM')
  process.emit('SIGTERM')
}

/** @param {unknown} thrown @param {NodeJS.WriteStream} stderr */
const tell = (thrown, stderr) => {
  const error = asTargetError(thrown)
  if (error instanceof MillraceError) {
    stderr.write(`${terminalText(error.message, stderr)}\n`)
    return error.exitCode
  }
  const fault = error instanceof Error ? (error.stack ?? error.message) : String(error)
  stderr.write(
    `internal error of Millrace, please report it: ${fault.split('\n').map(plainText).join('\n')}\n`,
  )
  return ExitCode.fault
}

/** The working folder may have been removed since the start. */
const workingFolder = () => {
  try {
    return process.cwd()
  } catch (cause) {
    throw new OptionError('the working directory has been removed; change to one that is there', { cause })
  }
}

/** A misspelt topic of the help must not be ignored. @param {Typed} line @param {readonly string[]} strategies that have a help of their own */
const refuseTopic = ({ help, topic = '-' }, strategies) => {
  if (help === 'all' || topic.startsWith('-') || strategies.includes(topic)) return
  const hint = didYouMean(topic, ['all', ...strategies])
  if (hint || strategies.length > 0)
    throw new OptionError(
      `--help has no such topic${hint || `; it takes all${strategies.length > 0 ? ', or a strategy' : ''}`}`,
    )
}

/**
 * The work of a command with the words behind it: its exit code.
 * @param {string} name as in lib/cli/commands.js
 * @param {{ as?: string, argv?: readonly string[] }} how as: what the user typed, where that is no `millrace NAME`
 * @param {Surroundings} surroundings
 */
export const worked = async (
  name,
  { as = `millrace ${name}`, argv = process.argv.slice(2) },
  { env, redact },
) => {
  const { stdout, stderr } = process
  const {
    about,
    options,
    own = options,
    passed = [],
    isPrivate = false,
    takesWords = false,
    takesStrategy = false,
    takesModel = false,
    placed = async (line) => line,
    work,
  } = await commandNamed(name)
  const ofStrategy = takesStrategy ? options.find((one) => one.name === 'strategy') : undefined
  const strategies = ofStrategy?.choices ?? []
  registeredOptions([...options, ...everywhere])
  const asTyped = typedLine(argv, [...options, ...passed])
  // A word for a model in another program is refused with the name here.
  const likeOther = Object.keys(ofStrategy?.likeOther ?? {})
  const line = ofStrategy
    ? withStrategies(asTyped, { likeOther, filesAre: takesModel ? 'model' : undefined })
    : asTyped
  if (line.help) {
    refuseTopic(line, strategies)
    const { helpText } = await import('../options/help.js')
    const layout = {
      columns: stdout.columns ?? 80,
      whole: line.help === 'all',
      strategy: argv.find((word) => strategies.includes(word)),
    }
    stdout.write(`${await helpText({ ...about, as }, options, layout)}\n`)
    return ExitCode.done
  }
  if (line.options.has('version')) {
    stdout.write(`${millraceVersion()}\n`)
    return ExitCode.done
  }
  const typed = await placed(line)
  const dotenvText = isPrivate ? undefined : loadDotenv(workingFolder(), env)
  redact.learn(...secretsIn([], variablesIn(dotenvText)))
  const settings = settingsOf(typed, own, { env: isPrivate ? {} : env, dotenvText, takesWords })
  for (const sentence of settings.cautions) stderr.write(`${terminalText(`warning: ${sentence}`, stderr)}\n`)
  return work({ settings, typed, env, dotenvText, redact, as })
}

/** Starts a command, and ends with its exit code. @param {string} name @param {Parameters<typeof worked>[1]} [how] */
export const start = (name, how = {}) => concluded((surroundings) => worked(name, how, surroundings))

/** @param {NodeJS.WriteStream} stream @param {Redactor} redact */
const redacting = (stream, redact) => {
  const write = stream.write.bind(stream)
  stream.write = (/** @type {string | Uint8Array} */ received, /** @type {[]} */ ...more) =>
    write(typeof received === 'string' ? redact.text(received) : received, ...more)
}

/** Resolves when everything written so far is out, or lost. @param {NodeJS.WriteStream} stream */
const flushed = (stream) =>
  new Promise((/** @type {(value: void) => void} */ resolve) => {
    if (stream.destroyed) resolve()
    else stream.write('', () => resolve())
  })

/**
 * Does the work of a program and ends it: with the exit code of the work, or of what was thrown, reported in a line.
 * @param {(surroundings: Surroundings) => Promise<number>} work
 */
export const concluded = async (work) => {
  const { stdout, stderr } = process
  const redact = redactor()
  redact.learn(...secretsIn(process.argv.slice(2), process.env))
  redacting(stdout, redact)
  redacting(stderr, redact)
  /** @type {string | undefined} */
  let unprinted
  // A reader that closes the pipe (`| head`) ends the output, not the run.
  stdout.on('error', (/** @type {NodeJS.ErrnoException} */ { code, message }) => {
    if (code !== 'EPIPE') unprinted ??= code ?? message
  })
  // The same for a closed log or terminal.
  stderr.on('error', () => {})
  // Errors outside the work are reported like those of the work.
  process.once('uncaughtException', (error) => process.exit(tell(error, stderr)))
  try {
    const env = await fromParent(process.env, endWithParent)
    redact.learn(...secretsIn([], env))
    workingFolder()
    process.exitCode = await work({ env, redact })
  } catch (error) {
    process.exitCode = tell(error, stderr)
  }
  await flushed(stdout)
  if (unprinted !== undefined) {
    stderr.write(`standard output cannot be written (${unprinted}): what was printed there is not complete\n`)
    process.exitCode = ExitCode.fault
  }
  // Control connections and pipes to children must not keep a finished program alive.
  process.exit()
}
