// Connections that come and go: so many a second are closed on purpose and made anew.

/** @import { Timers } from '../base/timers.js' */

/**
 * @param {object} needs
 * @param {number | null} needs.hz null: none
 * @param {() => boolean} needs.renew the next in turn; false: all are being made anew already
 * @param {() => number} needs.clock
 * @param {Timers} needs.timers
 */
export const reconnectsOf = ({ hz, renew, clock, timers }) => {
  const counts = { asked: 0, missed: 0 }
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let startMs = 0
  const everyMs = hz === null ? 0 : Math.max(1, 1000 / hz)

  const next = () => {
    for (const due = ((clock() - startMs) * Number(hz)) / 1000; counts.asked < due; counts.asked++)
      if (!renew()) counts.missed++
    timer = timers.setTimeout(next, everyMs)
  }

  return {
    counts,
    start() {
      startMs = clock()
      if (hz !== null) next()
    },
    stop: () => timers.clearTimeout(timer),
  }
}
