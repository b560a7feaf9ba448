// A report as one page that needs nothing else: no network, no other file.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { partedAtOptions } from '../../base/units.js'
import { canDraw, libraryPath } from '../draw.js'
import { html, markup, scriptData } from './html.js'

/**
 * @import { NamedPicture } from '../charts.js'
 * @import { Sections, Table } from '../cells.js'
 * @import { Markup } from './html.js'
 */

const packed = promisify(gzip)

/** @param {string} name beside this file */
const source = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')

/** A module behind those that it imports, each once. @param {URL} url @param {Set<string>} seen @returns {string[]} */
const withImports = (url, seen = new Set()) => {
  if (seen.has(url.href)) return []
  seen.add(url.href)
  const text = readFileSync(url, 'utf8')
  const before = [...text.matchAll(/^import .* from '(\..*)'$/gm)]
  return [...before.flatMap(([, path]) => withImports(new URL(path, url), seen)), text]
}

/** The modules of the page as one. */
const pageScript = () =>
  withImports(new URL('browser/script.js', import.meta.url))
    .join('\n')
    .replace(/^import .*\n/gm, '')
    .replace(/^export /gm, '')

/** @param {string} text */
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** @type {{ hash: string, packing: Promise<Buffer> } | undefined} */
let echarts

/** The library of the charts, packed once for all pages that this process writes. */
const packedCharts = () => {
  if (echarts) return echarts
  const text = readFileSync(libraryPath(), 'utf8')
  echarts = { hash: hashOf(text), packing: packed(text, { level: 9 }) }
  return echarts
}

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
const tableSection = (table) => html`<section><h2>${table.title}</h2>
${table.note && html`<p class="note">${table.note}</p>`}${tableOf(table)}</section>`

/**
 * Bars need half of a wide page, lines all of it.
 * @param {NamedPicture} picture
 * @param {number} at among the page's charts
 */
const figureOf = (
  { title, note, option, wide },
  at,
) => html`<figure class="${option.yAxis.type === 'category' && !wide ? 'bars' : 'wide'}" data-chart="${at}">
<figcaption><h2>${title}</h2><p class="note">${note}</p></figcaption>
<div class="legend" role="group" aria-label="Series of ${title}"></div>
<div class="chart" role="img" aria-label="${title}: ${note}"></div></figure>`

/**
 * What is folded, under its titles.
 * @param {{ fold: string, body: Markup, isFigure: boolean }[]} parts in the order of their folds
 */
const foldsOf = (parts) =>
  [...new Set(parts.map(({ fold }) => fold))].map((fold) => {
    const own = parts.filter((part) => part.fold === fold)
    const figures = own.filter(({ isFigure }) => isFigure).map(({ body }) => body)
    const tables = own.filter(({ isFigure }) => !isFigure).map(({ body }) => body)
    return html`<details><summary>${fold}</summary>
${tables}${figures.length > 0 && html`<div class="charts">${figures}</div>`}</details>
`
  })

/** Keeps a number on one line with its unit. @param {string} text */
const unbroken = (text) => text.replace(/(?<=\d) (?=(?:[mµ]?s|%|[kMGT]?B|items)(?![\w]))/g, '\u00a0')

/** Keeps options on one line. @param {string} text */
const prose = (text) =>
  partedAtOptions(unbroken(text)).map((part, at) =>
    at % 2 === 1 ? html`<span class="option">${part}</span>` : part,
  )

/** @param {{ label: string, text: string }[]} pairs */
const definitions = (pairs) =>
  pairs.map(({ label, text }) => html`<div><dt>${label}</dt><dd>${text}</dd></div>`)

/** @param {{ text: string, serious: boolean }[]} warnings */
const warningList = (warnings) =>
  warnings.length > 0 &&
  html`<ul class="warnings">${warnings.map(({ text, serious }) => html`<li${serious && markup(' class="serious"')}>${prose(text)}</li>`)}</ul>`

