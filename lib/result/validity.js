// Whether a run may be quoted, and if not, why: one judgement for every kind of run.
import { readerReasons } from './reader-reasons.js'
import { ruling } from './ruling.js'
import { writerReasons } from './writer-reasons.js'

/** @typedef {import('./ruling.js').Warning} Warning */

/**
 * @param {Record<string, any> & { nodes: any[] }} run run.json without its judgement
 * @param {readonly Warning[]} [given] what was noticed on the way: an uneven placement, a lost lease
 */
export const validityOf = (run, given = []) => {
  const reasons = run.kind === 'consumer' ? readerReasons : writerReasons
  return ruling(
    given,
    reasons.flatMap((reason) => reason(run)),
  )
}
