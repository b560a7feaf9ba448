// What the live page shows from the end of a run on: its verdict, and the numbers of its result.
import { runSections } from '../report/run-sections.js'

/**
 * @import { RunDocument } from '../result/document.js'
 * @import { RunState } from './state.js'
 */

/** @param {RunDocument} document @returns {RunState} */
export const endOf = (document) => {
  const { verdict, highlights } = runSections(document)
  return { ...verdict, highlights }
}
