// Letters that mean something else here than in redis-cli, redis-benchmark and memtier: obeyed, but not in silence.

/** @import { Typed } from './command-line.js' */

// Ports that people type, as -p without a unit; beside a --host without --port any uneven number may be one.
const isPort = (/** @type {string} */ text, /** @type {boolean} */ lacksPort) =>
  /^(63[789]\d|26379)$/.test(text) ||
  (lacksPort && /^\d{4,5}$/.test(text) && Number(text) % 50 !== 0 && Number(text) < 65_536)

/**
 * @param {Typed} typed
 * @returns {string[]} a sentence each
 */
export const cautionsIn = ({ options }) => {
  const text = (/** @type {string} */ name) => options.get(name)?.text
  const isShort = (/** @type {string} */ name) => /^-[^-]/.test(options.get(name)?.named ?? '')
  const period = text('period') ?? ''
  const agents = Number(text('total-agents') ?? 1)
  // The other boxes of a fleet are there too.
  const isAlone = !options.has('control')
  const hasAddress = ['host', 'url', 'port'].some((name) => options.has(name))
  return [
    isShort('period') && isPort(period, options.has('host') && !options.has('port'))
      ? [
          `-p ${period} is a period of ${Number(period) / 1000} s; the port is --port ${period} (-p ${period}ms means the period, without this warning)`,
        ]
      : [],
    isAlone &&
    hasAddress &&
    isShort('chunks') &&
    isShort('total-agents') &&
    agents > 1 &&
    !options.has('agent')
      ? [
          `-t ${agents}: this process is one of ${agents} writers and writes 1/${agents} of the items (-a all: everything); -t and -c are not threads and clients here`,
        ]
      : [],
  ].flat()
}
