// The files of a comparison.

import { millraceVersion } from '../base/version.js'
import { canDraw, svgOf } from '../report/draw.js'
import { markdownReport } from '../report/markdown.js'
import { pageOf } from '../report/page/page.js'
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
  const pictures = comparisonPictures(comparison, facts)
  return {
    'compare.html': await pageOf(sections, pictures, millraceVersion()),
    ...Object.fromEntries(
      (canDraw() ? pictures : []).map((picture) => [`charts/${picture.name}.svg`, svgOf(picture)]),
    ),
    'summary.md': markdownReport({
      ...sections,
      tables: sections.tables.filter(({ more }) => !more),
    }),
    'junit.xml': junit(comparison, gate),
    'benchmark-smaller.json': json(benchmarkData(comparison, 'less')),
    'benchmark-bigger.json': json(benchmarkData(comparison, 'more')),
  }
}
