// Whether a run may be quoted, and if not, why: one judgement for every kind of run.
import { kindOf } from './kind.js'
import { readerReasons } from './reader-reasons.js'
import { ruling } from './warnings.js'
import { workerReasons } from './worker-reasons.js'
import { writerReasons } from './writer-reasons.js'

/** @import { Warning } from './warnings.js' */

const reasonsOf = Object.freeze({ producer: writerReasons, consumer: readerReasons, workers: workerReasons })

/**
 * @param {Record<string, any> & { nodes: any[] }} run run.json without its judgement
 * @param {readonly Warning[]} [given] what was noticed on the way: an uneven placement, a lost lease
 */
export const validityOf = (run, given = []) => {
  return ruling(
    given,
    reasonsOf[kindOf(run)].flatMap((reason) => reason(run)),
  )
}
