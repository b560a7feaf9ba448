// When clients begin operations: as soon as there is room in a closed loop, or when they are due at an open rate.

import { deferred, longestTimerMs } from '../../base/timers.js'

/**
 * @import { Sending } from './sending.js'
 * @import { FlowNeeds } from './flow.js'
 */

// When nothing is due yet, a course may go on at any moment.
const lookMs = 4

/** An operation that was not sent yet. @param {number} kind @param {number} n @param {number} dueMs @param {boolean} measured */
const firstOf = (kind, n, dueMs, measured) => ({ kind, n, dueMs, measured, attempts: 0, firstMs: 0 })

/** The next client that has room, from one on; -1: none has. @param {FlowNeeds} needs @param {number} from @param {number} nowMs */
const roomIn = ({ clients, plan: { pipeline } }, from, nowMs) => {
  for (let k = 0; k < clients.length; k++) {
    const one = (from + k) % clients.length
    if (clients[one].inFlight < pipeline && clients[one].pausedUntilMs <= nowMs) return one
  }
  return -1
}

/**
 * @param {FlowNeeds} needs
 * @param {Sending} sending
 * @param {{ start: () => void, stop: () => void }} renewing connections are closed and made anew
 */
export const offeringOf = (needs, sending, renewing) => {
  const { plan, clients, schedule, ledger, onSent, clock, timers } = needs
  const longestMs = schedule?.isLeft ? lookMs : longestTimerMs
  let { draw, pick } = needs
  let startMs = 0
  let running = false
  let next = 0 // of a schedule
  let turn = 0 // whose client it is at an open rate
  let all = deferred() // is offered
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const close = () => {
    running = false
    renewing.stop()
    timers.clearTimeout(timer)
  }
  const stop = () => {
    close()
    all.finish()
  }

  /** Fills one client in a closed loop. @param {number} client @param {number} nowMs */
  const fill = (client, nowMs) => {
    if (clients[client].pausedUntilMs > nowMs) return
    const measured = ledger.isMeasured()
    let count = 0
    for (const room = plan.pipeline - clients[client].inFlight; count < room; count++) {
      const n = draw(nowMs - startMs, client)
      if (n < 0) {
        stop()
        break
      }
      sending.begin(client, firstOf(pick(), n, nowMs, measured), nowMs)
    }
    ledger.offered(count, measured)
  }

  /** What is due at an open rate, each to a client that has room. @param {number} nowMs */
  const due = (nowMs) => {
    if (!schedule) return
    for (; !schedule.isOver(next); next++) {
      const dueMs = startMs + schedule.due(next, nowMs - startMs)
      if (dueMs > nowMs) break
      const measured = ledger.isMeasured()
      const client = roomIn(needs, turn, nowMs)
      if (nowMs - dueMs > plan.maxBehindMs || (client < 0 && schedule.isLeft?.(nowMs - startMs))) {
        ledger.offered(1, measured)
        ledger.lost('dropped', '', measured)
        continue
      }
      if (client < 0) return
      turn = (client + 1) % plan.clients
      const n = draw(dueMs - startMs, client)
      if (n < 0) return stop()
      onSent(nowMs - dueMs)
      sending.begin(client, firstOf(pick(), n, dueMs, measured), nowMs)
      ledger.offered(1, measured)
    }
    if (schedule.isOver(next)) stop()
  }

  const tick = () => {
    if (!running) return
    const nowMs = clock()
    due(nowMs)
    sending.end()
    const dueMs = schedule && !schedule.isOver(next) ? startMs + schedule.due(next, nowMs - startMs) : nowMs
    timer = timers.setTimeout(tick, Math.max(1, Math.min(longestMs, dueMs - clock())))
  }

  return {
    offered: all.over,
    stop,
    /** Nothing is offered any more, and what waits for the end is not called. */
    close,
    elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
    sinceStart: (/** @type {number} */ atMs) => atMs - startMs,
    /** A client may have room. @param {number} client @param {number} nowMs */
    more(client, nowMs) {
      if (!running) return
      if (schedule) due(nowMs)
      else fill(client, nowMs)
    },
    /** Time is counted from the first. */
    play() {
      if (startMs === 0) startMs = clock()
      running = true
      renewing.start()
      if (schedule) tick()
    },
    /** What is offered by the next play; resolves when all is. @param {(client: number) => number} nextDraw @param {() => number} nextPick */
    anew(nextDraw, nextPick) {
      draw = nextDraw
      pick = nextPick
      all = deferred()
      return all.over
    },
  }
}
