// Letters that mean something else here than in redis-cli, redis-benchmark and memtier: obeyed, but not in silence.

// Ports that people type, as -p without a unit.
const isPort = (/** @type {string} */ text) => /^(63[789]\d|26379)$/.test(text)

/**
 * @param {import('./command-line.js').Typed} typed
 * @returns {string[]} a sentence each
 */
export const cautionsIn = ({ options }) => {
  const text = (/** @type {string} */ name) => options.get(name)?.text
  const isShort = (/** @type {string} */ name) => /^-[^-]/.test(options.get(name)?.named ?? '')
  const period = text('period') ?? ''
  const agents = Number(text('total-agents') ?? 1)
  const hasAddress = ['host', 'url', 'port'].some((name) => options.has(name))
  return [
    isShort('period') && isPort(period)
      ? [
          `-p ${period} is a period of ${Number(period) / 1000} s; the port is --port ${period} (-p ${period}ms means the period, without this warning)`,
        ]
      : [],
    hasAddress && isShort('chunks') && isShort('total-agents') && agents > 1 && !options.has('agent')
      ? [
          `-t ${agents}: this process is one of ${agents} writers and writes 1/${agents} of the items (-a all: everything); -t and -c are no threads and clients here`,
        ]
      : [],
  ].flat()
}
