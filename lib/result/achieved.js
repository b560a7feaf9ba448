// The rate of every second of a run. Batches of a schedule count for the time until the next one is due, so a batch whose
// answers arrive just after the end of a second makes neither a dip there nor a spike in the next.

import { namesOfKind } from '../loads/names.js'

/**
 * @import { WriteRun } from './document.js'
 * @import { RunRecord, Second } from './record.js'
 */

// A tick due this shortly before the end of a second may have begun after it.
const boundaryMs = 50

/** @param {WriteRun} run */
const isScheduled = ({ plan }) =>
  namesOfKind(plan).inBatches && plan.pacing === 'open' && plan.schedule === 'even' && plan.spacingMs > 0

/** @param {number} value @param {number} low @param {number} high */
const clamped = (value, low, high) => Math.min(high, Math.max(low, value))

/**
 * Items a second, a value a line; null where nothing was measured, undefined where nothing was due.
 * @param {RunRecord} record
 * @returns {(number | null | undefined)[]}
 */
export const achievedRates = (record) => {
  const { seconds, run, phases } = record
  if (run.kind !== 'producer' || phases.length > 0 || !isScheduled(run))
    return seconds.map(({ achieved }) => achieved)
  const { spacingMs, items: perInterval, chunks, ticks } = run.plan
  const batch = perInterval / chunks
  let startMs = 0
  let offered = 0
  let ended = 0
  let before = { done: 0, due: 0 }
  return seconds.map(({ items, at_ms: atMs, phase, achieved }) => {
    if (!items) {
      // After a gap another writer begins.
      startMs = atMs
      offered = 0
      ended = 0
      before = { done: 0, due: 0 }
      return null
    }
    const { acked, failed, uncertain, dropped, unsettled } = items
    offered += items.offered
    ended += acked + failed + uncertain + dropped + unsettled
    const lost = failed + uncertain + dropped + unsettled
    const pending = offered - ended
    const dueBy = (/** @type {number} */ ms) =>
      clamped(Math.floor((ms - startMs) / spacingMs) + 1, 0, ticks ?? Number.POSITIVE_INFINITY)
    const due = clamped(Math.round(offered / batch), dueBy(atMs - boundaryMs), dueBy(atMs))
    const done = ended + (pending <= batch ? pending : 0)
    const spanS = ((due - before.due) * spacingMs) / 1000
    const gained = done - before.done - lost
    before = { done, due }
    if (phase === 'draining') return achieved
    return spanS > 0 ? Math.max(0, gained) / spanS : undefined
  })
}
