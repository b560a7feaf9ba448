// The time of a run by its servers, whose clocks are checked during the run.

import { TargetError } from '../base/errors.js'
import { atMost } from '../base/timers.js'
import { clockLimitMs, clocksOf, steadyClock } from './clocks.js'

/**
 * @import { Warning } from '../measures/warnings.js'
 * @import { Target } from '../servers/open.js'
 *
 * @typedef {Awaited<ReturnType<typeof watchedClocks>>} RunClock
 */

const statedMs = 100
const answerLimitMs = 900

/** 3,600.0 s ahead of @param {number} ms */
const aheadWords = (ms) => {
  const s = (Math.abs(ms) / 1000).toLocaleString('en-US', {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  })
  return `${s} s ${ms > 0 ? 'ahead of' : 'behind'}`
}

/** @param {number} ms */
const stepWords = (ms) => `by ${ms > 0 ? '+' : '−'}${(Math.abs(ms) / 1000).toFixed(1)} s`

/**
 * The clocks of the servers of a run. A jump of one is reported once, and makes the run not valid.
 * @param {object} needs
 * @param {Pick<Target, 'time'>} needs.target
 * @param {() => readonly string[]} needs.servers
 * @param {string} needs.effect of a jump
 * @param {(warning: Warning) => void} needs.warn
 * @param {ReturnType<typeof steadyClock>} [needs.steady]
 * @param {boolean} [needs.isOwnWatched] this box's clock too
 */
export const watchedClocks = async ({
  target: { time },
  servers,
  effect,
  warn,
  steady = steadyClock(),
  isOwnWatched = false,
}) => {
  const clocks = clocksOf({ time, epochMs: steady.epochMs })
  await clocks.measure(servers())
  /** It is asked for with each tick. @type {{ of: readonly string[], ms: number } | null} */
  let known = null
  const offsetMs = () => {
    const of = servers()
    if (known?.of !== of) known = { of, ms: clocks.offsetMs(of) }
    return known.ms
  }
  let reportedMs = 0
  /** @type {Set<string>} */
  const reported = new Set()
  /** @type {Promise<void> | null} */
  let asking = null
  const jumped = (/** @type {string} */ whose, /** @type {number} */ byMs, /** @type {number} */ atMs) => {
    if (reported.has(whose)) return null
    reported.add(whose)
    const text = `${whose} jumped ${stepWords(byMs)}`
    warn({
      code: 'clock-jump',
      message: `${text} at ${(atMs / 1000).toFixed(1)} s of the run: ${effect}; keep the clocks in step (NTP) and repeat`,
    })
    return text
  }
  return {
    /** Epoch by the servers. */
    now: () => steady.epochMs() + offsetMs(),
    /** Epoch by the clock of one of them. */
    at: clocks.now,
    offsetMs,
    wrong: clocks.wrong,
    figures: clocks.figures,
    /**
     * Call once a second. Returns the jumps since the last call.
     * @param {number} atMs since the start
     * @returns {Promise<string[]>}
     */
    async check(atMs) {
      asking ??= clocks.measure(servers(), 1).finally(() => {
        asking = null
      })
      await atMost(answerLimitMs, asking)
      known = null
      const events = clocks.moved().map(({ address, byMs }) => jumped(`the clock of ${address}`, byMs, atMs))
      const byMs = isOwnWatched ? steady.jumpMs() - reportedMs : 0
      if (Math.abs(byMs) > clockLimitMs) {
        reportedMs += byMs
        events.push(jumped("this box's clock", byMs, atMs))
      }
      return events.filter((text) => text !== null)
    },
  }
}

/**
 * For a writing run, which is refused if this box's clock is wrong.
 * @param {object} needs
 * @param {Pick<Target, 'topology' | 'time'>} needs.target
 * @param {readonly string[]} needs.allow
 * @param {(warning: Warning) => void} needs.warn
 * @param {ReturnType<typeof steadyClock>} [needs.steady]
 */
export const clockOf = async ({ target, allow, warn, steady }) => {
  const clocks = await watchedClocks({
    target,
    warn,
    steady,
    isOwnWatched: true,
    servers: () => target.topology.masters,
    effect: 'items may have been removed too early or too late',
  })
  const [wrong] = clocks.wrong()
  const offsetMs = clocks.offsetMs()
  const words = (found = { address: 'the servers', offsetMs }) =>
    `this box's clock is ${aheadWords(-found.offsetMs)} that of ${found.address}`
  if (wrong && !allow.includes('clock'))
    throw new TargetError(
      `${words(wrong)}: over ${clockLimitMs / 1000} s, leases, lifetimes and results would not fit together; set the clocks (NTP), or write by the servers' time with --allow clock`,
      { code: 'CLOCK' },
    )
  if (wrong || Math.abs(offsetMs) > statedMs)
    warn({ code: 'clock', message: `${words(wrong)}: scores are by the servers' time`, invalidates: false })
  return clocks
}
