// The log: stderr, pretty on a terminal, lines of JSON elsewhere. stdout is for results.
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { build } from 'pino-pretty'

/**
 * @param {object} options
 * @param {string} options.level
 * @param {boolean} options.isTTY
 * @param {import('pino').DestinationStream} options.stream
 */
export const logTo = ({ level, isTTY, stream }) => {
  if (!isTTY) return pino({ level, base: undefined }, stream)
  const destination = new Writable({
    write(chunk, _, done) {
      stream.write(String(chunk))
      done()
    },
  })
  const pretty = build({
    destination,
    ignore: 'pid,hostname',
    translateTime: 'HH:MM:ss',
    colorize: true,
    sync: true,
  })
  return pino({ level, base: undefined }, pretty)
}
