// Offers the plan's ticks to a driver, with the plan's pacing, until the time is over or it is stopped.
import { alarm, deferred, systemTimers } from '../../base/timers.js'
import { certain } from '../../base/typed.js'
import { pacerOf } from '../../plan/pacer.js'
import { tickValues } from '../../plan/tick-values.js'
import { turnsOf } from '../../plan/turns.js'
import { batchDraws, isDrawn } from '../../traffic/items.js'
import { coursePacing } from '../course-pacing.js'
import { ticker } from './ticker.js'

/**
 * @import { Range } from '../../base/ranges.js'
 * @import { Timers } from '../../base/timers.js'
 * @import { Account, ledgerOf } from '../../probes/ledger.js'
 * @import { Course } from '../../plan/course.js'
 * @import { Plan } from '../plan.js'
 * @import { Tick } from '../../transport/send-queue.js'
 * @import { socketDriver } from '../../transport/socket-writer.js'
 * @import { TickValues } from '../../wire/encode.js'
 * @import { TickTimes } from './ticker.js'
 *
 * @typedef {Awaited<ReturnType<typeof socketDriver>>} Driver
 */

// Ticks at absolute deadlines. One that is due begins as soon as the servers have room, and then takes about a second at most;
// one that waits too long is dropped as a whole.

/**
 * @typedef {object} Pacing how ticks are paced
 * @property {() => void} start
 * @property {() => void} stop
 * @property {() => void} more there may be room
 * @property {() => number} next the first tick that was not begun
 * @property {() => boolean} waits something is due, or was begun in part
 * @property {() => void} giveUp drops what waits
 */

// A batch that takes longer than this is begun in portions, so that the rest of it can be dropped when it is too late.
const largeBatchMs = 1000

/**
 * @param {object} needs
 * @param {{ chunks: number, ticks: number | null, maxBehindMs: number }} needs.plan
 * @param {TickTimes} needs.times
 * @param {{ hasRoom: () => boolean, waitLimitMs: () => number }} needs.servers how long a tick may wait for room
 * @param {object} needs.ticks
 * @param {(i: number, dueMs: number, from: number) => TickInPortions} needs.ticks.begin from: the portion that is begun first
 * @param {(i: number, dueMs: number) => void} needs.ticks.skip
 * @param {() => void} needs.onEnd
 * @param {Timers} needs.timers
 * @returns {Pacing}
 */
const scheduledPacing = ({ plan, times, servers, ticks, onEnd, timers }) => {
  const { pacer, elapsed } = times
  const { hasRoom, waitLimitMs } = servers
  const { begin, skip } = ticks
  /** @typedef {{ i: number, sinceMs: number }} Waiting */
  /** @type {Waiting[]} */
  const waiting = []
  /** @type {{ tick: TickInPortions, due: Waiting, begunMs: number } | null} */
  let current = null
  const isTooLate = (/** @type {Waiting} */ { i, sinceMs }) => {
    const nowMs = elapsed()
    return nowMs - pacer.dueMs(i) > plan.maxBehindMs || nowMs - sinceMs > waitLimitMs()
  }
  /** How many ticks had begun at the chunk's last one: every part of an interval is written equally often. */
  const begunAt = new Float64Array(plan.chunks).fill(-1)
  /** The portion at which the chunk's next tick begins: the one at which the last was given up. */
  const resumeAt = new Uint32Array(plan.chunks)
  let begun = 0
  const oldestPart = () => {
    let at = 0
    for (let w = 1; w < waiting.length; w++)
      if (begunAt[pacer.chunkOf(waiting[w].i)] < begunAt[pacer.chunkOf(waiting[at].i)]) at = w
    return waiting.splice(at, 1)[0]
  }
  const giveUpCurrent = () => {
    if (current) resumeAt[pacer.chunkOf(current.due.i)] = current.tick.giveUp()
    current = null
  }
  const more = () => {
    for (;;) {
      while (waiting.length > 0 && isTooLate(waiting[0])) {
        const [{ i }] = waiting.splice(0, 1)
        skip(i, pacer.dueMs(i))
      }
      if (current && elapsed() - current.begunMs > largeBatchMs && isTooLate(current.due)) giveUpCurrent()
      if ((waiting.length === 0 && !current) || !hasRoom()) return
      if (!current) {
        const due = oldestPart()
        const k = pacer.chunkOf(due.i)
        begunAt[k] = begun++
        current = { tick: begin(due.i, pacer.dueMs(due.i), resumeAt[k]), due, begunMs: elapsed() }
        resumeAt[k] = 0
      }
      if (current.tick.next()) current = null
    }
  }
  const ticking = ticker({
    times,
    ticks: plan.ticks,
    onEnd,
    timers,
    begin(i) {
      waiting.push({ i, sinceMs: elapsed() })
      more()
    },
  })
  return {
    start: ticking.start,
    stop: ticking.stop,
    more,
    next: ticking.next,
    waits: () => current !== null || waiting.length > 0,
    giveUp() {
      giveUpCurrent()
      for (const { i } of waiting.splice(0)) skip(i, pacer.dueMs(i))
    },
  }
}

