// --metrics: the live figures over HTTP, for Prometheus. Nothing of it is loaded without the option.
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { period } from '../base/units.js'
import { OptionError } from '../errors.js'

const lastAnswerMs = 500

/**
 * @typedef {{ host: string, port: number }} Listener
 * @typedef {{ interval: (line: any) => void }} Lines
 */

const reasons = /** @type {Record<string, string>} */ ({
  EADDRINUSE: 'the port is taken',
  EACCES: 'this user may not open that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no such name',
})

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
      const why = reasons[error.code ?? ''] ?? error.code
      reject(new OptionError(`--metrics ${shownAddress(listener)}: ${why}`, { cause: error }))
    })
    server.listen({ ...listener, exclusive: true }, () => resolve(undefined))
  })
  return server
}

/**
 * @param {Listener | undefined} listener undefined: no metrics
 * @param {{ say: (line: string) => void, redact: (text: string) => string, stop: AbortSignal, lingerMs: number }} needs
 *   lingerMs: how long a last scrape is waited for
 */
export const openMetrics = async (listener, { say, redact, stop, lingerMs }) => {
  if (listener === undefined)
    return {
      /** @template {Lines} R @param {R} results @returns {R} */ watching: (results) => results,
      close: async () => {},
    }
  const { metricsOf } = await import('../report/metrics.js')
  /** @type {ReturnType<typeof metricsOf> | null} */
  let metrics = null
  const scraped = new EventEmitter()
  const server = await listening(listener, async () => {
    const text = redact((await metrics?.registry.metrics()) ?? '')
    scraped.emit('scrape')
    return { type: metrics?.registry.contentType ?? 'text/plain', text }
  })
  say(`metrics on http://${shownAddress(listener)}/metrics`)
  return {
    /**
     * The results, with every line shown to Prometheus as well.
     * @template {Lines} R
     * @param {R} results
     * @param {Parameters<typeof metricsOf>[0]} about
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
    /** After a last scrape, where one is waited for. @returns {Promise<void>} */
    async close() {
      if (metrics && lingerMs > 0 && !stop.aborted) {
        say(`metrics are served for ${period(lingerMs)} more, or until they are read once`)
        const signal = AbortSignal.any([stop, AbortSignal.timeout(lingerMs)])
        await once(scraped, 'scrape', { signal }).catch(() => {})
      }
      await new Promise((resolve) => {
        server.close(() => resolve(undefined))
        // An answer under way is not cut off.
        server.closeIdleConnections()
        setTimeout(() => server.closeAllConnections(), lastAnswerMs).unref()
      })
    },
  }
}
