// Counts and latencies of a writing run whose load is in threads, as those of a run in one: counts are in memory that all
// threads see, and each second is folded as a fleet folds the seconds of its boxes.
import { writingOf } from '../loads/index.js'
import { partsOf } from '../loads/parts.js'
import { recordsOf } from '../loads/write-records.js'
import { counts as countsOf } from '../measures/fields.js'
import { joinedWritten } from '../probes/acked-ranges.js'
import { keptIn, memoryFor, summed } from '../probes/shared-counts.js'
import { besideOf, threadSeconds } from './seconds.js'

/**
 * @import { namedSumsOf } from '../loads/write-records.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Written } from '../probes/acked-ranges.js'
 * @import { Counts } from '../probes/ledger.js'
 * @import { End, Second } from './seconds.js'
 *
 * @typedef {ReturnType<typeof namedSumsOf>} Sums
 * @typedef {Second & { sums: Sums, behindMs: number | null, counts: Record<string, number>, bytes: Record<string, number | null> }}
 *   ThreadSecond behindMs: how late its first byte was sent; counts: replies by their meaning; bytes: that its connections
 *   exchanged, by node
 * @typedef {End & { written: Written | null, lastSettledMs: number }} ThreadEnd
 */

/** In `failed_by`, of a thread that has ended by itself. */
const lostCause = 'THREAD'
const added = countsOf()

/** @param {Counts} counts */
const openIn = ({ offered, acked, failed, uncertain, dropped, unsettled }) =>
  offered - acked - failed - uncertain - dropped - unsettled

/** @param {Record<string, number>} counts */
const total = (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0)

/** @param {Plan} part @param {() => boolean} isMeasured */
const threadOf = (part, isMeasured) => {
  const { ledger } = writingOf(part)
  const memory = memoryFor((keep) => ledger(part, isMeasured, keep))
  /** @type {ReturnType<typeof threadSeconds<ThreadSecond, ThreadEnd>>} */
  const seconds = threadSeconds()
  return Object.assign(seconds, { part, memory, ledger: ledger(part, isMeasured, keptIn(memory)) })
}

/** @typedef {ReturnType<typeof threadOf>} ThreadRecords */

/** By writer; threads may share one. @param {readonly ThreadRecords[]} threads */
const byAgentOf = (threads) => {
  /** @type {Map<number, Counts[]>} */
  const parts = new Map()
  for (const { ledger } of threads)
    for (const [agent, counts] of ledger.byAgent) parts.set(agent, [...(parts.get(agent) ?? []), counts])
  return new Map([...parts].map(([agent, all]) => [agent, summed(all)]))
}

/**
 * @param {Plan} plan
 * @param {() => boolean} isMeasured
 */
export const recordsInThreads = (plan, isMeasured) => {
  const threads = partsOf(plan, writingOf(plan).sharing).map((part) => threadOf(part, isMeasured))
  const areTurns = threads.some(({ part }) => part.part?.turns)
  // Nothing is recorded here but what the threads say.
  const own = recordsOf(plan, isMeasured)
  const { failedBy, errorsBy, repeatedBy } = own.ledger
  const ends = () => threads.flatMap(({ end }) => end ?? [])
  const seconds = () => threads.flatMap(({ last }) => last ?? [])
  const beside = besideOf(threads)
  const ledger = {
    ...own.ledger,
    whole: summed(threads.map((thread) => thread.ledger.whole)),
    measured: summed(threads.map((thread) => thread.ledger.measured)),
    byAgent: byAgentOf(threads),
    commands: summed(threads.map((thread) => thread.ledger.commands)),
    written() {
      const all = ends().flatMap(({ written }) => written ?? [])
      return joinedWritten(all, all.length === threads.length)
    },
  }
  /** @param {'failed_by' | 'errors_by' | 'repeated_by'} by @returns {Record<string, number>} */
  const namedBy = (by) => seconds().reduce((sum, { sums }) => added.acrossSources(sum, sums[by]), {})
  const addNamed = () => {
    Object.assign(failedBy, namedBy('failed_by'))
    Object.assign(errorsBy, namedBy('errors_by'))
    Object.assign(repeatedBy, namedBy('repeated_by'))
    const { failed, uncertain } = ledger.whole
    const unknown = failed + uncertain - total(failedBy)
    if (unknown > 0 && threads.some(({ isLost }) => isLost)) failedBy[lostCause] = unknown
  }
  /** Each thread has all ticks, or those of its turns. @param {(sums: Sums['ticks']) => number} of */
  const ticksBy = (of) => {
    const all = seconds().map(({ sums }) => of(sums.ticks))
    return areTurns ? all.reduce((sum, n) => sum + n, 0) : Math.max(0, ...all)
  }

  return {
    ...own,
    threads,
    ledger,
    lateTicks: () => ticksBy(({ late }) => late),
    measuredTicks: () => ticksBy(({ count }) => count),
    nextTick() {
      const all = seconds().map(({ sums }) => sums.ticks.next)
      return areTurns && all.length > 0 ? Math.min(...all) : Math.max(0, ...all)
    },
    firstBehindMs: () => {
      const known = seconds().flatMap(({ behindMs }) => behindMs ?? [])
      return known.length > 0 ? Math.max(...known) : null
    },
    counts: () => seconds().reduce((sum, { counts }) => added.acrossSources(sum, counts), {}),
    /** Bytes that all threads exchanged with a node. @param {string} address */
    bytesOf: (address) => seconds().reduce((sum, { bytes }) => sum + (bytes[address] ?? 0), 0),
    /** A second of all threads is there. */
    add() {
      beside.add()
      addNamed()
    },
    /** A thread has ended by itself: what it had under way is unsettled. @param {number} number */
    lose(number) {
      const thread = threads[number]
      thread.isLost = true
      const { whole, measured, byAgent } = thread.ledger
      for (const counts of new Set([whole, measured, ...byAgent.values()])) counts.unsettled += openIn(counts)
      addNamed()
    },
    lastSettledMs: () => Math.max(0, ...ends().map(({ lastSettledMs }) => lastSettledMs)),
    beside,
  }
}

/** @typedef {ReturnType<typeof recordsInThreads>} RecordsInThreads */
