// Ticks as fast as the servers accept them.

/**
 * @import { Pacing } from './scheduled-pacing.js'
 * @import { TickInPortions } from './portions.js'
 */

/**
 * @param {object} needs
 * @param {() => number} needs.elapsed
 * @param {() => boolean} needs.hasRoom
 * @param {(i: number) => boolean} needs.isOver
 * @param {(i: number, dueMs: number) => TickInPortions} needs.begin
 * @param {() => void} needs.finish everything was begun
 * @returns {Pacing}
 */
export const saturatingPacing = ({ elapsed, hasRoom, isOver, begin, finish }) => {
  let next = 0
  /** @type {TickInPortions | null} */
  let current = null
  const more = () => {
    while ((current || !isOver(next)) && hasRoom()) {
      current ??= begin(next++, elapsed())
      if (current.next()) current = null
    }
    if (!current && isOver(next)) finish()
  }
  return {
    start: more,
    stop() {},
    more,
    next: () => next,
    waits: () => current !== null,
    giveUp() {
      current?.giveUp()
      current = null
    },
  }
}
