// --metrics: the live metrics, for Prometheus to ask for. Nothing of them is loaded without the option.
import { createServer } from 'node:http'
import { OptionError } from '../base/errors.js'
import { listenReasons } from '../servers/reason.js'

/** @import { Line } from '../measures/fold.js' */

const lastAnswerMs = 500

/**
 * @typedef {{ host: string, port: number }} Listener
 * @typedef {{ interval: (line: Line) => void }} Lines
 */

/** @param {Listener} listener */
const shownAddress = ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Listens, or says why it cannot.
 * @param {Listener} listener
 * @param {() => Promise<{ type: string, text: string }>} figures
 */
const listening = async (listener, figures) => {
  const server = createServer(async ({ method, url }, response) => {
    const [asked] = (url ?? '/').split('?', 1)
    if (asked !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('the figures are at /metrics\n')
      return
    }
    const { type, text } = await figures()
    response.writeHead(200, { 'content-type': type }).end(method === 'HEAD' ? undefined : text)
  })
  await new Promise((resolve, reject) => {
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      const why = listenReasons[error.code ?? ''] ?? error.code
      reject(new OptionError(`--metrics ${shownAddress(listener)}: ${why}`, { cause: error }))
    })
    server.listen({ ...listener, exclusive: true }, () => resolve(undefined))
  })
  return server
}

/**
 * @typedef {ReturnType<typeof import('../report/metrics.js').metricsOf>} Metrics
 * @typedef {Parameters<typeof import('../report/metrics.js').metricsOf>[0]} About
 */

/**
 * Prometheus asks for the metrics, where there is a listener.
 * @param {Listener | undefined} listener
 * @param {{ say: (line: string) => void, redact: (text: string) => string }} needs
 */
export const openMetrics = async (listener, { say, redact }) => {
  if (listener === undefined)
    return {
      /** @template {Lines} R @param {R} results @returns {R} */ watching: (results) => results,
      close: async () => {},
    }
  const { metricsOf } = await import('../report/metrics.js')
  /** @type {Metrics | null} */
  let metrics = null
  const server = await listening(listener, async () => ({
    type: metrics?.registry.contentType ?? 'text/plain',
    text: redact((await metrics?.registry.metrics()) ?? ''),
  }))
  say(`metrics on http://${shownAddress(listener)}/metrics`)
  return {
    /**
     * The results, with every line in the metrics as well.
     * @template {Lines} R
     * @param {R} results
     * @param {About} about
     * @returns {R}
     */
    watching(results, about) {
      const own = metricsOf(about)
      metrics = own
      return {
        ...results,
        interval: (line) => {
          results.interval(line)
          own.take(line)
        },
      }
    },
    /** An answer under way is not cut off. @returns {Promise<void>} */
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(undefined))
        server.closeIdleConnections()
        setTimeout(() => server.closeAllConnections(), lastAnswerMs).unref()
      }),
  }
}
