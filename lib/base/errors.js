// One class for each cause; lib/cli turns them into a line and an exit code.
import { plainText } from './units.js'

export const ExitCode = Object.freeze({
  done: 0,
  fault: 1,
  options: 2,
  target: 3,
  invalid: 4,
  unclear: 98,
  threshold: 99,
  interrupted: 130,
})

/** A failure that is reported in one line: `code` is stable, the message names what to change. */
export class MillraceError extends Error {
  /**
   * @param {string} code stable, for programs
   * @param {string} message for people; names the option or the address, never a secret
   * @param {{ cause?: unknown, exitCode?: number }} [more]
   */
  constructor(code, message, { cause, exitCode = ExitCode.fault } = {}) {
    super(message, { cause })
    this.name = new.target.name
    this.code = code
    this.exitCode = exitCode
  }
}

/** The options are wrong. */
export class OptionError extends MillraceError {
  /** @param {string} message @param {{ cause?: unknown }} [more] */
  constructor(message, { cause } = {}) {
    super('OPTION', message, { cause, exitCode: ExitCode.options })
  }
}

/**
 * A file that the user named cannot be read.
 * @param {string} path
 * @param {unknown} cause
 * @param {string} [option] that named it
 */
export const unreadable = (path, cause, option) => {
  const { code, message } = errorOf(cause)
  const why =
    code === 'ENOENT' ? ': there is no such file' : ` (${plainText(code ?? message.split('\n', 1)[0])})`
  return new OptionError(`${option ? `${option}: ` : ''}cannot read ${plainText(path)}${why}`, { cause })
}

/** The target cannot be used: unreachable, closed, too small, taken, or without a needed command. */
export class TargetError extends MillraceError {
  /** @param {string} message @param {{ cause?: unknown, code?: string }} [more] */
  constructor(message, { cause, code = 'TARGET' } = {}) {
    super(code, message, { cause, exitCode: ExitCode.target })
  }
}

/** Interrupted by the user before there was a result. */
export class InterruptedError extends MillraceError {
  /** @param {string} [message] what was done until then, and what is kept of it */
  constructor(message = 'interrupted before anything was sent') {
    super('INTERRUPTED', message, { exitCode: ExitCode.interrupted })
  }
}

/**
 * What was caught, as an error; a system's error has its code.
 * @param {unknown} caught
 * @returns {NodeJS.ErrnoException}
 */
export const errorOf = (caught) =>
  caught instanceof Error || isLikeError(caught) ? caught : new Error(String(caught))

/** One of another realm is no instance. @param {unknown} caught @returns {caught is NodeJS.ErrnoException} */
const isLikeError = (caught) => typeof caught === 'object' && caught !== null && 'message' in caught
