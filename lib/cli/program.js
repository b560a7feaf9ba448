// What every program does around its work: settings, signals, secrets, its parent, and one place that turns errors into
// a line and a code.

import { plainText } from '../base/units.js'
import { ExitCode, MillraceError, OptionError } from '../errors.js'
import { redactor } from '../redact.js'
import { asTargetError } from '../target/reason.js'
import { fromParent } from './child.js'
import { loadDotenv, readSettings, variablesIn } from './options.js'
import { askedPassword } from './password.js'
import { secretsIn } from './secrets.js'

/**
 * @typedef {object} Surroundings
 * @property {NodeJS.ProcessEnv} env with what a parent has handed over
 * @property {import('../redact.js').Redactor} redact
 *
 * @typedef {import('../run/settlement.js').Signals & { redact: import('../redact.js').Redactor }} Guidance
 */

// What a program may take to end in order when its parent has gone.
const orphanLimitMs = 1000

/** The first interrupt lets the run settle, the second does not. */
const interrupts = () => {
  const stop = new AbortController()
  const stopNow = new AbortController()
  const interrupt = () => {
    if (stop.signal.aborted) stopNow.abort()
    stop.abort()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  // Who closed the terminal cannot be asked twice.
  process.on('SIGHUP', interrupt)
  return { stop: stop.signal, stopNow: stopNow.signal }
}

/** Nobody is left to read the result: as if it was interrupted twice. */
const endWithParent = () => {
  setTimeout(() => process.exit(ExitCode.interrupted), orphanLimitMs)
  if (process.listenerCount('SIGTERM') === 0) process.exit(ExitCode.interrupted)
  process.emit('SIGTERM')
  process.emit('SIGTERM')
}

/** @param {unknown} thrown @param {NodeJS.WritableStream} stderr */
const tell = (thrown, stderr) => {
  const error = asTargetError(thrown)
  if (error instanceof MillraceError) {
    stderr.write(`${plainText(error.message)}\n`)
    return error.exitCode
  }
  const fault = error instanceof Error ? (error.stack ?? error.message) : String(error)
  stderr.write(`a fault of Millrace, please report it: ${fault.split('\n').map(plainText).join('\n')}\n`)
  return ExitCode.fault
}

/** The folder that programs are started in may have been removed since. */
const workingFolder = () => {
  try {
    return process.cwd()
  } catch (cause) {
    throw new OptionError('the working directory has been removed; change to one that is there', { cause })
  }
}

/**
 * Reads the settings, runs the work, and ends with its exit code.
 * @param {import('../../settings.js').Program} program
 * @param {(settings: import('../../settings.js').Settings, guidance: Guidance) => Promise<number>} work
 */
export const program = (program, work) =>
  concluded(async ({ env, redact }) => {
    const { argv, stdout } = process
    const dotenvText = loadDotenv(workingFolder(), env)
    redact.learn(...secretsIn([], variablesIn(dotenvText)))
    const settings = readSettings({ program, argv: argv.slice(2), env, dotenvText, columns: stdout.columns })
    if ('help' in settings) stdout.write(`${settings.help}\n`)
    else if ('version' in settings) stdout.write(`${settings.version}\n`)
    else if (settings.askPassword) {
      const password = await askedPassword(process)
      redact.learn(password)
      return work({ ...settings, password }, { ...interrupts(), redact })
    } else return work(settings, { ...interrupts(), redact })
    return ExitCode.done
  })

/** @param {NodeJS.WriteStream} stream @param {import('../redact.js').Redactor} redact */
const redacting = (stream, redact) => {
  const write = stream.write.bind(stream)
  stream.write = (/** @type {any} */ chunk, /** @type {any[]} */ ...more) =>
    write(typeof chunk === 'string' ? redact.text(chunk) : chunk, .../** @type {[]} */ (more))
}

/** Everything written so far is out, or lost. @param {NodeJS.WriteStream} stream */
const flushed = (stream) =>
  new Promise((/** @type {(value: void) => void} */ resolve) => {
    if (stream.destroyed) resolve()
    else stream.write('', () => resolve())
  })

/**
 * Does the work of a program and ends it: with the exit code of the work, or of what was thrown, told in a line.
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
  // A reader that has seen enough (`| head`) ends the output, not the run.
  stdout.on('error', (/** @type {NodeJS.ErrnoException} */ { code, message }) => {
    if (code !== 'EPIPE') unprinted ??= code ?? message
  })
  // Nor does who has closed the log, or the terminal.
  stderr.on('error', () => {})
  // What fails beside the work is told like what the work throws.
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
