// Offers the plan's ticks to a driver, with the plan's pacing, until the time is over or it is stopped.

import { chunkRange } from '../../base/ranges.js'
import { alarm, deferred, systemTimers } from '../../base/timers.js'
import { isScheduled, pacerOf } from '../../plan/pacer.js'
import { tickValues } from '../../plan/tick-values.js'
import { batchDraws, isDrawn } from '../../traffic/items.js'
import { coursePacing } from '../course-pacing.js'
import { tickInPortions } from './portions.js'
import { ticker } from './ticker.js'

/**
 * @import { Range } from '../../base/ranges.js'
 * @import { Timers } from '../../base/timers.js'
 * @import { Account, ledgerOf } from '../../measure/ledger.js'
 * @import { Course } from '../../plan/course.js'
 * @import { Plan } from '../plan.js'
 * @import { Tick } from '../../transport/connection.js'
 * @import { socketDriver } from '../../transport/socket.js'
 * @import { TickValues } from '../../wire/encode.js'
 * @import { TickInPortions } from './portions.js'
 *
 * @typedef {Awaited<ReturnType<typeof socketDriver>>} Driver
 */

const settleCheckMs = 5
// A batch that takes longer than this at the end of the time is not waited for.
const batchLimitMs = 2000
// A batch that takes longer than this is begun in portions, so that the rest of it can be dropped when it is too late.
const largeBatchMs = 1000

/**
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Driver} needs.driver
 * @param {ReturnType<typeof ledgerOf>} needs.ledger
 * @param {() => number} needs.clock
 * @param {() => number} needs.epochMs
 * @param {() => number} [needs.stopsAtMs] when the run is stopped, by the clock, as far as is known
 * @param {Course | null} [needs.course] of a run whose rate changes
 * @param {() => number} [needs.measuredFromMs] when the warm-up ends, after the start
 * @param {Timers} [needs.timers]
 */
