// The phases of a writing run: the warm-up, the measured window, and the draining of what is under way.
import { isScheduled } from '../plan/pacer.js'

// The counters are read a little before the first measured tick, so that they hold all of it.
const markEarlyMs = 25

/**
 * @param {object} needs
 * @param {import('../plan/plan.js').Plan} needs.plan
 * @param {import('./write-records.js').Records['ledger']} needs.ledger
 * @param {() => unknown} needs.onOpen the warm-up is over
 * @param {ReturnType<typeof import('../measure/node-sampler.js').nodeSampler>} needs.sampler
 * @param {() => number} needs.elapsed
 */
export const windowOf = ({ plan, ledger, onOpen, sampler, elapsed }) => {
  let isOpen = false
  let isClosed = false
  let openedMs = 0
  let fromMs = plan.warmUpMs
  let closedMs = Number.POSITIVE_INFINITY
  let carriedBefore = 0
  /** @type {NodeJS.Timeout | undefined} */
  let warmUp

  const open = () => {
    isOpen = true
    openedMs = elapsed()
    carriedBefore = ledger.commands.itemsCarried
    onOpen()
    return sampler.mark()
  }
  return {
    /** @returns {import('../report/live.js').Snapshot['phase']} */
    phase: () => (isClosed ? 'draining' : isOpen ? 'measuring' : 'warm-up'),
    /** Before the first tick: without a warm-up all of them are measured. */
    async prepare() {
      if (plan.warmUpMs === 0) await open()
    },
    /** The first tick begins. */
    start() {
      if (plan.warmUpMs > 0) warmUp = setTimeout(open, Math.max(0, plan.warmUpMs - markEarlyMs - elapsed()))
    },
    /** What came before is a warm-up as well. */
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
    /** What was due then belongs to it, whenever it was answered. @param {number} dueMs after the start */
    covers: (dueMs) => dueMs >= fromMs && dueMs < closedMs,
    /** Items in the commands that were answered within it. */
    carried: () => ledger.commands.itemsCarried - carriedBefore,
    /** @param {number} endMs of the run */
    lengthS: (endMs) => (isOpen ? (endMs - (isScheduled(plan) ? fromMs : openedMs)) / 1000 : 0),
  }
}