// Begins a tick of all writers in this process one portion at a time: the values and the ids of the same items. A batch of
// few items is one portion.

/**
 * @typedef {ReturnType<typeof tickInPortions>} TickInPortions
 */

/**
 * @param {object} needs
 * @param {Tick[]} needs.ticks one a writer
 * @param {Pick<Driver, 'portionsOf' | 'carriersOf' | 'offer'>} needs.driver
 * @param {Pick<ReturnType<typeof ledgerOf>, 'seal' | 'skipPart'>} needs.ledger
 * @param {number} [needs.from] the portion that is begun first; after the last comes the first
 */
export const tickInPortions = ({ ticks, driver, ledger, from = 0 }) => {
  const counts = ticks.map((tick) => driver.portionsOf(tick).length)
  const most = Math.max(...counts)
  let begun = 0
  const place = () => (from + begun) % most

  /** @param {(tick: Tick, portion: number) => void} what is done with the next portion; true: it was the last */
  const take = (what) => {
    const at = place()
    for (const [t, tick] of ticks.entries()) if (at < counts[t]) what(tick, at)
    begun++
    if (begun < most) return false
    for (const { account } of ticks) ledger.seal(account)
    return true
  }
  const skip = (/** @type {Tick} */ tick, /** @type {number} */ portion) => {
    for (const batch of driver.carriersOf(driver.portionsOf(tick)[portion]))
      ledger.skipPart(tick.account, batch)
  }
  return {
    /** Begins the next portion; true: it was the last. */
    next: () => take(driver.offer),
    /** Begins no more of the tick. Returns the first portion that was not begun. */
    giveUp: () => {
      const at = place()
      while (!take(skip)) {}
      return at
    },
  }
}

// Each writer waits for its batch and then sleeps, as the published programs did.

/**
 * @param {object} needs
 * @param {number} needs.writers
 * @param {number} needs.sleepMs
 * @param {(i: number) => boolean} needs.isOver
 * @param {(writer: number, i: number, then: () => void) => void} needs.write then: all of it has an outcome
 * @param {() => void} needs.finish
 * @param {Timers} needs.timers
 * @returns {Pacing}
 */
const closedPacing = ({ writers, sleepMs, isOver, write, finish, timers }) => {
  let running = writers
  /** @type {Set<NodeJS.Timeout>} */
  const sleeping = new Set()
  /** @param {number} writer @param {number} i */
  const writeTick = (writer, i) => {
    if (isOver(i)) {
      if (--running === 0) finish()
      return
    }
    write(writer, i, () => {
      const timer = timers.setTimeout(() => {
        sleeping.delete(timer)
        writeTick(writer, i + 1)
      }, sleepMs)
      sleeping.add(timer)
    })
  }
  return {
    start() {
      for (let writer = 0; writer < writers; writer++) writeTick(writer, 0)
    },
    stop() {
      for (const timer of sleeping) timers.clearTimeout(timer)
    },
    more() {},
    next: () => 0,
    waits: () => false,
    giveUp() {},
  }
}

// Ticks as fast as the servers accept them.

/**
 * @param {object} needs
 * @param {() => number} needs.elapsed
 * @param {() => boolean} needs.hasRoom
 * @param {(i: number) => boolean} needs.isOver
 * @param {(i: number, dueMs: number) => TickInPortions} needs.begin
 * @param {() => void} needs.finish everything was begun
 * @returns {Pacing}
 */
