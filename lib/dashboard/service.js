// The live page over HTTP: the page, its modules, and a stream of server-sent events. It is read-only, and needs the token
// in its address. A reader that stops reading is disconnected.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LIVE_CHARTS } from '../../charts/live.js'
import { millraceVersion } from '../base/version.js'
import { canDraw, libraryPath } from '../report/draw.js'
import { html } from '../report/page/html.js'
import { portOf } from '../servers/address.js'

/**
 * @import { ServerResponse as Response } from 'node:http'
 *
 * @typedef {{ host: string, port: number }} Listener port 0: any that is free
 *
 * @typedef {object} Limits
 * @property {number} viewers pages that are open at the same time
 * @property {number} stalledMs a reader that takes nothing for this time is disconnected
 * @property {number} askMs a connection that has not asked by then is closed
 * @property {number} connections of pages that are open, and of those that only ask
 */

// The files of the live page, read once: the page, and every module that its script imports, directly or not. No other file
// of this machine is served.

/** @typedef {Map<string, { type: string, text: string }>} Files by their path behind the token */

const projectFolder = fileURLToPath(new URL('../..', import.meta.url))
const script = 'lib/report/page/browser/live.js'
const javascript = 'text/javascript; charset=utf-8'
const imported = /^(?:import|export) [^'"]*?from '(\.[^']+)'|^import '(\.[^']+)'|^} from '(\.[^']+)'/gm

/** @param {string} path of a module @param {Files} files that gets it and all that it imports */
const addModule = (path, files) => {
  if (files.has(path)) return
  const text = readFileSync(`${projectFolder}/${path}`, 'utf8')
  files.set(path, { type: javascript, text })
  for (const [, one, two, three] of text.matchAll(imported))
    addModule(posix.join(posix.dirname(path), one ?? two ?? three), files)
}

/** @param {(typeof LIVE_CHARTS)[number]} chart */
const figureOf = ({
  name,
  title,
  note,
}) => html`<figure class="wide" id="figure-${name}" hidden><figcaption><h2>${title}</h2><p class="note">${note}</p></figcaption>
<div class="legend" role="group" aria-label="Series of ${title}"></div>
<div class="chart" role="img" aria-label="${title}: ${note}"></div></figure>`

/** @param {string} id @param {string} title @param {string} [note] */
const tableOf = (
  id,
  title,
  note,
) => html`<section id="${id}" hidden><h2>${title}</h2>${note && html`<p class="note">${note}</p>`}
<div class="scroll" role="region" aria-label="${title}" tabindex="0"><table><thead></thead><tbody></tbody></table></div></section>`

/** The page before its first message: places that its script fills. @param {{ script: string, draws: boolean }} page draws: the library of the charts is installed */
const livePage = ({ script, draws }) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Millrace, live</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
${draws && html`<script src="echarts.js" defer></script>`}
<script type="module" src="${script}"></script>
</head>
<body>
<header><div><h1 id="title">Millrace, live</h1><p class="question" id="question"></p></div><button id="theme" type="button">Dark</button></header>
<main>
<noscript><p class="note">This page needs scripts.</p></noscript>
<p class="verdict neutral" id="state" role="status"><strong>Connecting.</strong> <span></span></p>
<ul class="warnings" id="warnings" hidden></ul>
<dl class="highlights" id="tiles" hidden></dl>
${draws ? html`<div class="charts">${LIVE_CHARTS.map(figureOf)}</div>` : html`<p class="note">No pictures: echarts is not installed, which is optional.</p>`}
${tableOf('boxes', 'Boxes', 'The processes that make the load, in the last whole second. CPU and the sending thread are in percent of one core.')}
${tableOf('nodes', 'Nodes', 'Of the last whole second. CPU in percent of one core: engine is the main thread, process all threads.')}
${tableOf('events', 'Events')}
</main>
<footer>Millrace ${millraceVersion()} · read only · older seconds are merged; percentiles of merged seconds are at most 4.5 % too high</footer>
</body>
</html>
`

/** @returns {Files} */
export const dashboardFiles = () => {
  /** @type {Files} */
  const files = new Map()
  addModule(script, files)
  const style = readFileSync(`${projectFolder}/lib/report/page/style.css`, 'utf8')
  files.set('style.css', { type: 'text/css; charset=utf-8', text: style })
  if (canDraw()) files.set('echarts.js', { type: javascript, text: readFileSync(libraryPath(), 'utf8') })
  files.set('', { type: 'text/html; charset=utf-8', text: String(livePage({ script, draws: canDraw() })) })
  return files
}

/** @type {Limits} */
const usualLimits = { viewers: 32, stalledMs: 10_000, askMs: 10_000, connections: 256 }
const lastAnswerMs = 300

// Nothing from other origins, nothing inline, and no embedding in other pages.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:', // an empty icon
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
}

const digest = (/** @type {string} */ text) => createHash('sha256').update(text).digest()

/**
 * Whether a request names this machine itself, or has an address. A foreign page whose name was made to resolve to this
 * machine (DNS rebinding) has another name.
 * @param {string | undefined} header Host
 * @param {string} listening
 */
export const isOwnHost = (header, listening) => {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(header ?? '') ?? []
  const name = (bracketed ?? plain ?? '').toLowerCase()
  return isIP(name) > 0 || [listening.toLowerCase(), 'localhost', hostname().toLowerCase()].includes(name)
}

/** Pages that are open. @param {Limits} limits */
const viewersOf = ({ viewers: most, stalledMs }) => {
  /** @type {Map<Response, { waitsSinceMs: number | null }>} */
  const viewers = new Map()
  let cut = 0
  const drop = (/** @type {Response} */ response) => {
    viewers.delete(response)
    response.destroy()
  }
  /** @param {Response} response @param {{ waitsSinceMs: number | null }} viewer @param {number} nowMs */
  const hasStalled = (response, viewer, nowMs) => {
    if (response.writableLength === 0) viewer.waitsSinceMs = null
    else viewer.waitsSinceMs ??= nowMs
    return viewer.waitsSinceMs !== null && nowMs - viewer.waitsSinceMs >= stalledMs
  }
  return {
    isFull: () => viewers.size >= most,
    count: () => viewers.size,
    cut: () => cut,
    /** @param {Response} response @param {string} whole */
    add(response, whole) {
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
      viewers.set(response, { waitsSinceMs: null })
      response.on('close', () => viewers.delete(response))
      response.write(whole)
    },
    /** @param {string} frame */
    send(frame) {
      const bytes = Buffer.from(frame)
      const nowMs = performance.now()
      for (const [response, viewer] of viewers) {
        if (hasStalled(response, viewer, nowMs)) {
          cut++
          drop(response)
        } else response.write(bytes)
      }
    },
    end() {
      for (const response of viewers.keys()) response.end()
    },
  }
}

const frameOf = (/** @type {object} */ message) => `data: ${JSON.stringify(message)}\n\n`

/**
 * @param {object} needs
 * @param {Listener} needs.listener
 * @param {() => object} needs.whole the state that a new page needs
 * @param {Partial<Limits>} [needs.limits]
 */
export const dashboardService = async ({ listener, whole, limits }) => {
  const token = randomBytes(16).toString('base64url')
  const expected = digest(token)
  const files = dashboardFiles()
  const most = { ...usualLimits, ...limits }
  const viewers = viewersOf(most)

  /** @param {Response} response @param {number} status @param {string} text */
  const refuse = (response, status, text) =>
    response.writeHead(status, { ...headers, 'content-type': 'text/plain' }).end(`${text}\n`)

  const times = {
    requestTimeout: most.askMs,
    headersTimeout: most.askMs,
    connectionsCheckingInterval: most.askMs / 4,
  }
  const server = createServer(times, (request, response) => {
    const { method, url = '', headers: asked } = request
    if (!isOwnHost(asked.host, listener.host))
      return refuse(response, 403, 'this page has another host: use the address in the log of the run')
    if (method !== 'GET' && method !== 'HEAD') return refuse(response, 405, 'this page can only be read')
    const [, first = '', path] = /^\/([^/?]*)(?:\/([^?]*))?/.exec(url) ?? []
    if (!timingSafeEqual(digest(first), expected) || path === undefined)
      return refuse(response, 404, 'the address of the live page is in the log of the run')
    if (path === 'events') {
      if (viewers.isFull()) return refuse(response, 503, 'too many pages are open')
      return viewers.add(response, `retry: 1000\n${frameOf(whole())}`)
    }
    const file = files.get(path)
    if (!file) return refuse(response, 404, 'no such file')
    const { type, text } = file
    response.writeHead(200, { ...headers, 'content-type': type, 'content-length': Buffer.byteLength(text) })
    response.end(method === 'HEAD' ? undefined : text)
  })
  server.maxConnections = most.connections
  await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...listener, exclusive: true }, () => resolve(undefined))
  })
  const port = portOf(server)
  return {
    port,
    token,
    viewers: viewers.count,
    cut: viewers.cut,
    /** @param {object} message for all pages */
    send: (message) => viewers.send(frameOf(message)),
    /** Waits a moment for sent messages to arrive. */
    async close() {
      viewers.end()
      await new Promise((resolve) => {
        server.close(() => resolve(undefined))
        server.closeIdleConnections()
        setTimeout(() => server.closeAllConnections(), lastAnswerMs).unref()
      })
    },
  }
}

/** @typedef {Awaited<ReturnType<typeof dashboardService>>} DashboardService */
