// The phases of a writing run: the warm-up, the measured window, and the draining of what is under way.

import { normalTail } from '../base/distributions.js'
import { period } from '../base/units.js'

/**
 * @import { Plan } from '../loads/plan.js'
 * @import { Snapshot } from '../probes/seconds.js'
 * @import { Records } from '../loads/write-records.js'
 */

// When a cache is warm: its share of hits shows no trend, and it is full, or has nearly all keys that there are.

/** So many seconds are compared. */
const secondsThatTell = 10
// Kendall's test: a trend is seen at this level, one side or the other.
const level = 0.1
// Halves that differ less than this do not matter.
const leastPoints = 0.3
// A cache that is not full and grows by more in a second is still filling.
const growing = 0.002

/** The probability that values without a trend have one as clear (Mann-Kendall). @param {readonly number[]} values */
export const trendChance = (values) => {
  const n = values.length
  let s = 0
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) s += Math.sign(values[j] - values[i])
  const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)
  return Math.min(1, 2 * normalTail(Math.max(0, Math.abs(s) - 1) / deviation))
}

/** @param {readonly number[]} values */
const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * @typedef {object} WarmLine of intervals.ndjson
 * @property {{ hits?: number | null, misses?: number | null } | null} [cache]
 * @property {readonly { role?: string, evictions?: number | null, keys?: number | null }[]} [nodes]
 */

/** @param {WarmLine} line */
const shareIn = ({ cache }) => {
  const keys = (cache?.hits ?? 0) + (cache?.misses ?? 0)
  return keys > 0 ? ((cache?.hits ?? 0) / keys) * 100 : Number.NaN
}

/** @param {readonly WarmLine[]} lines */
const isFilling = (lines) => {
  const sum = (/** @type {WarmLine} */ { nodes = [] }, /** @type {'evictions' | 'keys'} */ name) =>
    nodes.reduce((all, row) => (row.role === 'master' ? all + (row[name] ?? 0) : all), 0)
  const [first, last] = [lines[0], lines[lines.length - 1]]
  if (lines.some((line) => sum(line, 'evictions') > 0)) return false
  const grown = sum(last, 'keys') - sum(first, 'keys')
  return grown > growing * (lines.length - 1) * sum(last, 'keys')
}

/** Lines so far, the newest last. @param {readonly WarmLine[]} lines */
export const isWarm = (lines) => {
  const last = lines.slice(1).slice(-secondsThatTell)
  if (last.length < secondsThatTell || isFilling(last)) return false
  const shares = last.map(shareIn)
  if (shares.some(Number.isNaN)) return false
  const half = secondsThatTell / 2
  const apart = Math.abs(meanOf(shares.slice(half)) - meanOf(shares.slice(0, half)))
  return apart < leastPoints || (trendChance(shares) > level && apart < 3 * leastPoints)
}

// When a run is steady: latency, rate and CPU of three seconds in a row agree.

// Tolerance as a ratio: seconds of a steady run differ by chance, a p99 more than a median.
const secondsThatAgree = 3
const apart = { rate: 1.1, p50: 1.5, p99: 2, cpu: 1.4 }
// Smaller differences are within tolerance whatever their ratio.
const leastUs = 500
const leastCpuPct = 5

/** @param {readonly (number | null | undefined)[]} values @param {number} ratio @param {number} least */
const agree = (values, ratio, least) => {
  const known = values.map((value) => Math.max(least, value ?? Number.NaN))
  return Math.max(...known) <= ratio * Math.min(...known)
}

/**
 * @typedef {object} SteadyLine of intervals.ndjson
 * @property {number | null} [achieved]
 * @property {{ intended: { p50?: number, p99?: number } | null } | null} [latency_us]
 * @property {readonly { cpu_pct?: number | null }[]} [nodes]
 * @property {{ cpu_pct?: number | null } | null} [client]
 */

/** @param {SteadyLine} line */
const cpuPct = ({ nodes = [], client }) =>
  nodes.reduce((sum, { cpu_pct: pct }) => sum + (pct ?? 0), 0) + (client?.cpu_pct ?? 0)

/** Lines so far, the newest last. @param {readonly SteadyLine[]} lines */
export const isSteady = (lines) => {
  // The first second creates keys and compiles code, so it never counts.
  const last = lines.slice(1).slice(-secondsThatAgree)
  if (last.length < secondsThatAgree) return false
  const times = last.map(({ latency_us: found }) => found?.intended)
  return (
    agree(
      last.map(({ achieved }) => achieved),
      apart.rate,
      1,
    ) &&
    agree(
      times.map((found) => found?.p50),
      apart.p50,
      leastUs,
    ) &&
    agree(
      times.map((found) => found?.p99),
      apart.p99,
      leastUs,
    ) &&
    agree(last.map(cpuPct), apart.cpu, leastCpuPct)
  )
}

