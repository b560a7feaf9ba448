// What every program does around its work: settings, signals, and one place that turns errors into a line and a code.
import { ExitCode, MillraceError } from '../errors.js'
import { plainText } from '../report/units.js'
import { asTargetError } from '../target/reason.js'
import { loadDotenv, readSettings } from './options.js'
import { askedPassword } from './password.js'

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

/**
 * Reads the settings, runs the work, and ends with its exit code.
 * @param {import('../../settings.js').Program} program
 * @param {(settings: import('../../settings.js').Settings, signals: { stop: AbortSignal, stopNow: AbortSignal }) => Promise<number>} work
 */
export const program = (program, work) =>
  concluded(async () => {
    const { argv, env, stdout } = process
    const settings = readSettings({
      program,
      argv: argv.slice(2),
      env,
      dotenvText: loadDotenv(process.cwd(), env),
      columns: stdout.columns,
    })
    if ('help' in settings) stdout.write(`${settings.help}\n`)
    else if ('version' in settings) stdout.write(`${settings.version}\n`)
    else if (settings.askPassword)
      return work({ ...settings, password: await askedPassword(process) }, interrupts())
    else return work(settings, interrupts())
    return ExitCode.done
  })

/**
 * Does the work of a program and ends it: with the exit code of the work, or of what was thrown, told in a line.
 * @param {() => Promise<number>} work
 */
export const concluded = async (work) => {
  const { stdout, stderr } = process
  // A reader that has seen enough (`| head`) ends the output, not the run.
  stdout.on('error', () => {})
  // Nor does who has closed the log, or the terminal.
  stderr.on('error', () => {})
  try {
    process.exitCode = await work()
  } catch (error) {
    process.exitCode = tell(error, stderr)
  }
  // Control connections and pipes to children must not keep a finished program alive.
  if (stdout.writableLength === 0) process.exit()
  stdout.once('drain', () => process.exit())
}
