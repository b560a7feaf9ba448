// When clients begin operations: as soon as there is room in a closed loop, or when they are due at an open rate.

import { deferred } from '../../base/timers.js'
import { duesOf } from '../dues.js'

/**
 * @import { Router } from '../../transport/router.js'
 * @import { Operation, Operations } from './operation.js'
 * @import { FlowNeeds } from './flow.js'
 */

/** The next client with room, counted from `from`; -1: none. @param {FlowNeeds} needs @param {number} from @param {number} nowMs */
const roomIn = ({ clients, plan: { pipeline } }, from, nowMs) => {
  for (let k = 0; k < clients.length; k++) {
    const one = (from + k) % clients.length
    if (clients[one].inFlight < pipeline && clients[one].pausedUntilMs <= nowMs) return one
  }
  return -1
}

/** Time since the start, which is the first play or a moment that boxes have in common, and what is due in it. @param {FlowNeeds} needs */
const timeOf = ({ schedule, plan, machine: { clock } }) => {
  let startMs = 0
  const dues = schedule && duesOf(schedule, plan.maxBehindMs, () => startMs)
  return {
    dues,
    startMs: () => startMs,
    elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
    sinceStart: (/** @type {number} */ atMs) => atMs - startMs,
    begin() {
      if (startMs === 0) startMs = clock()
    },
    /** What was due before a late box came, none plays. @param {number} atMs @param {boolean} isLate */
    beginAt(atMs, isLate) {
      startMs = atMs
      if (isLate) dues?.skipTo(clock())
    },
  }
}

/**
 * @param {FlowNeeds} needs
 * @param {Operations['first']} first
 * @param {Pick<Router<Operation>, 'begin' | 'outbox'>} router
 * @param {{ start: () => void, stop: () => void }} renewing connections are closed and made anew
 */
export const offeringOf = (needs, first, router, renewing) => {
  const { plan, clients, schedule, ledger, onSent } = needs
  const { clock, timers } = needs.machine
  let { draw, pick } = needs
  const time = timeOf(needs)
  const { dues, startMs } = time
  let running = false
  let nextClient = 0 // the next client at an open rate
  let all = deferred() // resolves when everything was offered
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
      const n = draw(nowMs - startMs(), client)
      if (n < 0) {
        stop()
        break
      }
      clients[client].inFlight++
      router.begin(first(client, pick(), n, nowMs, measured), nowMs)
    }
    ledger.offered(count, measured)
  }

  /** At an open rate; false: there is nothing any more to draw. @param {number} client @param {number} dueMs @param {number} nowMs @param {boolean} measured */
  const begin = (client, dueMs, nowMs, measured) => {
    nextClient = (client + 1) % plan.clients
    const n = draw(dueMs - startMs(), client)
    if (n < 0) return false
    onSent(nowMs - dueMs, nowMs)
    clients[client].inFlight++
    router.begin(first(client, pick(), n, dueMs, measured), nowMs)
    return true
  }

  /** What is due at an open rate, each to a client that has room. @param {number} nowMs */
  const due = (nowMs) => {
    if (!dues) return
    for (let dueMs = dues.nextMs(nowMs); dueMs <= nowMs; dueMs = dues.nextMs(nowMs)) {
      const measured = ledger.isMeasured()
      const client = roomIn(needs, nextClient, nowMs)
      const isDropped = dues.isDropped(dueMs, nowMs, client >= 0)
      if (client < 0 && !isDropped) return
      dues.take()
      if (isDropped) ledger.lost('dropped', '', measured)
      else if (!begin(client, dueMs, nowMs, measured)) return stop()
      ledger.offered(1, measured)
    }
    if (dues.isOver()) stop()
  }
  const tick = () => {
    if (!running) return
    const nowMs = clock()
    due(nowMs)
    router.outbox.end()
    timer = timers.setTimeout(tick, dues?.waitMs(clock()) ?? 1)
  }

  return {
    ...time,
    offered: all.over,
    stop,
    /** Stops offering without resolving `offered`. */
    close,
    /** Call when a client may have room. @param {number} client @param {number} nowMs */
    more(client, nowMs) {
      if (!running) return
      if (schedule) due(nowMs)
      else fill(client, nowMs)
    },
    play() {
      time.begin()
      running = true
      renewing.start()
      if (schedule) tick()
    },
    /** Sets what the next play offers; resolves when all of it was offered. @param {(client: number) => number} nextDraw @param {() => number} nextPick */
    anew(nextDraw, nextPick) {
      draw = nextDraw
      pick = nextPick
      all = deferred()
      return all.over
    },
  }
}
