// The files of a report.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { millraceVersion } from '../base/version.js'
import { madeWithParents, ResultsError } from '../result/files.js'
import { readExperiment, readRecord } from '../result/record.js'
import { picturesOf } from './charts.js'
import { csvFiles } from './csv.js'
import { canDraw, canRasterize, pngOf, svgOf } from './draw.js'
import { experiment } from './experiment.js'
import { markdownReport } from './markdown.js'
import { pageOf } from './page/page.js'
import { runSections } from './run-sections.js'
import { runText } from './text.js'

/**
 * @import { ExperimentRecord, RunRecord } from '../result/record.js'
 * @import { Sections } from './cells.js'
 *
 * @typedef {RunRecord | ExperimentRecord} ResultRecord
 * @typedef {Record<string, string | Buffer>} Files contents by path
 */

const darkName = (/** @type {string} */ name) => `${name}-dark`

/** @param {ResultRecord} record */
const sectionsOf = (record) =>
  record.kind === 'run'
    ? runSections(record.run)
    : experiment.sections({ ...record.experiment, pages: record.pages })

/** @param {ResultRecord} record */
const textOf = (record) =>
  record.kind === 'run'
    ? runText(record.run, { columns: 120, verbose: true })
    : experiment.text(record.experiment, { columns: 120, verbose: true, isFile: true })

/** All rows in one list, those of the answer first. @param {Sections} sections */
const inOneList = (sections) => ({ ...sections, facts: [...(sections.answer ?? []), ...sections.facts] })

/**
 * A page, and its charts as SVG.
 * @param {string} name of the page
 * @param {Sections} sections
 * @param {Parameters<typeof pageOf>[1]} pictures
 * @returns {Promise<Record<string, string>>} contents by path
 */
export const pageAndCharts = async (name, sections, pictures) => {
  // Another thread compresses the page while this one draws.
  const page = pageOf(sections, pictures, millraceVersion())
  const charts = Object.fromEntries(
    (canDraw() ? pictures : []).map((picture) => [`charts/${picture.name}.svg`, svgOf(picture)]),
  )
  return { [name]: await page, ...charts }
}

/** Those of a run or an experiment. @param {ResultRecord} record @returns {Promise<Files>} */
export const pageFiles = (record) => pageAndCharts('report.html', sectionsOf(record), picturesOf(record))

/**
 * The pages of runs that have none, for the page of what they belong to; a folder without a run is passed over.
 * @param {string} folder
 * @param {readonly string[]} runs folders in there
 */
export const writeRunPages = async (folder, runs) => {
  for (const run of runs) {
    const own = join(folder, run)
    if (existsSync(join(own, 'report.html')) || !existsSync(join(own, 'run.json'))) continue
    const record = await readRecord(own)
    const page = await pageOf(sectionsOf(record), picturesOf(record), millraceVersion())
    await writeFiles(own, { 'report.html': page })
  }
}

/** The page and charts of a run or an experiment that has just ended, from its own files. @param {string} folder */
export const reportRun = async (folder) => {
  const experiment = await readExperiment(folder)
  if (experiment)
    await writeRunPages(
      folder,
      experiment.rows.flatMap(({ runs }) => runs.slice(0, 1)),
    )
  await writeFiles(folder, await pageFiles(await readRecord(folder)))
}

/** Everything that can be made of a result. @param {ResultRecord} record @returns {Promise<Files>} */
export const allFiles = async (record) => {
  const sections = sectionsOf(record)
  const files = await pageFiles(record)
  const pictures = canDraw() ? picturesOf(record) : []
  for (const picture of pictures) {
    const { name } = picture
    const dark = svgOf(picture, { theme: 'dark' })
    files[`charts/${darkName(name)}.svg`] = dark
    if (!canRasterize()) continue
    files[`charts/${name}.png`] = await pngOf(String(files[`charts/${name}.svg`]))
    files[`charts/${darkName(name)}.png`] = await pngOf(dark)
  }
  const shown = pictures
    .filter(({ inOverview }) => !inOverview)
    .map(({ name, title }) => ({ title, file: `charts/${name}.svg` }))
  return {
    ...files,
    'report.txt': textOf(record),
    'report.md': markdownReport(inOneList(sections), shown),
    ...csvFiles(record),
  }
}

/** @param {string} folder @param {Files} files */
export const writeFiles = async (folder, files) => {
  try {
    if (Object.keys(files).some((name) => name.startsWith('charts/')))
      await madeWithParents(join(folder, 'charts'))
    await Promise.all(Object.entries(files).map(([name, content]) => writeFile(join(folder, name), content)))
  } catch (error) {
    throw new ResultsError(`the report in ${folder}`, error)
  }
}
