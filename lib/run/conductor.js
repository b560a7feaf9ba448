// Plays a search in a run: each step is a stretch of the run's course. Each of its seconds gets a record of what was due in
// it, once all of that has an outcome.

import { sleep } from '../base/settlement.js'
import { usesOf } from '../measures/client.js'
import { put } from '../measures/fold.js'
import { others, TIMES_BY_DUE } from '../measures/index.js'
import { courseOf } from '../plan/course.js'
import { clientHealth } from '../probes/client-health.js'
import { series } from '../probes/latency.js'

/**
 * @import { Step, SecondVerdict } from '../answers/find/bracket.js'
 * @import { Member } from '../fleet/member.js'
 * @import { Times } from '../probes/latency.js'
 * @import { Stretch } from '../plan/course.js'
 * @import { OfOthers } from '../measures/index.js'
 * @import { Records } from '../loads/write-records.js'
 *
 * @typedef {OwnSecond & Required<OfOthers<Times>>} SecondRecord the outcome of what was due in a second
 * @typedef {object} OwnSecond
 * @property {number} atMs when it began, after the start of the run
 * @property {Step['phase']} phase
 * @property {number | null} rate items a second; null: as fast as the servers accept them
 * @property {number} achieved items a second acknowledged in it
 * @property {Record<string, number>} items by their outcome, in it or until it was settled
 * @property {{ intended: Times | null, service: Times | null }} latency_us
 * @property {{ busy_pct: number | null, thread_cpu_pct: number | null, cpu_pct: number | null }} client
 * @property {boolean} backlog_grows at a constant rate a limit would be missed later, though not in this second
 * @property {number} waited_ms latency of the last answer in it, from the due time
 *
 * @typedef {{ second: SecondRecord, hdr: Record<string, string | null>, client: ReturnType<ReturnType<typeof clientHealth>['sample']> }} Played a
 *   second here, with the amounts of the client
 *
 * @typedef {{ counts: Record<string, number>, waitedMs: number, client: Played['client'] }} Mark the end of a second
 *
 * @typedef {object} Conducted the parts of a run that a search needs
 * @property {{ elapsed: () => number, stop: () => void, offered: Promise<unknown> }} writing offered resolves when nothing more is offered
 * @property {Pick<Records, 'ledger' | 'restart'>} records
 * @property {{ reopen: () => Promise<unknown> }} window
 */

// A step begins this long after it is decided.
const leadMs = 6
// Answers that take longer than this after the end of a step fail its last second.
const settleMs = 3000
const lookMs = 3
// A second that is tried alone is extended when it has not failed this long before its end.
const decidedMs = 8
// A median this much above that of the second before, at the same rate, shows that a queue grows: the rate is 1 % too high.
const growingMs = 10
const growingRatio = 1.2
const [intendedPath, servicePath] = ['latency_us.intended', 'latency_us.service']

/** Latencies of one second by path; reused for later steps. */
const slotOf = () => Object.fromEntries(TIMES_BY_DUE.map((path) => [path, series()]))

/** @param {Times | null} found */
export const percentilesOf = (found) =>
  found && { p50: found.p50, p90: found.p90, p99: found.p99, p999: found.p999, max: found.max }

/** @param {ReturnType<typeof series>} one */
const timesIn = (one) => {
  const found = one.endSecond()
  return { times: percentilesOf(found), hdr: found?.hdr ?? null }
}

/** @param {Times | null} before @param {Times | null} now of seconds at the same rate */
const isGrowing = (before, now) =>
  before !== null &&
  now !== null &&
  now.p50 - before.p50 > growingMs * 1000 &&
  now.p50 > before.p50 * growingRatio

/** Some of them have no outcome yet. @param {Record<string, number>} items */
const isOpen = ({ offered, acked, failed, uncertain, dropped, unsettled }) =>
  offered > acked + failed + uncertain + dropped + unsettled

