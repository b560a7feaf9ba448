// The time of a writing run: that of the servers, refused where this box's clock is wrong, and watched while it runs.

import { TargetError } from '../base/errors.js'
import { atMost } from '../base/timers.js'
import { clockLimitMs, clocksOf, steadyClock } from '../measure/clocks.js'

/**
 * @import { Warning } from '../result/warnings.js'
 * @import { Target } from '../servers/open.js'
 *
 * @typedef {Awaited<ReturnType<typeof clockOf>>} RunClock
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
 * @param {object} needs
 * @param {Pick<Target, 'topology' | 'time'>} needs.target
 * @param {readonly string[]} needs.allow
 * @param {(warning: Warning) => void} needs.warn
 * @param {ReturnType<typeof steadyClock>} [needs.steady]
 */
export const clockOf = async ({ target, allow, warn, steady = steadyClock() }) => {
  const clocks = clocksOf({ time: target.time, epochMs: steady.epochMs })
  await clocks.measure(target.topology.masters)
  const offset = () => clocks.offsetMs(target.topology.masters)
  const [wrong] = clocks.wrong()
  const words = ({ address, offsetMs } = { address: 'the servers', offsetMs: offset() }) =>
    `this box's clock is ${aheadWords(-offsetMs)} that of ${address}`
  if (wrong && !allow.includes('clock'))
    throw new TargetError(
      `${words(wrong)}: over ${clockLimitMs / 1000} s, leases, lifetimes and results would not fit together; set the clocks (NTP), or write by the servers' time with --allow clock`,
      { code: 'CLOCK' },
    )
  if (wrong || Math.abs(offset()) > statedMs)
    warn({ code: 'clock', message: `${words(wrong)}: scores are by the servers' time`, invalidates: false })

  let toldMs = 0
  /** @type {Set<string>} */
  const told = new Set()
  /** @type {Promise<void> | null} */
  let asking = null
  const jumped = (/** @type {string} */ whose, /** @type {number} */ byMs, /** @type {number} */ atMs) => {
    if (told.has(whose)) return null
    told.add(whose)
    const text = `${whose} jumped ${stepWords(byMs)}`
    warn({
      code: 'clock-jump',
      message: `${text} at ${(atMs / 1000).toFixed(1)} s of the run: items may have been removed too early or too late; keep the clocks in step (NTP) and repeat`,
    })
    return text
  }
  return {
    /** Epoch by the servers. */
    now: () => steady.epochMs() + offset(),
    figures: clocks.figures,
    /**
     * Once a second. Returns what jumped since the last look.
     * @param {number} atMs since the start
     * @returns {Promise<string[]>}
     */
    async look(atMs) {
      asking ??= clocks.measure(target.topology.masters, 1).finally(() => {
        asking = null
      })
      await atMost(answerLimitMs, asking)
      const events = clocks.moved().map(({ address, byMs }) => jumped(`the clock of ${address}`, byMs, atMs))
      const byMs = steady.jumpMs() - toldMs
      if (Math.abs(byMs) > clockLimitMs) {
        toldMs += byMs
        events.push(jumped("this box's clock", byMs, atMs))
      }
      return events.filter((text) => text !== null)
    },
  }
}
