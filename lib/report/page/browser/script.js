// Runs in the page of a report: charts, their legends, the order of tables, light and dark. The modules that it
// imports come before it there, so the page's script is one piece and needs no other file.
import { element, elementById } from './element.js'
import { chartIn } from './figures.js'
import { themed } from './theme.js'

/** @import { Library } from './figures.js' */

/** echarts lies packed in the page; the policy knows the hash of what comes out. @returns {Promise<Library>} */
const unpackedEcharts = async () => {
  const packed = Uint8Array.from(atob(elementById('echarts').textContent ?? ''), (sign) => sign.charCodeAt(0))
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  document.head.append(element('script', { textContent: await new Response(stream).text() }))
  return /** @type {{ echarts: Library }} */ (/** @type {unknown} */ (window)).echarts
}

/** Orders a table by the column of its button; once more turns it round. @param {HTMLTableElement} table */
const sortable = (table) => {
  const body = table.tBodies[0]
  const heads = [.../** @type {HTMLTableSectionElement} */ (table.tHead).rows[0].cells]
  heads.forEach((head, column) => {
    head.querySelector('button')?.addEventListener('click', () => {
      const up = head.ariaSort !== 'ascending'
      for (const other of heads) other.removeAttribute('aria-sort')
      head.ariaSort = up ? 'ascending' : 'descending'
      const key = (/** @type {HTMLTableRowElement} */ row) =>
        row.cells[column].dataset.sort ?? row.cells[column].textContent ?? ''
      const compare = (/** @type {string} */ a, /** @type {string} */ b) => {
        if (a === '' || b === '') return a === b ? 0 : a === '' ? (up ? 1 : -1) : up ? -1 : 1
        return Number.isNaN(Number(a)) || Number.isNaN(Number(b))
          ? a.localeCompare(b, 'en', { numeric: true })
          : Number(a) - Number(b)
      }
      const rows = [...body.rows].sort((a, b) => compare(key(a), key(b)) * (up ? 1 : -1))
      body.append(...rows)
    })
  })
}

for (const table of document.querySelectorAll('table')) sortable(table)
const charts = JSON.parse(elementById('charts').textContent ?? '[]')
/** @type {HTMLElement[]} */
const figures = [...document.querySelectorAll('figure')]
const echarts = figures.length > 0 ? await unpackedEcharts() : null
themed(
  echarts ? figures.map((figure) => chartIn(echarts, figure, charts[Number(figure.dataset.chart)]).draw) : [],
)
document.documentElement.dataset.ready = 'true'
