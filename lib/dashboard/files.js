// The files of the live page, read once: the page, and every module that its script imports, directly or not. No other file
// of this machine is served.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LIVE_CHARTS } from '../../charts/live.js'
import { millraceVersion } from '../base/version.js'
import { canDraw, libraryPath } from '../report/draw.js'
import { html } from '../report/page/html.js'

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
${tableOf('boxes', 'Boxes', 'The processes that make the load. CPU and the sending thread are in percent of one core.')}
${tableOf('nodes', 'Nodes', 'Of the last second. CPU in percent of one core: engine is the main thread, process all threads.')}
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
