// Charts as SVG and PNG, on the server.
import { createRequire } from 'node:module'
import { drawn } from './look.js'

/** @typedef {import('./look.js').LookName} LookName */

const require = createRequire(import.meta.url)
// One bundle loads in 50 ms, the modules that it is made of in 430.
const bundle = 'echarts/dist/echarts.common.min.js'

// A server has no canvas to measure text with. Widths in em of DejaVu Sans, the widest of the usual fonts.
const narrow = /[ijlt.,:;|!'()[\]fr ]/
const wide = /[mwMW%@–…]/

/** @param {string} text @param {string} [font] */
const measureText = (text = '', font = '12px') => {
  const size = Number.parseFloat(/([\d.]+)px/.exec(font)?.[1] ?? '12')
  let em = 0
  for (const sign of text)
    em += narrow.test(sign) ? 0.36 : wide.test(sign) ? 0.95 : /[A-Z]/.test(sign) ? 0.7 : 0.61
  return { width: em * size }
}

/** Where the bundle that draws lies; the page takes it in. */
export const bundlePath = () => require.resolve(bundle)

/**
 * @typedef {object} Picture
 * @property {string} title
 * @property {string} note
 * @property {Record<string, any>} option
 * @property {true} [wide] bars that take the whole width of a page
 */

/** Rows that the names of a legend take. @param {Record<string, any>} legend @param {number} width */
const legendRows = ({ data = [], itemWidth, itemGap }, width) => {
  let rows = 1
  let x = 0
  for (const name of data) {
    const taken = itemWidth + 8 + measureText(name).width
    if (x > 0 && x + taken > width) {
      rows++
      x = 0
    }
    x += taken + itemGap
  }
  return rows
}

const leastRowPx = 60

/** What the longest name takes, broken into lines. @param {{ data: string[], axisLabel: Record<string, any> }} axis */
const rowPx = ({ data, axisLabel: { width, lineHeight } }) => {
  // A word that does not fit leaves a part of its line empty.
  const linesOf = (/** @type {string} */ text) => Math.ceil((1.15 * measureText(text).width) / width)
  const lines = data.map((name) => name.split('\n').reduce((sum, text) => sum + linesOf(text), 0))
  return Math.max(leastRowPx, Math.max(...lines) * lineHeight + 12)
}

/** Bars need what their rows need. @param {Record<string, any>} option */
const heightOf = ({ yAxis }) => (yAxis.type === 'category' ? 150 + yAxis.data.length * rowPx(yAxis) : 420)

/**
 * @param {Picture} picture
 * @param {{ look?: LookName, width?: number, height?: number }} [size]
 * @returns {string}
 */
export const svgOf = ({ title, option }, { look = 'light', width = 900, height = heightOf(option) } = {}) => {
  /** @type {typeof import('echarts')} */
  const echarts = require(bundle)
  echarts.setPlatformAPI({ measureText: /** @type {any} */ (measureText) })
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height })
  const top = 30
  const below = top + (legendRows(option.legend, width - 20) - 1) * 26
  try {
    chart.setOption(
      drawn(
        {
          backgroundColor: '@surface',
          ...option,
          title: {
            text: title,
            left: 10,
            top: 8,
            textStyle: { fontSize: 16, fontWeight: 600, color: '@ink' },
          },
          legend: { ...option.legend, top: top + 6, left: 8 },
          // Several grids have places of their own.
          grid: Array.isArray(option.grid)
            ? option.grid
            : { ...option.grid, left: 12, top: option.grid.top + below, bottom: option.grid.bottom + 8 },
        },
        look,
      ),
    )
    return chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
}

// Whatever of these the machine has; resvg takes the first that is there.
const fonts = ['DejaVu Sans', 'Liberation Sans', 'Noto Sans', 'Arial', 'Helvetica']

/**
 * @param {string} svg
 * @param {number} [scale]
 * @returns {Promise<Buffer>}
 */
export const pngOf = async (svg, scale = 2) => {
  const { Resvg } = await import('@resvg/resvg-js')
  const image = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: scale },
    font: { loadSystemFonts: true, defaultFontFamily: fonts[0], sansSerifFamily: fonts[0] },
  })
  return image.render().asPng()
}
