// Runs in the page: charts, their legends, the order of tables, light and dark. units.js and look.js stand in front
// of it there, so the page's script is one piece and needs no other file.
import { drawn, placedLabels } from '../look.js'

const root = document.documentElement
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id))
const theme = () =>
  /** @type {'light' | 'dark'} */ (root.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light'))

/** @param {string} tag @param {Record<string, any>} [given] @param {...(Node | string)} children */
const element = (tag, given = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), given)
  made.append(...children)
  return made
}

/** echarts lies packed in the page; the policy knows the hash of what comes out. @returns {Promise<any>} */
const unpackedEcharts = async () => {
  const packed = Uint8Array.from(atob(byId('echarts').textContent ?? ''), (sign) => sign.charCodeAt(0))
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  document.head.append(element('script', { textContent: await new Response(stream).text() }))
  return /** @type {any} */ (window).echarts
}

/** What stands beside the pointer: built of text, never of markup. @param {any} option */
const tooltipFormatter = (option) => (/** @type {any} */ points) => {
  // One point, or all of an axis.
  const shown = [points]
    .flat()
    .filter(({ seriesName, value }) => seriesName && (Array.isArray(value) ? value[1] : value) != null)
  if (shown.length === 0) return ''
  const lying = option.yAxis.type === 'category'
  const title = lying
    ? (shown[0].name || option.yAxis.data[shown[0].value[1]]).replace('\n', ', ')
    : [option.xAxis].flat()[0].axisLabel.formatter(shown[0].value[0])
  const rows = shown.map(({ seriesIndex, seriesName, value, color, data }) => {
    const swatch = element('span', { textContent: '● ' })
    swatch.style.color = color
    const figure = Array.isArray(value) ? value[lying ? 0 : 1] : value
    const { valueFormatter } = option.series[seriesIndex].tooltip
    return element(
      'tr',
      {},
      element('td', {}, swatch, seriesName),
      element('td', { textContent: `${valueFormatter(figure)}${data?.detail ? ` (${data.detail})` : ''}` }),
    )
  })
  return element('div', {}, element('strong', { textContent: title }), element('table', {}, ...rows))
}

// What a chart has beside its plot.
const edgesPx = 90
const narrowPx = 500

/** The option as this page, this theme and this width want it. @param {any} raw @param {number} width */
const pageOption = (raw, width) => {
  const { panels, height: _, ...option } = drawn(placedLabels(raw, width - edgesPx), theme())
  const lying = option.yAxis.type === 'category'
  option.backgroundColor = 'transparent'
  option.legend = { ...option.legend, show: false }
  if (!panels) option.grid = { ...option.grid, top: lying ? 6 : 44 }
  option.tooltip = {
    ...option.tooltip,
    confine: true,
    className: 'tip',
    borderWidth: 0,
    padding: 0,
    backgroundColor: 'transparent',
    formatter: tooltipFormatter(option),
  }
  if (lying) {
    Object.assign(option.yAxis.axisLabel, {
      width: Math.min(option.yAxis.axisLabel.width, width * 0.36),
      overflow: 'break',
      lineHeight: 14,
    })
    if (width < narrowPx) {
      option.xAxis.splitNumber = 3
      // Of the values beside the picture the first line has room.
      option.grid.right = Math.min(option.grid.right, 60)
      for (const { data } of option.series)
        for (const { label } of data)
          if (typeof label?.formatter === 'string') label.formatter = label.formatter.split('\n')[0]
    }
  }
  if (!lying && width < narrowPx) {
    for (const axis of [option.xAxis].flat()) delete axis.interval
    // No room for the names of events: the table has them.
    for (const { markLine } of option.series) if (markLine) markLine.label.show = false
  }
  return option
}