const saturatingPacing = ({ elapsed, hasRoom, isOver, begin, finish }) => {
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

const settleCheckMs = 5
// A batch that takes longer than this at the end of the time is not waited for.
const batchLimitMs = 2000
// A reply is read so late at most, since its time counts.
const napMs = 0.1

/**
 * @typedef {object} WriterNeeds
 * @property {Plan} plan
 * @property {Driver} driver
 * @property {ReturnType<typeof ledgerOf>} ledger
 * @property {() => number} clock
 * @property {() => number} epochMs
 * @property {() => number} [stopsAtMs] when the run is stopped, by the clock, as far as is known
 * @property {Course | null} [course] of a run whose rate changes
 * @property {() => number} [measuredFromMs] when the warm-up ends, after the start
 * @property {Timers} [timers]
 *
 * @typedef {{ pacer: ReturnType<typeof pacerOf>, startMs: () => number, elapsed: () => number }} RunTime
 */

/** Opens ticks of all writers of this process, and counts those that are open. @param {WriterNeeds} needs @param {RunTime} time */
const ticksOf = (needs, { pacer, startMs }) => {
  const { plan, driver, ledger, clock, epochMs, measuredFromMs = () => plan.warmUpMs } = needs
  const agents = plan.agents.map((range, index) => ({
    ...range,
    index,
    draw: isDrawn(plan) ? batchDraws(plan, range) : null,
  }))
  const { rangeOf, isLed } = turnsOf(plan)
  let lastEpoch = 0
  let openTicks = 0
  let measuredTicks = 0
  let lastSettledMs = 0
  // A clock that is set back must not give newer items older scores.
  const values = () => {
    lastEpoch = Math.max(lastEpoch, Math.floor(epochMs()))
    return tickValues(lastEpoch, plan.ttlS)
  }
  const closed = (/** @type {(() => void) | null} */ then) => () => {
    openTicks--
    lastSettledMs = clock()
    then?.()
  }

  /**
   * Counts an agent's part of a tick.
   * @param {typeof agents[number]} agent
   * @param {number} i the tick
   * @param {number} dueMs after the start
   * @param {Range} range its items
   * @param {(() => void) | null} [then] when all its items have an outcome
   */
  const open = (agent, i, dueMs, range, then = null) => {
    const first = range.first + (plan.once ? pacer.intervalOf(i) * plan.quantity : 0)
    openTicks++
    const measured = dueMs >= measuredFromMs()
    if (measured && agent.index === 0 && isLed(i)) measuredTicks++
    return ledger.open({ agent: agent.agent, first, count: range.count, measured }, closed(then))
  }
  /**
   * @param {typeof agents[number]} agent
   * @param {number} i
   * @param {number} dueMs
   * @param {TickValues} values
   * @param {Range} range
   * @param {(() => void) | null} [then]
   * @returns {Tick}
   */
  const tickOf = (agent, i, dueMs, values, range, then) => {
    const k = pacer.chunkOf(i)
    const account = open(agent, i, dueMs, range, then)
    // Any batch may have any item, so each waits for the one before.
    const chunk = agent.index * plan.chunks + (agent.draw ? 0 : k)
    const items = agent.draw?.(range, dueMs) ?? null
    const unsent = { firstMs: null, sends: [], progress: null, portions: null }
    return { index: i, chunk, dueMs: startMs() + dueMs, ...unsent, values, account, items }
  }
  return {
    /** @param {number} i @param {number} dueMs @param {number} [from] the portion that is begun first */
    begin(i, dueMs, from) {
      const own = values()
      /** @type {Tick[]} */
      const ticks = []
      for (const agent of agents) {
        const range = rangeOf(agent.index, pacer.chunkOf(i))
        if (range) ticks.push(tickOf(agent, i, dueMs, own, range))
      }
      return tickInPortions({ ticks, driver, ledger, from })
    },
    /** Begins the tick of one writer whole. @param {number} index of the writer @param {number} i @param {number} dueMs @param {() => void} then */
    write(index, i, dueMs, then) {
      const range = certain(rangeOf(index, pacer.chunkOf(i)))
      const ticks = [tickOf(agents[index], i, dueMs, values(), range, then)]
      const tick = tickInPortions({ ticks, driver, ledger })
      while (!tick.next()) {}
    },
    /** Drops a whole tick: none of its commands is sent. @param {number} i @param {number} dueMs */
    skip(i, dueMs) {
      for (const agent of agents) {
        const range = rangeOf(agent.index, pacer.chunkOf(i))
        if (range) ledger.skip(open(agent, i, dueMs, range))
      }
    },
    areOpen: () => openTicks > 0,
    measuredTicks: () => measuredTicks,
    lastSettledMs: () => lastSettledMs,
  }
}

/**
 * @param {WriterNeeds & { timers: Timers }} needs
 * @param {RunTime & { isLate: () => boolean, isStopped: () => boolean, finish: () => void }} time
 * @param {ReturnType<typeof ticksOf>} ticks
 * @returns {Pacing}
 */
const pacingOf = (needs, { pacer, startMs, elapsed, isLate, isStopped, finish }, ticks) => {
  const { plan, course, driver, timers, stopsAtMs = () => Number.POSITIVE_INFINITY } = needs
  const { hasRoom } = driver
  const { maxBehindMs } = plan
  const isOver = (/** @type {number} */ i) =>
    isStopped() ||
    (plan.ticks !== null && i >= plan.ticks) ||
    (plan.durationMs !== null && elapsed() >= plan.durationMs)
  // The last interval, or second, lasts its whole time.
  const onEnd = () => timers.setTimeout(finish, Math.max(0, (plan.endMs ?? 0) - elapsed()))
  if (course) {
    const tickItems = plan.quantity / plan.chunks
    return coursePacing({
      plan: { course, tickItems, maxBehindMs },
      elapsed,
      hasRoom,
      ticks,
      onEnd,
      timers,
    })
  }
  if (plan.rate === 'max') return saturatingPacing({ elapsed, hasRoom, isOver, begin: ticks.begin, finish })
  if (plan.pacing === 'closed')
    return closedPacing({
      writers: plan.agents.length,
      sleepMs: pacer.spacingMs,
      isOver,
      finish,
      timers,
      write: (writer, i, then) => ticks.write(writer, i, elapsed(), then),
    })
  return scheduledPacing({
    plan,
    times: {
      pacer,
      elapsed,
      firstTick: () => (isLate() ? pacer.ticksDue(elapsed()) : 0),
      stopsMs: () => stopsAtMs() - startMs(),
      isTaken: turnsOf(plan).isTaken,
    },
    servers: driver,
    ticks,
    onEnd,
    timers,
  })
}

/** Those that sleep only briefly while replies may come. @param {Timers} timers @param {() => boolean} areOpen @returns {Timers} */
const attentive = (timers, areOpen) => ({
  ...timers,
  sleep: (ms) => timers.sleep?.(areOpen() ? Math.min(ms, napMs) : ms),
})

/** @param {WriterNeeds} needs */
export const ticksWriter = (needs) => {
  const { plan, clock, timers = systemTimers } = needs
  let startMs = 0
  let isLate = false
  let stopped = false
  let cancelEnd = () => {}
  const { over: offered, finish: end } = deferred()
  const finish = () => {
    cancelEnd()
    end()
  }
  // Before the start the time is 0: a clock that jumped back gave nodes negative values.
  const elapsed = () => (startMs === 0 ? 0 : clock() - startMs)
  const time = { pacer: pacerOf(plan), startMs: () => startMs, elapsed }
  const ticks = ticksOf(needs, time)
  const ending = { isLate: () => isLate, isStopped: () => stopped, finish }
  const pacing = pacingOf(
    { ...needs, timers: attentive(timers, ticks.areOpen) },
    { ...time, ...ending },
    ticks,
  )

  return {
    offered,
    elapsed,
    measuredTicks: ticks.measuredTicks,
    lastSettledMs: () => ticks.lastSettledMs() - startMs,
    /** The first tick that was not offered. */
    nextTick: () => pacing.next(),
    /**
     * Begins the run at a given moment, which may be in the past.
     * @param {number} atMs by the clock
     * @param {boolean} late other boxes began then, and ticks due since are not ours
     */
    beginAt(atMs, late) {
      startMs = atMs
      isLate = late
    },
    start() {
      if (startMs === 0) startMs = clock()
      pacing.start()
      if (plan.schedule !== 'none' || plan.durationMs === null) return
      // A batch and its sleep may end after the time is over.
      cancelEnd = alarm(
        plan.durationMs + (plan.rate === 'max' ? 0 : plan.spacingMs + batchLimitMs),
        elapsed,
        finish,
        timers,
      )
    },
    progress: () => pacing.more(),
    stop() {
      stopped = true
      pacing.stop()
      finish()
    },
    /** Waits at most so long for what is under way. @param {number} limitMs @param {AbortSignal} atOnce */
    async settle(limitMs, atOnce) {
      const deadline = clock() + limitMs
      while ((ticks.areOpen() || pacing.waits()) && clock() < deadline && !atOnce.aborted) {
        await new Promise((resolve) => timers.setTimeout(() => resolve(undefined), settleCheckMs))
        if (pacing.waits()) pacing.more()
      }
      pacing.giveUp()
      return !ticks.areOpen()
    },
  }
}
