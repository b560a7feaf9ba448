// What every run has, whatever its load: its time, its events, the seconds, what watches the servers, and what ends it early.
// All of it is closed with the run. Times are in milliseconds.

import { untilStopped } from '../base/interrupts.js'
import { settled } from '../base/settlement.js'
import { instrumentsOf } from '../measures/index.js'
import { dataLossOf } from './data-loss.js'
import { journalOf } from './journal.js'
import { everySecond, samplerOf } from './second.js'

/**
 * @import { NodeRow } from '../measure/node-sampler.js'
 * @import { Measure } from '../measures/measure.js'
 * @import { Snapshot } from '../report/live.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Target } from '../servers/open.js'
 * @import { RunClock } from './clock.js'
 * @import { Seconds } from './second.js'
 * @import { Signals } from '../base/settlement.js'
 *
 * @typedef {object} FrameNeeds
 * @property {Target} target
 * @property {{ interval: (line: object) => void, event: (line: object) => void }} results
 * @property {(snapshot: Snapshot) => void} show
 * @property {(kind: string, text: string) => void} onEvent
 * @property {(line: string) => void} say
 * @property {(warning: Warning) => void} [warn]
 * @property {(rows: NodeRow[]) => string | null} [guard] why to end the run now
 * @property {AbortSignal} stop
 * @property {AbortSignal} stopNow
 *
 * @typedef {object} Load
 * @property {() => number} elapsed 0 until its start
 * @property {Promise<unknown>} over nothing new begins
 * @property {() => void} stop
 * @property {(limitMs: number, atOnce: AbortSignal) => Promise<boolean>} settle
 *
 * @typedef {(step: () => unknown) => void} Undo
 * @typedef {ReturnType<typeof frameOf>} Frame
 */

/**
 * @param {FrameNeeds} needs
 * @param {Undo} undo
 * @param {object} [kind] of the load
 * @param {boolean} [kind.removesKeys] it removes keys itself
 * @param {() => number} [kind.created] keys that it has made so far
 * @param {() => number} [kind.carried] items that were answered so far
 */
export const frameOf = (needs, undo, { removesKeys, created, carried } = {}) => {
  const { target, results, onEvent, warn = () => {}, guard = () => null, stop, stopNow } = needs
  /** @type {Load | null} */
  let load = null
  let hasEnded = false
  let isOver = false
  /** @type {Awaited<ReturnType<typeof instrumentsOf>> | null} */
  let running = null
  /** @type {ReturnType<typeof everySecond> | null} */
  let seconds = null

  const clock = () => performance.now()
  const elapsed = () => load?.elapsed() ?? 0
  const journal = journalOf({ elapsed, write: results.event, tell: onEvent })
  const { note } = journal
  /** Ends the run before its time. @param {string} code @param {string} message @param {string} [text] of the event */
  const end = (code, message, text = message) => {
    note(code, text)
    warn({ code, message, invalidates: true })
    hasEnded = true
    load?.stop()
  }
  target.confirmed.endWith((reason) => end('unconfirmed', `the run was ended: ${reason}`, reason))

  const data = dataLossOf({ target, removesKeys, created, elapsed, note, warn })
  const sampler = samplerOf(target, {
    elapsed,
    carried,
    nodes: () => {
      data.asking()
      return target.reporting()
    },
    onRows(rows) {
      data.look(rows)
      const reason = isOver || hasEnded ? null : guard(rows)
      if (reason !== null) end('guard', `ended by --guard: ${reason}`, reason)
    },
  })
  const stopMeasuring = async () => {
    const measuring = running
    running = null
    if (measuring) await untilStopped(stopNow, measuring.stop(), undefined)
  }

  return {
    ...{ clock, elapsed, journal, sampler, end },
    hasEnded: () => hasEnded,
    /** @param {Load} played */
    hang(played) {
      load = played
    },
    /** Opens what measures. @param {readonly Measure[]} measures @param {Record<string, any>} more */
    async measure(measures, more) {
      const instruments = await instrumentsOf(measures, { clock, elapsed, sampler, ...more })
      undo(instruments.close)
      undo(stopMeasuring)
      running = instruments
      return instruments
    },
    /**
     * The load begins, and its seconds are written and shown: armed before, as it may take a while to offer what is due first.
     * @param {Omit<Seconds, 'instruments' | 'elapsed' | 'show'> & { time: Pick<RunClock, 'look'> }} of its seconds
     * @param {() => void} start
     * @returns when, epoch
     */
    begin({ time, ask, ...of }, start) {
      const instruments = /** @type {NonNullable<typeof running>} */ (running)
      instruments.startRun()
      const startedEpochMs = Date.now()
      seconds = everySecond({
        ...{ ...of, instruments, elapsed, show: needs.show },
        async ask(atMs) {
          const [answers, jumps] = await Promise.all([ask?.(atMs), time.look(atMs)])
          for (const text of jumps) note('clock', text)
          return answers
        },
      })
      seconds.start()
      start()
      return startedEpochMs
    },
    /** Until the load is over, by itself or by a signal, and what is under way has settled. @param {() => void} [onOver] */
    settled(onOver = () => {}) {
      const playing = /** @type {Load} */ (load)
      // What ended it before its start ends it now.
      if (hasEnded) playing.stop()
      return settled(playing, { stop, stopNow }, () => {
        isOver = true
        onOver()
      })
    },
    /** Nothing is measured any more. */
    async endSeconds() {
      await stopMeasuring()
      if (seconds) await untilStopped(stopNow, seconds.stop(), undefined)
      data.end()
    },
  }
}
