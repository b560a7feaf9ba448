// Prints a computed answer as text or JSON, and writes its picture to a file.
import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { OptionError } from '../base/errors.js'
import { certain } from '../base/typed.js'
import { plainData, plainText } from '../base/units.js'

/** @import { Chart } from '../chart/parts.js' */

/** @param {boolean} json @param {object} data @param {() => string} text */
export const printData = (json, data, text) =>
  process.stdout.write(json ? `${JSON.stringify(data, null, 2)}\n` : text())

/** @template {object} Answer @param {Answer} answer @param {boolean} json @param {(answer: Answer, layout: { columns?: number }) => string} text */
export const printAnswer = (answer, json, text) =>
  printData(json, plainData(answer), () => text(answer, { columns: process.stdout.columns }))

/**
 * @template Answer
 * @param {Chart<Answer>} chart
 * @param {Answer} answer
 * @param {string} path --draw; NAME-dark.svg is for a dark page
 */
export const drawAnswer = async ({ title, note, option }, answer, path) => {
  const { missingFor, svgOf, pngOf } = await import('../report/draw.js')
  const isPng = extname(path) === '.png'
  if (!isPng && extname(path) !== '.svg') throw new OptionError(`--draw ${path}: must end in .svg or .png`)
  const missing = missingFor(isPng ? 'png' : 'svg')
  if (missing) throw new OptionError(`--draw ${path}: ${missing}`)
  const picture = { title, note, option: certain(option(answer)) }
  const svg = svgOf(picture, { theme: /-dark\.\w+$/.test(path) ? 'dark' : 'light' })
  await writeAnswer(path, isPng ? await pngOf(svg) : svg)
}

/** @param {string} path --draw @param {string | Buffer} content */
export const writeAnswer = (path, content) =>
  writeFile(path, content).catch((cause) => {
    throw new OptionError(`--draw ${plainText(path)} cannot be written (${cause.code})`, { cause })
  })