/** Numbers of a run that broke a limit are as good as others. @param {Sections['verdict']} verdict */
const isStale = ({ good, isQuotable = good }) => !isQuotable

/** @param {Sections} sections */
const tilesOf = ({ highlights, verdict }) =>
  highlights.length > 0 &&
  html`<dl class="highlights${isStale(verdict) && ' stale'}"${isStale(verdict) && markup(' title="Not to be quoted: the run is not valid"')}>${definitions(highlights)}</dl>`

export const capital = (/** @type {string} */ text) =>
  /^\w+[=.]/.test(text) ? text : text.slice(0, 1).toUpperCase() + text.slice(1)

/** @param {{ label: string, text: string }[]} rows */
const rowsOf = (rows) =>
  rows.length > 0 &&
  html`<dl class="facts">${rows.map(({ label, text }) => html`<dt>${label}</dt><dd>${prose(text)}</dd>`)}</dl>`

/**
 * The answer first: the verdict and its reasons, the tiles, one picture, what else was found; then what is folded.
 * @param {Sections} sections
 * @param {NamedPicture[]} pictures of the page
 */
const mainOf = (sections, pictures) => {
  const { verdict, facts, tables, warnings, remarksLast, answer, question, repeat } = sections
  const figures = pictures.map((picture, at) => ({
    fold: picture.fold ?? '',
    body: figureOf(picture, at),
    isFigure: true,
  }))
  const shownTables = tables.map((table) => ({
    fold: table.fold ?? '',
    body:
      table.fold === table.title
        ? html`${table.note && html`<p class="note">${table.note}</p>`}${tableOf(table)}`
        : tableSection(table),
    isFigure: false,
  }))
  const open = (/** @type {typeof figures} */ parts) =>
    parts.filter(({ fold }) => fold === '').map(({ body }) => body)
  const [first, ...others] = open(figures)
  const early = remarksLast ? warnings.filter(({ serious }) => serious) : warnings
  return html`<p class="verdict${verdict.good ? verdict.neutral && ' neutral' : ' bad'}"><strong>${verdict.word}.</strong> ${prose(capital(verdict.sentence))}</p>
${answer && html`<p class="question">${prose(question)}</p>`}
${warningList(early)}
${tilesOf(sections)}
${pictures.length > 0 && html`<noscript><p class="note">The charts need scripts; as SVG they are beside this page.</p></noscript>`}
${first && html`<div class="charts">${first}</div>`}
${rowsOf(answer ? [...answer, ...(repeat ? [{ label: 'run it again', text: repeat }] : [])] : facts)}
${others.length > 0 && html`<div class="charts">${others}</div>`}
${warningList(warnings.filter((warning) => !early.includes(warning)))}
${open(shownTables)}
${answer && html`<details><summary>Plan, target and load generator</summary>${rowsOf(facts)}</details>`}
${foldsOf([...figures, ...shownTables].filter(({ fold }) => fold !== ''))}`
}

/** @param {Sections} sections @param {NamedPicture[]} all @param {string} version of Millrace @returns {Promise<string>} */
export const pageOf = async (sections, all, version) => {
  const { title, question } = sections
  const pictures = canDraw() ? all.filter(({ inOverview }) => !inOverview) : []
  const style = source('style.css')
  const script = pageScript()
  const library = pictures.length > 0 ? packedCharts() : null
  // Nothing may be fetched, and only scripts of this page may run.
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}${library ? ` ${library.hash}` : ''}`,
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
<header><div><h1>${title}</h1>${!sections.answer && html`<p class="question">${prose(question)}</p>`}</div><button id="theme" type="button">Dark</button></header>
<main>
${mainOf(sections, pictures)}
</main>
<footer>Millrace ${version}</footer>
<script type="application/json" id="charts">${scriptData(pictures.map(({ option }) => option))}</script>
${library && html`<script type="application/octet-stream" id="echarts">${markup((await library.packing).toString('base64'))}</script>`}
<script type="module">${markup(script)}</script>
</body>
</html>
`}`
}