/**
 * The record of each second of a step. settled: the counts when all had an outcome or the wait was over.
 * @param {{ step: Step, fromMs: number, before: Record<string, number>, marks: readonly Mark[], atEnd: Record<string, number>, isBehind: boolean }} played
 * @param {readonly ReturnType<typeof slotOf>[]} slots
 */
const secondsOf = ({ step, fromMs, before, marks, atEnd, isBehind }, slots) => {
  const { rate, phase, tries = false } = step
  /** @type {Times | null} */
  let medians = null
  return marks.map(({ counts, waitedMs, client }, i) => {
    const first = i === 0 ? before : marks[i - 1].counts
    const isLast = i === marks.length - 1
    const last = isLast ? atEnd : counts
    const items = Object.fromEntries(Object.keys(last).map((name) => [name, last[name] - first[name]]))
    const latencies = Object.entries(slots[i]).map(([path, one]) => ({ path, ...timesIn(one) }))
    const intended = latencies.find(({ path }) => path === intendedPath)?.times ?? null
    const slower = tries && i > 0 && isGrowing(medians, intended)
    medians = intended
    /** @type {SecondRecord} */
    const second = {
      atMs: fromMs + i * 1000,
      phase,
      rate: Number.isFinite(rate) ? rate : null,
      achieved: counts.acked - first.acked,
      items: { ...items, open: isLast && isOpen(atEnd) ? 1 : 0 },
      client: usesOf(client),
      backlog_grows: slower || (isLast && isBehind),
      waited_ms: waitedMs,
      latency_us: { intended: null, service: null },
      [others.path]: null,
    }
    for (const { path, times } of latencies) put(second, path, times)
    return { second, client, hdr: Object.fromEntries(latencies.map(({ path, hdr }) => [path, hdr])) }
  })
}

/** @type {Stretch} */
const noStretch = { fromMs: 0, toMs: 0, rateHz: 0 }

/**
 * Plays steps in a run, the same on every box of a fleet.
 * @param {object} needs
 * @param {number} [needs.graceMs] after a step, in which what was due in it may still begin
 * @param {number} [needs.behindMs] an item that has waited longer at the end of a second has missed every limit
 * @param {() => number} [needs.clock] ms
 * @param {(ms: number) => Promise<void>} [needs.wait]
 * @param {AbortSignal} needs.stop
 */
