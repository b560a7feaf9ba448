// The log: stderr, plain lines, or with --log json lines of JSON for programs. stdout is for results.
import { createRequire } from 'node:module'
import { painter, wrapped } from '../base/layout.js'
import { plainText } from '../base/units.js'

/** @import { DestinationStream } from 'pino' */

const require = createRequire(import.meta.url)

// '! '
const indent = 2
// Levels of pino.
const [warnLevel, errorLevel] = [40, 50]

/** By NO_COLOR and FORCE_COLOR, else on a terminal. @param {{ isTTY?: boolean }} stream @param {NodeJS.ProcessEnv} [env] */
export const hasColor = ({ isTTY }, env = process.env) => {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0'
  return isTTY === true && env.TERM !== 'dumb'
}

/** Whether lines can be redrawn in place; a log of a CI keeps every line. @param {{ isTTY?: boolean }} stream @param {NodeJS.ProcessEnv} [env] */
export const isLive = ({ isTTY }, env = process.env) => isTTY === true && env.TERM !== 'dumb' && !env.CI

/**
 * A line of the log: on a terminal as narrow as it.
 * @param {Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>} stream
 * @param {string} text
 */
export const logLine = ({ isTTY, columns }, text) =>
  isTTY
    ? wrapped(plainText(text), Math.max(20, (columns || 80) - indent)).join(`\n${' '.repeat(indent)}`)
    : plainText(text)

/** A sentence for a person, no wider than the terminal. @param {string} text @param {Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>} stream */
export const terminalText = (text, { isTTY, columns }) =>
  isTTY ? wrapped(plainText(text), columns || 80).join('\n') : plainText(text)

/** A line of JSON as a person reads it. @param {string} line @param {boolean} color */
const plainLine = (line, color) => {
  const { level, msg } = JSON.parse(line)
  const paint = painter(color)
  const mark = level >= errorLevel ? paint.red('✗') : level >= warnLevel ? paint.yellow('!') : paint.dim('·')
  return `${mark} ${msg}\n`
}

/**
 * @param {object} options
 * @param {string} options.level
 * @param {'text' | 'json'} [options.log]
 * @param {boolean} [options.color]
 * @param {DestinationStream} options.stream
 */
export const logTo = ({ level, log = 'text', color = false, stream }) => {
  // Commands without a log, such as help and reports, start 50 ms sooner.
  /** @type {typeof import('pino')} */
  const { pino } = require('pino')
  if (log === 'json') return pino({ level, base: undefined }, stream)
  return pino({ level, base: undefined }, { write: (line) => stream.write(plainLine(line, color)) })
}
