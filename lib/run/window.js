// The phases of a writing run: the warm-up, the measured window, and the draining of what is under way.

import { period } from '../base/units.js'
import { isSteady, secondsThatAgree } from './steady.js'
import { isWarm, secondsThatTell } from './warm.js'

/**
 * @import { SteadyLine } from './steady.js'
 * @import { WarmLine } from './warm.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Snapshot } from '../probes/seconds.js'
 * @import { Records } from '../loads/write-records.js'
 */

// The counters are read this long before the first measured tick, so that they include all of it.
const markEarlyMs = 25
// The end of the warm-up is decided this long before it.
const decidedMs = 200

/** @param {{ plan: Plan, fromMs: number, steady: boolean, lines: number, waits: string }} found */
const leftOutWords = ({ plan, fromMs, steady, lines, waits }) => {
  const leftMs = (plan.durationMs ?? plan.endMs ?? Number.POSITIVE_INFINITY) - fromMs
  const isCache = Boolean(plan.cache)
  const why = steady
    ? isCache
      ? `the share of hits of ${secondsThatTell} seconds does not move`
      : `latency and CPU of ${secondsThatAgree} seconds agree`
    : lines > (isCache ? secondsThatTell : secondsThatAgree)
      ? isCache
        ? 'the share of hits still moves'
        : 'latency and CPU still change'
      : `the run is too short to compare seconds, and ${period(leftMs)} are measured`
  return `the warm-up of ${period(fromMs)} is left out: ${why}${waits && `; ${waits}`}`
}

/**
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Records['ledger']} needs.ledger
 * @param {() => unknown} needs.onOpen the warm-up is over
 * @param {(text: string) => void} [needs.onBacklog] called if items were already waiting
 * @param {() => number} needs.elapsed
 */
export const measuringWindow = ({ plan, ledger, onOpen, onBacklog = () => {}, elapsed }) => {
  let isOpen = false
  let isClosed = false
  let openedMs = 0
  let fromMs = plan.warmUpMs
  let closedMs = Number.POSITIVE_INFINITY
  let ackedBefore = 0
  /** @type {NodeJS.Timeout | undefined} */
  let warmUp
  /** @type {(SteadyLine & WarmLine)[]} */
  const lines = []
  let settles = plan.settles === true && plan.warmUpMs > 0

  /** The backlog in words, where it is more than is due in a second. */
  const waiting = () => {
    const secondOf = Number(plan.nominalHz ?? Number.POSITIVE_INFINITY)
    if (!Number.isFinite(secondOf)) return ''
    const { offered, acked, failed, uncertain, dropped, unsettled } = ledger.whole
    const items = offered - acked - failed - uncertain - dropped - unsettled
    return items > secondOf ? `${items} items wait already` : ''
  }
  const open = () => {
    isOpen = true
    openedMs = elapsed()
    ackedBefore = ledger.whole.acked
    return onOpen()
  }
  const openInTime = () => {
    clearTimeout(warmUp)
    const inTime = () => {
      const words = plan.settles ? '' : waiting()
      if (words) onBacklog(`the warm-up is over, and ${words}: the backlog began in it`)
      open()
    }
    warmUp = setTimeout(inTime, Math.max(0, fromMs - markEarlyMs - elapsed()))
  }
  /** The length of a tick where ticks are even. @param {number} secondMs */
  const boundaryMs = (secondMs) =>
    plan.schedule === 'even' ? Math.ceil(secondMs / plan.spacingMs - 1e-9) * plan.spacingMs : secondMs
  return {
    /** When what is due is measured. */
    fromMs: () => fromMs,
    /**
     * Call after a second was written: the warm-up may end if it lasts until the run is steady.
     * @param {SteadyLine & WarmLine} line of intervals.ndjson
     * @returns what to say of it; null: nothing
     */
    endWarmUp(line) {
      if (!settles || isClosed) return null
      // A line that comes after the greatest length of the warm-up does not count.
      if (!isOpen) lines.push(line)
      const steady = !isOpen && (plan.cache ? isWarm(lines) : isSteady(lines))
      const secondMs = Math.ceil((elapsed() + decidedMs) / 1000) * 1000
      if (!isOpen && !steady && secondMs < fromMs) return null
      settles = false
      if (!isOpen) {
        fromMs = Math.min(fromMs, boundaryMs(secondMs))
        openInTime()
      }
      return leftOutWords({ plan, fromMs, steady, lines: lines.length, waits: waiting() })
    },
    /** @returns {Snapshot['phase']} */
    phase: () => (isClosed ? 'draining' : isOpen ? 'measuring' : 'warm-up'),
    /** Call before the first tick: without a warm-up, all ticks are measured. */
    async prepare() {
      if (plan.warmUpMs === 0) await open()
    },
    /** The first tick begins. */
    start() {
      if (plan.warmUpMs > 0) openInTime()
    },
    /** Opens the window anew: everything before counts as warm-up. */
    async reopen() {
      await open()
      fromMs = elapsed()
    },
    /** Nothing new is offered. */
    close() {
      clearTimeout(warmUp)
      isClosed = true
      closedMs = elapsed()
    },
    /** Whether what was due then belongs to the window, whenever it was answered. @param {number} dueMs after the start */
    covers: (dueMs) => dueMs >= fromMs && dueMs < closedMs,
    /** Items acknowledged within the window, counted as the seconds count them. */
    acked: () => ledger.whole.acked - ackedBefore,
    /** @param {number} endMs of the run */
    lengthS: (endMs) => (isOpen ? (endMs - (plan.schedule === 'none' ? openedMs : fromMs)) / 1000 : 0),
  }
}