const playerOf = ({
  graceMs = 0,
  behindMs = Number.POSITIVE_INFINITY,
  clock = () => performance.now(),
  wait = sleep,
  stop,
}) => {
  const course = courseOf([], false, graceMs)
  const health = clientHealth({ clock })
  /** @type {ReturnType<typeof slotOf>[]} */
  const slots = []
  let now = noStretch
  let lastWaitMs = 0 // latency of the last answer, from the due time
  let originMs = 0 // when the run began, by the clock
  let isOver = stop.aborted // the run was interrupted, or a guard ended it

  /** @param {number} dueMs after the start */
  const slotAt = (dueMs) =>
    dueMs < now.fromMs || dueMs >= now.toMs ? undefined : slots[Math.floor((dueMs - now.fromMs) / 1000)]

  /**
   * @param {Conducted} run
   * @param {Step} step
   * @param {number} [atMs] in a fleet, after the start; its boxes play all seconds of a step, as they cannot agree in time to stop earlier
   * @returns {Promise<Played[]>}
   */
  const play = async ({ writing, records, window }, step, atMs) => {
    const { rate, seconds: most, phase, tries = false } = step
    const { ledger } = records
    if (phase === 'confirm') {
      records.restart()
      await window.reopen()
    }
    let n = most
    while (slots.length < n) slots.push(slotOf())
    const before = { ...ledger.whole }
    const fromMs = atMs ?? writing.elapsed() + leadMs
    const isTried = tries && atMs === undefined
    now = { fromMs, toMs: fromMs + (isTried ? 1 : n) * 1000, rateHz: rate }
    health.sample()
    course.add(now)
    const marks = /** @type {Mark[]} */ ([])
    let isBehind = false
    for (let i = 1; i <= n && !isOver && !(isBehind && isTried); i++) {
      const overMs = fromMs + i * 1000
      if (tries && i < n) {
        await wait(overMs - decidedMs - writing.elapsed())
        isBehind ||= lastWaitMs > behindMs
        // This process may have paused until after the end of the stretch.
        if (isTried && writing.elapsed() >= overMs) n = i
        else if (isTried && !isBehind) now.toMs += 1000
      }
      await wait(overMs - writing.elapsed())
      marks.push({ counts: { ...ledger.whole }, waitedMs: lastWaitMs, client: health.sample() })
    }
    const deadline = writing.elapsed() + settleMs
    // Waits at least once, so that the load drops what the stretch left.
    do await wait(lookMs)
    while (
      (course.waits(writing.elapsed()) || isOpen(ledger.whole)) &&
      writing.elapsed() < deadline &&
      !isOver
    )
    return secondsOf({ step, fromMs, before, marks, atEnd: { ...ledger.whole }, isBehind }, slots)
  }

  return {
    course,
    play,
    isOver: () => isOver,
    /** @param {Conducted} run */
    begin({ writing }) {
      originMs = clock() - writing.elapsed()
      health.startRun()
      const end = () => {
        isOver = true
      }
      stop.addEventListener('abort', end, { once: true })
      writing.offered.then(end)
    },
    /** @param {Conducted} run */
    end({ writing }) {
      writing.stop()
      health.stop()
      for (const slot of slots.splice(0)) for (const one of Object.values(slot)) one.close()
    },
    tap: {
      /** @param {number} dueMs by the clock @param {number} sentMs @param {number} nowMs @param {number} items */
      answered(dueMs, sentMs, nowMs, items) {
        const slot = slotAt(dueMs - originMs)
        if (!slot) return
        lastWaitMs = nowMs - dueMs
        slot[intendedPath].record((nowMs - dueMs) * 1000, items)
        slot[servicePath].record((nowMs - sentMs) * 1000, items)
      },
      /** @param {string} path @param {number} dueMs after the start @param {number} us */
      record: (path, dueMs, us) => slotAt(dueMs)?.[path].record(us),
    },
  }
}

/**
 * @template Answer
 * @param {Parameters<typeof playerOf>[0] & {
 *   machine: Generator<Step, Answer, SecondVerdict[]>,
 *   judge: (second: SecondRecord) => SecondVerdict,
 *   onStep: (step: Step, last: SecondRecord | undefined) => void }} needs
 */
export const conductorOf = ({ machine, judge, onStep, ...needs }) => {
  const player = playerOf(needs)
  /** @type {SecondRecord[]} */
  const seconds = []
  return {
    course: player.course,
    tap: player.tap,
    /** @type {readonly SecondRecord[]} */
    seconds,
    /**
     * Plays until the search has its answer or the run is stopped.
     * @param {Conducted} run
     * @param {(run: Conducted, step: Step) => Promise<SecondRecord[]>} [playing] plays a step on all boxes of a fleet
     * @returns {Promise<Answer | null>} null: it was stopped
     */
    async conduct(
      run,
      playing = async (own, step) => (await player.play(own, step)).map(({ second }) => second),
    ) {
      player.begin(run)
      try {
        let next = machine.next()
        while (!next.done && !player.isOver()) {
          onStep(next.value, seconds.at(-1))
          const records = await playing(run, next.value)
          if (player.isOver()) return null
          seconds.push(...records)
          next = machine.next(records.map(judge))
        }
        return next.done ? next.value : null
      } finally {
        player.end(run)
      }
    },
    player,
  }
}

/** @typedef {Pick<ReturnType<typeof playerOf>, 'course' | 'tap'> & { conduct: (run: Conducted, fleet: Member | null) => Promise<unknown> }} Conductor */
