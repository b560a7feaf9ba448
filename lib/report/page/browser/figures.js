// Charts in their figures, with a legend of buttons; in the report and on the live page alike.
import { placedLabels, themedOption } from '../../../chart/theme.js'
import { element } from './element.js'
import { theme } from './theme.js'

/**
 * @import { ECharts } from 'echarts'
 * @import { Option } from '../../../chart/parts.js'
 * @typedef {{ init: (place: HTMLElement, theme: null, how: { renderer: 'svg' }) => ECharts }} Library
 */

/** The text beside the pointer: built of text, never of markup. @param {Option} option */
const tooltipFormatter = (option) => (/** @type {Option['points']} */ points) => {
  // One point, or all of an axis.
  const shown = [points]
    .flat()
    .filter(({ seriesName, value }) => seriesName && (Array.isArray(value) ? value[1] : value) != null)
    .sort((a, b) => a.seriesIndex - b.seriesIndex)
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
      element('td', {
        textContent: `${data?.beyond ?? valueFormatter(figure)}${data?.detail ? ` (${data.detail})` : ''}`,
      }),
    )
  })
  return element('div', {}, element('strong', { textContent: title }), element('table', {}, ...rows))
}

// What a chart has beside its plot.
const edgesPx = 90
const narrowPx = 500
// Of the values beside a narrow picture: a word wide, and a row has room for three lines.
const besidePx = 76
const mostLines = 3

/** A value and its words, a word a line; the value alone where there is no room. @param {string} text */
const narrowed = (text) => {
  const [value, ...words] = text.split('\n')
  const lines = [value, ...words.flatMap((line) => line.split(' '))]
  return lines.length > mostLines ? value : lines.join('\n')
}

/** The option as this page, this theme and this width want it. @param {Option} raw @param {number} width */
const pageOption = (raw, width) => {
  const { panels, height: _, ...option } = themedOption(placedLabels(raw, width - edgesPx), theme())
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
      option.grid.right = Math.min(option.grid.right, besidePx)
      for (const { label } of option.series.flatMap((/** @type {Option} */ { data }) => data.filter(Boolean)))
        if (typeof label?.formatter === 'string') label.formatter = narrowed(label.formatter)
    }
  }
  if (!lying && width < narrowPx) {
    for (const axis of [option.xAxis].flat()) delete axis.interval
  }
  return option
}

/** Buttons instead of a themedOption legend: they can be reached by the keyboard. @param {HTMLElement} figure @param {ECharts} chart @param {Option} raw @param {Set<string>} hidden */
const drawLegend = (figure, chart, raw, hidden) => {
  const option = themedOption(raw, theme())
  // A chart that names its points has none.
  const rows = raw.panels ?? [{ names: option.legend.data ?? [] }]
  // A button that is replaced while it is pressed is not pressed.
  const shown = JSON.stringify([theme(), rows])
  if (figure.dataset.legend === shown) return
  figure.dataset.legend = shown
  const buttonOf = (/** @type {string} */ name) => {
    const series = option.series.find((/** @type {Option} */ one) => one.name === name)
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
 * Draws a figure, and again when its width, the theme or its data change; one that is folded away when it is unfolded.
 * @param {Library} echarts @param {HTMLElement} figure @param {Option} first what it shows
 */
export const chartIn = (echarts, figure, first) => {
  const place = /** @type {HTMLElement} */ (figure.querySelector('.chart'))
  const fold = figure.closest('details')
  let raw = first
  let drawnFrom = first
  /** @type {ECharts | null} */
  let chart = null
  /** @type {Set<string>} */
  const hidden = new Set()
  const draw = () => {
    if (raw.yAxis.type === 'category') place.style.height = `${raw.yAxis.data.length * 46 + 58}px`
    if (raw.height) place.style.height = `${raw.height}px`
    if (fold?.open === false || place.clientWidth === 0) return
    chart ??= echarts.init(place, null, { renderer: 'svg' })
    if (place.clientWidth !== chart.getWidth() || place.clientHeight !== chart.getHeight()) chart.resize()
    const option = pageOption(raw, place.clientWidth)
    option.legend.selected = Object.fromEntries([...hidden].map((name) => [name, false]))
    chart.setOption(option, true)
    drawLegend(figure, chart, raw, hidden)
  }
  draw()
  fold?.addEventListener('toggle', draw)
  new ResizeObserver(() => {
    if (place.clientWidth !== chart?.getWidth()) draw()
  }).observe(place)
  // The chart does not move while the pointer is on it.
  place.addEventListener('pointerleave', () => {
    if (raw === drawnFrom) return
    drawnFrom = raw
    draw()
  })
  return {
    draw,
    /** @param {Option} next the same chart with newer data */
    show(next) {
      raw = next
      if (place.matches(':hover')) return
      drawnFrom = raw
      draw()
    },
  }
}
