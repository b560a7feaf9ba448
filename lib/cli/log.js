// The log: stderr, pretty on a terminal, lines of JSON elsewhere. stdout is for results.
import { createRequire } from 'node:module'
import { Writable } from 'node:stream'
import { wrapped } from '../base/layout.js'
import { plainText } from '../base/units.js'

/** @import { DestinationStream } from 'pino' */

const require = createRequire(import.meta.url)

// '[12:34:56] INFO: '
const indent = 17

/**
 * A line of the log: on a terminal as narrow as it, behind its time and level.
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

/**
 * @param {object} options
 * @param {string} options.level
 * @param {boolean} options.isTTY
 * @param {DestinationStream} options.stream
 */
export const logTo = ({ level, isTTY, stream }) => {
  // Commands without a log, such as help and reports, start 50 ms sooner.
  const { pino } = /** @type {typeof import('pino')} */ (require('pino'))
  if (!isTTY) return pino({ level, base: undefined }, stream)
  // Loaded only for a terminal: a run without one starts 10 ms sooner.
  const { build } = /** @type {typeof import('pino-pretty')} */ (require('pino-pretty'))
  const destination = new Writable({
    write(chunk, _, done) {
      stream.write(String(chunk))
      done()
    },
  })
  const pretty = build({
    destination,
    ignore: 'pid,hostname,code,kind',
    translateTime: 'HH:MM:ss',
    colorize: true,
    sync: true,
  })
  return pino({ level, base: undefined }, pretty)
}