/** Buttons instead of a drawn legend: they can be reached by the keyboard. @param {HTMLElement} figure @param {any} chart @param {any} raw @param {Set<string>} hidden */
const drawLegend = (figure, chart, raw, hidden) => {
  const option = drawn(raw, theme())
  const buttonOf = (/** @type {string} */ name) => {
    const series = option.series.find((/** @type {any} */ one) => one.name === name)
    const colour = series.color ?? series.itemStyle.color
    const swatch = element('i', { className: series.type === 'line' ? '' : 'block' })
    if (Array.isArray(series.lineStyle?.type)) swatch.className = 'dashed'
    swatch.style.borderTopColor = colour
    if (series.lineStyle) swatch.style.borderTopWidth = `${series.lineStyle.width}px`
    if (series.type !== 'line') swatch.style.background = colour
    const button = element('button', { type: 'button' }, swatch, name)
    button.setAttribute('aria-pressed', String(!hidden.has(name)))
    button.addEventListener('click', () => {
      const shown = hidden.delete(name)
      if (!shown) hidden.add(name)
      button.setAttribute('aria-pressed', String(shown))
      chart.dispatchAction({ type: shown ? 'legendSelect' : 'legendUnSelect', name })
    })
    return button
  }
  const rows = raw.panels ?? [{ names: option.legend.data }]
  const lines = rows.map((/** @type {{ title?: string, names: string[] }} */ { title, names }) =>
    element('div', {}, ...(title ? [element('span', { textContent: title })] : []), ...names.map(buttonOf)),
  )
  const legend = /** @type {HTMLElement} */ (figure.querySelector('.legend'))
  const buttons = () => [...legend.querySelectorAll('button')]
  const focused = buttons().indexOf(/** @type {HTMLButtonElement} */ (document.activeElement))
  legend.replaceChildren(...lines)
  buttons()[focused]?.focus()
}

/**
 * Draws a figure again when its width or the theme changes; one that is folded away has no width yet.
 * @param {any} echarts @param {HTMLElement} figure @param {any} raw
 */
const chartIn = (echarts, figure, raw) => {
  const place = /** @type {HTMLElement} */ (figure.querySelector('.chart'))
  if (raw.yAxis.type === 'category') place.style.height = `${raw.yAxis.data.length * 46 + 58}px`
  if (raw.height) place.style.height = `${raw.height}px`
  /** @type {any} */
  let chart = null
  /** @type {Set<string>} */
  const hidden = new Set()
  const draw = () => {
    if (place.clientWidth === 0) return
    chart ??= echarts.init(place, null, { renderer: 'svg' })
    if (place.clientWidth !== chart.getWidth()) chart.resize()
    const option = pageOption(raw, place.clientWidth)
    option.legend.selected = Object.fromEntries([...hidden].map((name) => [name, false]))
    chart.setOption(option, true)
    drawLegend(figure, chart, raw, hidden)
  }
  draw()
  new ResizeObserver(() => {
    if (place.clientWidth !== chart?.getWidth()) draw()
  }).observe(place)
  return draw
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

/** @param {(() => void)[]} redraws */
const themed = (redraws) => {
  const button = byId('theme')
  const show = () => {
    button.textContent = theme() === 'dark' ? 'Light' : 'Dark'
    for (const redraw of redraws) redraw()
  }
  button.addEventListener('click', () => {
    root.dataset.theme = theme() === 'dark' ? 'light' : 'dark'
    show()
  })
  prefersDark.addEventListener('change', show)
  // Paper is light, and nothing can be unfolded there.
  let before = root.dataset.theme
  /** @type {HTMLDetailsElement[]} */
  let folded = []
  addEventListener('beforeprint', () => {
    before = root.dataset.theme
    root.dataset.theme = 'light'
    folded = [...document.querySelectorAll('details')].filter(({ open }) => !open)
    for (const fold of folded) fold.open = true
    show()
  })
  addEventListener('afterprint', () => {
    if (before) root.dataset.theme = before
    else delete root.dataset.theme
    for (const fold of folded) fold.open = false
    show()
  })
  show()
}

for (const table of document.querySelectorAll('table')) sortable(table)
const charts = JSON.parse(byId('charts').textContent ?? '[]')
const figures = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('figure')])
const echarts = figures.length > 0 ? await unpackedEcharts() : null
themed(figures.map((figure) => chartIn(echarts, figure, charts[Number(figure.dataset.chart)])))
root.dataset.ready = 'true'
