// Counts the outcome of every operation of a run of clients. Exact, and without a clock: the same counts as in a ledger of
// items.

import { noCounts } from './ledger.js'

/**
 * @import { Written } from './acked-ranges.js'
 * @import { ledgerOf, Loss } from './ledger.js'
 * @import { Keep } from './shared-counts.js'
 */

/** @param {{ isMeasured: () => boolean, keep?: Keep, agent?: number }} needs whether what is begun now is after the warm-up; agent: the number of a box */
export const operationsOf = ({ isMeasured, keep = (counts) => counts, agent = 1 }) => {
  const whole = keep(noCounts())
  const measured = keep(noCounts())
  const commands = keep({ sent: 0, repeated: 0, refused: 0 })
  /** @type {Record<string, number>} */
  const failedBy = {}
  /** @type {Record<string, number>} */
  const repeatedBy = {}
  return {
    whole,
    measured,
    byAgent: new Map([[agent, whole]]),
    commands,
    failedBy,
    /** @type {Record<string, number>} */
    errorsBy: {},
    repeatedBy,
    /** @returns {Written | null} */
    written: () => null,

    isMeasured,
    /** Counts operations that begin, and those dropped before they were sent. @param {number} n @param {boolean} inWindow */
    offered(n, inWindow) {
      whole.offered += n
      if (inWindow) measured.offered += n
    },
    /** @param {number} n @param {number} inWindow of them measured */
    acked(n, inWindow) {
      whole.acked += n
      measured.acked += inWindow
    },
    /** @param {Loss} outcome @param {string} cause @param {boolean} inWindow */
    lost(outcome, cause, inWindow) {
      whole[outcome]++
      if (inWindow) measured[outcome]++
      if (outcome === 'failed' || outcome === 'uncertain') failedBy[cause] = (failedBy[cause] ?? 0) + 1
    },
    /** @param {string} cause */
    retried(cause) {
      commands.repeated++
      repeatedBy[cause] = (repeatedBy[cause] ?? 0) + 1
    },
    isBalanced() {
      const { offered, acked, failed, uncertain, dropped, unsettled } = whole
      const causes = Object.values(failedBy).reduce((sum, n) => sum + n, 0)
      return offered === acked + failed + uncertain + dropped + unsettled && causes === failed + uncertain
    },
  }
}

/** @typedef {ReturnType<typeof operationsOf>} Operations */

/** The ledger of a load that counts operations one by one. @param {{ ledger: Operations | ReturnType<typeof ledgerOf> }} records */
export const operationsIn = ({ ledger }) => {
  if (!('isMeasured' in ledger)) throw new TypeError('a ledger of items in the place of one of operations')
  return ledger
}

/** The ledger of a load of ticks. @param {{ ledger: Operations | ReturnType<typeof ledgerOf> }} records */
export const itemsIn = ({ ledger }) => {
  if ('isMeasured' in ledger) throw new TypeError('a ledger of operations in the place of one of items')
  return ledger
}