export const ticksWriter = ({
  plan,
  driver,
  ledger,
  clock,
  epochMs,
  stopsAtMs = () => Number.POSITIVE_INFINITY,
  course = null,
  measuredFromMs = () => plan.warmUpMs,
  timers = systemTimers,
}) => {
  const pacer = pacerOf(plan)
  const agents = plan.agents.map((range, index) => ({
    ...range,
    index,
    draw: isDrawn(plan) ? batchDraws(plan, range) : null,
  }))
  let startMs = 0
  let isLate = false
  let lastEpoch = 0
  let openTicks = 0
  let measuredTicks = 0
  let lastSettledMs = 0
  let stopped = false
  let cancelEnd = () => {}
  const { over: offered, finish: end } = deferred()
  const finish = () => {
    cancelEnd()
    end()
  }

  // Before the start the time is 0: a clock that jumped back gave nodes negative values.
  const elapsed = () => (startMs === 0 ? 0 : clock() - startMs)
  // A clock that is set back must not give newer items older scores.
  const now = () => {
    lastEpoch = Math.max(lastEpoch, Math.floor(epochMs()))
    return lastEpoch
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
    if (measured && agent.index === 0) measuredTicks++
    return ledger.open({ agent: agent.agent, first, count: range.count, measured }, closed(then))
  }
  /**
   * @param {typeof agents[number]} agent
   * @param {number} i
   * @param {number} dueMs
   * @param {TickValues} values
   * @param {(() => void) | null} [then]
   * @returns {Tick}
   */
  const tickOf = (agent, i, dueMs, values, then) => {
    const k = pacer.chunkOf(i)
    const range = chunkRange(agent, plan.chunks, k)
    const account = open(agent, i, dueMs, range, then)
    // Any batch may have any item, so each waits for the one before.
    const chunk = agent.index * plan.chunks + (agent.draw ? 0 : k)
    const items = agent.draw?.(range, dueMs) ?? null
    const unsent = { firstMs: null, sends: [], progress: null, portions: null }
    return { index: i, chunk, dueMs: startMs + dueMs, ...unsent, values, account, items }
  }
  /** @param {number} i @param {number} dueMs @param {number} [from] the portion that is begun first */
  const begin = (i, dueMs, from) => {
    const values = tickValues(now(), plan.ttlS)
    const ticks = agents.map((agent) => tickOf(agent, i, dueMs, values))
    return tickInPortions({ ticks, driver, ledger, from })
  }
  /** Drops a whole tick: none of its commands is sent. @param {number} i @param {number} dueMs */
  const skipAll = (i, dueMs) => {
    for (const agent of agents)
      ledger.skip(open(agent, i, dueMs, chunkRange(agent, plan.chunks, pacer.chunkOf(i))))
  }

  /**
   * Ticks at absolute deadlines. Those due before this box joined are not its own. A tick that is due begins as soon as the
   * servers have room, and then takes about a second at most; one that waits too long is dropped as a whole.
   */
  const scheduled = () => {
    /** @typedef {{ i: number, sinceMs: number }} Waiting */
    /** @type {Waiting[]} */
    const waiting = []
    /** @type {{ tick: TickInPortions, due: Waiting, begunMs: number } | null} */
    let current = null
    const isTooLate = (/** @type {Waiting} */ { i, sinceMs }) => {
      const nowMs = elapsed()
      return nowMs - pacer.dueMs(i) > plan.maxBehindMs || nowMs - sinceMs > driver.waitLimitMs()
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
          skipAll(i, pacer.dueMs(i))
        }
        if (current && elapsed() - current.begunMs > largeBatchMs && isTooLate(current.due)) giveUpCurrent()
        if ((waiting.length === 0 && !current) || !driver.hasRoom()) return
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
    const ticks = ticker({
      pacer,
      ticks: plan.ticks,
      elapsed,
      firstTick: () => (isLate ? pacer.ticksDue(elapsed()) : 0),
      stopsMs: () => stopsAtMs() - startMs,
      begin: (i) => {
        waiting.push({ i, sinceMs: elapsed() })
        more()
      },
      // The last interval lasts its whole time.
      onEnd: () => timers.setTimeout(finish, Math.max(0, (plan.endMs ?? 0) - elapsed())),
      timers,
    })
    return {
      start: ticks.start,
      stop: ticks.stop,
      more,
      next: ticks.next,
      waits: () => current !== null || waiting.length > 0,
      giveUp: () => {
        giveUpCurrent()
        for (const { i } of waiting.splice(0)) skipAll(i, pacer.dueMs(i))
      },
    }
  }

  const isOver = (/** @type {number} */ i) =>
    stopped ||
    (plan.ticks !== null && i >= plan.ticks) ||
    (plan.durationMs !== null && elapsed() >= plan.durationMs)

  /** As fast as the servers accept ticks. */
  const saturating = () => {
    let next = 0
    /** @type {TickInPortions | null} */
    let current = null
    const more = () => {
      while ((current || !isOver(next)) && driver.hasRoom()) {
        current ??= begin(next++, elapsed())
        if (current.next()) current = null
      }
      if (!current && isOver(next)) finish()
    }
    const giveUp = () => {
      current?.giveUp()
      current = null
    }
    return { start: more, stop: () => {}, more, next: () => next, waits: () => current !== null, giveUp }
  }

  /** Each agent waits for its batch and then sleeps, as the published programs did. */
  const closedLoop = () => {
    let running = agents.length
    /** @type {Set<NodeJS.Timeout>} */
    const sleeping = new Set()
    /** @param {typeof agents[number]} agent @param {number} i */
    const writeTick = (agent, i) => {
      if (isOver(i)) {
        if (--running === 0) finish()
        return
      }
      const then = () => {
        const timer = timers.setTimeout(() => {
          sleeping.delete(timer)
          writeTick(agent, i + 1)
        }, pacer.spacingMs)
        sleeping.add(timer)
      }
      const tick = tickInPortions({
        ticks: [tickOf(agent, i, elapsed(), tickValues(now(), plan.ttlS), then)],
        ...{ driver, ledger },
      })
      while (!tick.next()) {}
    }
    return {
      start: () => {
        for (const agent of agents) writeTick(agent, 0)
      },
      stop: () => {
        for (const timer of sleeping) timers.clearTimeout(timer)
      },
      more: () => {},
      next: () => 0,
      waits: () => false,
      giveUp: () => {},
    }
  }

  /** @param {Course} changing */
  const byCourse = (changing) =>
    coursePacing({
      ...{ course: changing, elapsed, hasRoom: driver.hasRoom, begin, skip: skipAll, timers },
      tickItems: plan.quantity / plan.chunks,
      // The last second lasts its whole time.
      onEnd: () => timers.setTimeout(finish, Math.max(0, (plan.endMs ?? 0) - elapsed())),
      maxBehindMs: plan.maxBehindMs,
    })

  const pacing = course
    ? byCourse(course)
    : plan.rate === 'max'
      ? saturating()
      : plan.pacing === 'closed'
        ? closedLoop()
        : scheduled()

  return {
    offered,
    elapsed,
    measuredTicks: () => measuredTicks,
    lastSettledMs: () => lastSettledMs - startMs,
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
      if (isScheduled(plan) || plan.durationMs === null) return
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
      while ((openTicks > 0 || pacing.waits()) && clock() < deadline && !atOnce.aborted) {
        await new Promise((resolve) => timers.setTimeout(() => resolve(undefined), settleCheckMs))
        if (pacing.waits()) pacing.more()
      }
      pacing.giveUp()
      return openTicks === 0
    },
  }
}
