// Charts as SVG and PNG, on the server.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { certain } from '../base/typed.js'
import { placedLabels, themedOption } from '../chart/theme.js'

/**
 * @import { Option } from '../chart/parts.js'
 * @import { ThemeName } from '../chart/theme.js'
 */

const require = createRequire(import.meta.url)
/** @param {string} path from here */
const file = (path) => fileURLToPath(new URL(path, import.meta.url))
/** The part of echarts that charts use, which `npm pack` makes. */
export const packedLibrary = file('echarts.min.cjs')
// Only in a clone, the whole library: another version may be installed beside the package. One bundle loads in 50 ms, its
// modules in 430.
const wholeLibrary = file('../../node_modules/echarts/dist/echarts.common.min.js')
const library = () => [wholeLibrary, packedLibrary].find((path) => existsSync(path))

const rasterizer = '@resvg/resvg-js'

/** @param {string} name of a module */
const isInstalled = (name) => {
  try {
    require.resolve(name)
    return true
  } catch {
    return false
  }
}

/**
 * A clone without its development packages draws nothing, and what makes PNG of a picture is optional.
 * @param {'svg' | 'png'} format
 * @returns {string | null} what is missing, in a line; null: nothing
 */
export const missingFor = (format) => {
  if (!library()) return 'no pictures: echarts is not installed (npm ci adds it)'
  if (format === 'svg' || isInstalled(rasterizer)) return null
  return `no PNG pictures: ${rasterizer} is not installed, which is optional (npm install adds it)`
}

export const canDraw = () => missingFor('svg') === null
export const canRasterize = () => missingFor('png') === null

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

/** The path of the drawing library, which pages include. */
export const libraryPath = () => certain(library())

/**
 * @typedef {object} Picture
 * @property {string} title
 * @property {string} note
 * @property {Option} option
 * @property {boolean} [wide] bars that take the whole width of a page
 * @property {string} [fold] the title under which the page folds it away
 * @property {boolean} [inOverview] what the overview of a run has too: a file of its own, and no part of the page
 */

/** Rows that the names of a legend take. @param {Option['legend']} legend @param {number} width */
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

/** The height of the longest name, broken into lines. @param {{ data: string[], axisLabel: Option['yAxis'] }} axis */
const rowPx = ({ data, axisLabel: { width, lineHeight } }) => {
  // A word that does not fit leaves a part of its line empty.
  const linesOf = (/** @type {string} */ text) => Math.ceil((1.15 * measureText(text).width) / width)
  const lines = data.map((name) => name.split('\n').reduce((sum, text) => sum + linesOf(text), 0))
  return Math.max(leastRowPx, Math.max(...lines) * lineHeight + 12)
}

const titlePx = 30
const edgesPx = 90

/** The height of bars depends on their rows, that of panels on their number. @param {Option} option @param {number} below */
const heightOf = ({ yAxis, height }, below) => {
  if (height) return height + below
  return yAxis.type === 'category' ? 150 + yAxis.data.length * rowPx(yAxis) : 420
}

/** Below the title and the legend. @param {Option} option @param {number} below */
const gridBelow = ({ grid, panels }, below) => {
  if (panels) return grid.map((/** @type {Option['grid']} */ one) => ({ ...one, top: one.top + below }))
  // Several grids without panels have places of their own.
  if (Array.isArray(grid)) return grid
  return { ...grid, left: 12, top: grid.top + below, bottom: grid.bottom + 8 }
}

/**
 * @param {Picture} picture
 * @param {{ theme?: ThemeName, width?: number, height?: number, by?: string }} [how] by: the library's file
 * @returns {string}
 */
export const svgOf = (
  { title, option },
  { theme = 'light', width = 900, height, by = libraryPath() } = {},
) => {
  /** @type {typeof import('echarts')} */
  const echarts = require(by)
  echarts.setPlatformAPI({ measureText: /** @type {Option['measureText']} */ (measureText) })
  const below = titlePx + (legendRows(option.legend, width - 20) - 1) * 26
  const whole = height ?? heightOf(option, below)
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height: whole })
  const titled = {
    backgroundColor: '@surface',
    ...option,
    title: {
      text: title,
      left: 10,
      top: 8,
      textStyle: { fontSize: 16, fontWeight: 600, color: '@ink' },
    },
    legend: { ...option.legend, top: titlePx + 6, left: 8 },
    grid: gridBelow(option, below),
  }
  try {
    chart.setOption(themedOption(placedLabels(titled, width - edgesPx), theme))
    return chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
}

// Any of these that the machine has; resvg takes the first.
const fonts = ['DejaVu Sans', 'Liberation Sans', 'Noto Sans', 'Arial', 'Helvetica']

/** @param {string} svg @param {number} [scale] @returns {Promise<Buffer>} */
export const pngOf = async (svg, scale = 2) => {
  const { Resvg } = await import('@resvg/resvg-js')
  const image = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: scale },
    font: { loadSystemFonts: true, defaultFontFamily: fonts[0], sansSerifFamily: fonts[0] },
  })
  return image.render().asPng()
}
