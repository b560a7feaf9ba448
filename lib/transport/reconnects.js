// Renews so many clients a second: the connections of each are closed on purpose and made anew.

/**
 * @import { Timers } from '../base/timers.js'
 *
 * @typedef {readonly { isUp: () => boolean }[]} Closed connections of one client
 */

/** @param {{ hz: number | null, renew: () => Closed | null, clock: () => number, timers: Timers }} needs hz: null for none; renew: of renewalsOf */
export const reconnectsOf = ({ hz, renew, clock, timers }) => {
  let asked = 0
  let missed = 0
  /** @type {Closed[]} of clients that are not open again on all nodes */
  let awaited = []
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let startMs = 0
  const everyMs = hz === null ? 0 : Math.max(1, 1000 / hz)

  const stillAwaited = () => awaited.filter((closed) => !closed.every((connection) => connection.isUp()))
  const next = () => {
    for (const due = ((clock() - startMs) * Number(hz)) / 1000; asked < due; asked++) {
      awaited = stillAwaited()
      const closed = renew()
      if (closed) awaited.push(closed)
      else missed++
    }
    timer = timers.setTimeout(next, everyMs)
  }

  return {
    counts() {
      awaited = stillAwaited()
      return { asked, missed, renewed: asked - missed - awaited.length }
    },
    start() {
      startMs = clock()
      if (hz !== null) next()
    },
    stop: () => timers.clearTimeout(timer),
  }
}
