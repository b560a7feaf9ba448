// A report as one page that needs nothing else: no network, no other file.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { bundlePath } from '../draw.js'
import { html, markup, scriptData } from './html.js'

/**
 * @typedef {import('../sections.js').Sections} Sections
 * @typedef {import('../sections.js').Table} Table
 * @typedef {import('../charts.js').NamedPicture} NamedPicture
 */

const packed = promisify(gzip)

/** @param {string} name beside this file */
const source = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The modules of the page as one: what they import of each other stands in front of them. */
const pageScript = () =>
  ['../../base/units.js', '../look.js', 'script.js']
    .map(source)
    .join('\n')
    .replace(/^import .*\n/gm, '')
    .replace(/^export /gm, '')

/** @param {string} text */
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** @param {Table} table */
const tableOf = ({
  title: what,
  columns,
  rows,
}) => html`<div class="scroll" role="region" aria-label="${what}" tabindex="0"><table>
<thead><tr>${columns.map(
  ({ title, left }) =>
    html`<th scope="col"${left && markup(' class="left"')}>${title && html`<button type="button">${title}</button>`}</th>`,
)}</tr></thead>
<tbody>${rows.map(
  (row) => html`<tr>${row.map(({ text, detail, sort, link }, at) => {
    const left = columns[at].left && markup(' class="left"')
    const order = sort !== undefined && html` data-sort="${sort ?? ''}"`
    return html`<td${left}${order}>${link ? html`<a href="${encodeURI(link)}">${text}</a>` : text}${detail && html`<small>${detail}</small>`}</td>`
  })}</tr>
`,
)}</tbody></table></div>`

/** @param {Table} table */
const tableSection = (table) => {
  const note = table.note && html`<p class="note">${table.note}</p>`
  return table.more
    ? html`<details><summary>${table.title}</summary>${note}${tableOf(table)}</details>`
    : html`<section><h2>${table.title}</h2>${note}${tableOf(table)}</section>`
}

/** Bars need half of a wide page, lines all of it. @param {NamedPicture} picture */
const figureOf = ({
  title,
  note,
  option,
  wide,
}) => html`<figure class="${option.yAxis.type === 'category' && !wide ? 'bars' : 'wide'}">
<figcaption><h2>${title}</h2><p class="note">${note}</p></figcaption>
<div class="legend" role="group" aria-label="Series of ${title}"></div>
<div class="chart" role="img" aria-label="${title}: ${note}"></div></figure>`

/** A number keeps its unit on its line. @param {string} text */
const unbroken = (text) => text.replace(/(?<=\d) (?=(?:[mµ]?s|%|[kMGT]?B|items)(?![\w]))/g, '\u00a0')

/** @param {{ label: string, text: string }[]} pairs */
const definitions = (pairs) =>
  pairs.map(({ label, text }) => html`<div><dt>${label}</dt><dd>${text}</dd></div>`)

/**
 * @param {Sections} sections
 * @param {NamedPicture[]} pictures
 * @param {string} version of Millrace
 * @returns {Promise<string>}
 */
export const pageOf = async (sections, pictures, version) => {
  const { title, question, verdict, highlights, facts, tables, warnings, chartsFirst } = sections
  const first = tables.filter(({ more }) => !more).map(tableSection)
  const charts = html`<noscript><p class="note">The charts need scripts; as SVG they are beside this page.</p></noscript>
<div class="charts">${pictures.map(figureOf)}</div>`
  const style = source('style.css')
  const script = pageScript()
  const echarts = readFileSync(bundlePath(), 'utf8')
  const packing = packed(echarts, { level: 9 })
  // Nothing may be fetched, and only what was written here may run.
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)} ${hashOf(echarts)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `${html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${markup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${markup(style)}</style>
</head>
<body>
<header><div><h1>${title}</h1><p class="question">${question}</p></div><button id="theme" type="button">Dark</button></header>
<main>
<p class="verdict${!verdict.good && ' bad'}"><strong>${verdict.word}.</strong> ${verdict.sentence}</p>
${
  warnings.length > 0 &&
  html`<ul class="warnings">${warnings.map(({ text, serious }) => html`<li${serious && markup(' class="serious"')}>${text}</li>`)}</ul>`
}
${highlights.length > 0 && html`<dl class="highlights">${definitions(highlights)}</dl>`}
<dl class="facts">${facts.map(({ label, text }) => html`<dt>${label}</dt><dd>${unbroken(text)}</dd>`)}</dl>
${chartsFirst ? [charts, ...first] : [...first, charts]}
${tables.filter(({ more }) => more).map(tableSection)}
</main>
<footer>Millrace ${version}</footer>
<script type="application/json" id="charts">${scriptData(pictures.map(({ option }) => option))}</script>
<script type="application/octet-stream" id="echarts">${markup((await packing).toString('base64'))}</script>
<script type="module">${markup(script)}</script>
</body>
</html>
`}`
}
