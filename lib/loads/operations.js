// What all loads of operations have: they are of a writer, and count operations.
import { ofWriters, SECTIONS } from '../measures/index.js'
import { operationsOf } from '../probes/operations.js'

/**
 * @import { Keep } from '../probes/shared-counts.js'
 * @import { Plan } from './plan.js'
 */

/**
 * A load with its own names, plan, way to open, words and reasons.
 * @template Own
 * @param {Own} own
 */
export const operationsLoad = (own) =>
  Object.freeze({
    /** @type {'producer'} */
    document: 'producer',
    ledger: (
      /** @type {Plan} */ { box },
      /** @type {() => boolean} */ isMeasured,
      /** @type {Keep | undefined} */ keep,
    ) => operationsOf({ isMeasured, keep, agent: box && box.number + 1 }),
    measures: ofWriters,
    sections: SECTIONS.producer,
    ...own,
  })
