// The files of a comparison.

import { markdownReport } from '../report/markdown.js'
import { pageAndCharts } from '../report/write-report.js'
import { benchmarkData, junit } from './ci.js'
import { comparisonPictures, comparisonSections } from './sections.js'

/**
 * @import { Comparison } from './comparison.js'
 * @import { Gate } from './gates.js'
 * @import { Facts } from './sections.js'
 */

/** @param {unknown} data */
const json = (data) => `${JSON.stringify(data, null, 2)}\n`

/**
 * Everything but compare.json, which is written as the rounds end.
 * @param {Comparison} comparison
 * @param {Facts} facts
 * @param {Gate} gate
 * @returns {Promise<Record<string, string>>} contents by path
 */
export const comparisonFiles = async (comparison, facts, gate) => {
  const sections = comparisonSections(comparison, facts)
  return {
    ...(await pageAndCharts('compare.html', sections, comparisonPictures(comparison, facts))),
    'summary.md': markdownReport({
      ...sections,
      tables: sections.tables.filter(({ more }) => !more),
    }),
    'junit.xml': junit(comparison, gate),
    'benchmark-smaller.json': json(benchmarkData(comparison, 'less')),
    'benchmark-bigger.json': json(benchmarkData(comparison, 'more')),
  }
}