// The counters are read this long before the first measured tick, so that they include all of it.
const markEarlyMs = 25
// The end of the warm-up is decided this long before it.
const decidedMs = 200

/** @param {{ plan: Plan, fromMs: number, steady: boolean, lines: number, waits: string }} found */
const leftOutWords = ({ plan, fromMs, steady, lines, waits }) => {
  const leftMs = (plan.durationMs ?? plan.endMs ?? Number.POSITIVE_INFINITY) - fromMs
  const isCache = Boolean(plan.cache)
  const why = steady
    ? isCache
      ? `the share of hits of ${secondsThatTell} seconds does not move`
      : `latency and CPU of ${secondsThatAgree} seconds agree`
    : lines > (isCache ? secondsThatTell : secondsThatAgree)
      ? isCache
        ? 'the share of hits still moves'
        : 'latency and CPU still change'
      : `the run is too short to compare seconds, and ${period(leftMs)} are measured`
  return `the warm-up of ${period(fromMs)} is left out: ${why}${waits && `; ${waits}`}`
}

/**
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Records['ledger']} needs.ledger
 * @param {() => unknown} needs.onOpen the warm-up is over
 * @param {(text: string) => void} [needs.onBacklog] called if items were already waiting
 * @param {() => number} needs.elapsed
 */
export const measuringWindow = ({ plan, ledger, onOpen, onBacklog = () => {}, elapsed }) => {
  let isOpen = false
  let isClosed = false
  let openedMs = 0
  let fromMs = plan.warmUpMs
  let closedMs = Number.POSITIVE_INFINITY
  let ackedBefore = 0
  /** @type {NodeJS.Timeout | undefined} */
  let warmUp
  /** @type {(SteadyLine & WarmLine)[]} */
  const lines = []
  let settles = plan.settles === true && plan.warmUpMs > 0

  /** The backlog in words, where it is more than is due in a second. */
  const waiting = () => {
    const secondOf = Number(plan.nominalHz ?? Number.POSITIVE_INFINITY)
    if (!Number.isFinite(secondOf)) return ''
    const { offered, acked, failed, uncertain, dropped, unsettled } = ledger.whole
    const items = offered - acked - failed - uncertain - dropped - unsettled
    return items > secondOf ? `${items} items wait already` : ''
  }
  const open = () => {
    isOpen = true
    openedMs = elapsed()
    ackedBefore = ledger.whole.acked
    return onOpen()
  }
  const openInTime = () => {
    clearTimeout(warmUp)
    const inTime = () => {
      const words = plan.settles ? '' : waiting()
      if (words) onBacklog(`the warm-up is over, and ${words}: the backlog began in it`)
      open()
    }
    warmUp = setTimeout(inTime, Math.max(0, fromMs - markEarlyMs - elapsed()))
  }
  /** The length of a tick where ticks are even. @param {number} secondMs */
  const boundaryMs = (secondMs) =>
    plan.schedule === 'even' ? Math.ceil(secondMs / plan.spacingMs - 1e-9) * plan.spacingMs : secondMs
  return {
    /** When what is due is measured. */
    fromMs: () => fromMs,
    /**
     * Call after a second was written: the warm-up may end if it lasts until the run is steady.
     * @param {SteadyLine & WarmLine} line of intervals.ndjson
     * @returns what to say of it; null: nothing
     */
    endWarmUp(line) {
      if (!settles || isClosed) return null
      // A line that comes after the greatest length of the warm-up does not count.
      if (!isOpen) lines.push(line)
      const steady = !isOpen && (plan.cache ? isWarm(lines) : isSteady(lines))
      const secondMs = Math.ceil((elapsed() + decidedMs) / 1000) * 1000
      if (!isOpen && !steady && secondMs < fromMs) return null
      settles = false
      if (!isOpen) {
        fromMs = Math.min(fromMs, boundaryMs(secondMs))
        openInTime()
      }
      return leftOutWords({ plan, fromMs, steady, lines: lines.length, waits: waiting() })
    },
    /** @returns {Snapshot['phase']} */
    phase: () => (isClosed ? 'draining' : isOpen ? 'measuring' : 'warm-up'),
    /** Call before the first tick: without a warm-up, all ticks are measured. */
    async prepare() {
      if (plan.warmUpMs === 0) await open()
    },
    /** The first tick begins. */
    start() {
      if (plan.warmUpMs > 0) openInTime()
    },
    /** Opens the window anew: everything before counts as warm-up. */
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
    /** Whether what was due then belongs to the window, whenever it was answered. @param {number} dueMs after the start */
    covers: (dueMs) => dueMs >= fromMs && dueMs < closedMs,
    /** Items acknowledged within the window, counted as the seconds count them. */
    acked: () => ledger.whole.acked - ackedBefore,
    /** @param {number} endMs of the run */
    lengthS: (endMs) => (isOpen ? (endMs - (plan.schedule === 'none' ? openedMs : fromMs)) / 1000 : 0),
  }
}
