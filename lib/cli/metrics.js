// --metrics and --otlp: the live metrics, for Prometheus to ask for and for a collector of OpenTelemetry to be sent.
// Nothing of either is loaded without its option.
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { OptionError } from '../base/errors.js'
import { needPackagesOf } from '../base/optional-packages.js'
import { period, plainText } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { listenReasons } from './listen-reasons.js'

/** @import { Warning } from '../measures/warnings.js' */

const lastAnswerMs = 500

/**
 * @typedef {{ host: string, port: number }} Listener
 * @typedef {{ interval: (line: any) => void }} Lines
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

// As often as collectors are asked by default, and at the end.
const sendEveryMs = 10_000

/**
 * Sends the metrics now and then, and once more at the end. A collector that does not take them is reported once.
 * @param {typeof import('../report/otlp.js').otlpOf} otlpOf
 * @param {{ url: string, metrics: Metrics, run: string } & Pick<Needs, 'redact' | 'warn'>} about
 */
const sending = (otlpOf, { url, metrics, run, redact, warn }) => {
  const otlp = otlpOf({
    url,
    run,
    version: millraceVersion(),
    metrics: async () => JSON.parse(redact(JSON.stringify(await metrics.registry.getMetricsAsJSON()))),
    epochMs: Date.now,
  })
  let hasFailed = false
  const send = async () => {
    const error = await otlp.send()
    if (!error || hasFailed) return
    hasFailed = true
    const message = `--otlp ${url}: the metrics were not taken: ${plainText(error.message || String(error))}`
    warn({ code: 'otlp', message, invalidates: false })
  }
  const timer = setInterval(send, sendEveryMs)
  return async () => {
    clearInterval(timer)
    await send()
    await otlp.close()
  }
}

/**
 * @typedef {ReturnType<typeof import('../report/metrics.js').metricsOf>} Metrics
 * @typedef {Parameters<typeof import('../report/metrics.js').metricsOf>[0]} About
 *
 * @typedef {object} Needs
 * @property {(line: string) => void} say
 * @property {(warning: Warning) => void} warn
 * @property {(text: string) => string} redact
 * @property {AbortSignal} stop
 */

/**
 * Prometheus asks for the metrics, or a collector is sent them, or both.
 * @param {{ metrics?: Listener, otlp?: string, metricsLingerMs: number }} settings metricsLingerMs: how long a last
 *   scrape is waited for
 * @param {Needs} needs
 */
export const openMetrics = async (settings, { say, warn, redact, stop }) => {
  const { metrics: listener, otlp: url, metricsLingerMs: lingerMs } = settings
  if (listener === undefined && url === undefined)
    return {
      /** @template {Lines} R @param {R} results @returns {R} */ watching: (results) => results,
      close: async () => {},
    }
  const { metricsOf } = await import('../report/metrics.js')
  if (url !== undefined) needPackagesOf('--otlp')
  const otlpOf = url === undefined ? null : (await import('../report/otlp.js')).otlpOf
  /** @type {Metrics | null} */
  let metrics = null
  let endSending = async () => {}
  const scraped = new EventEmitter()
  const server =
    listener &&
    (await listening(listener, async () => {
      const text = redact((await metrics?.registry.metrics()) ?? '')
      scraped.emit('scrape')
      return { type: metrics?.registry.contentType ?? 'text/plain', text }
    }))
  if (listener) say(`metrics on http://${shownAddress(listener)}/metrics`)
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
      if (otlpOf && url) endSending = sending(otlpOf, { url, metrics: own, run: about.run, redact, warn })
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
      await endSending()
      if (!server) return
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
