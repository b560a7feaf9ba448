// What every run has, whatever its load: phases, time, events, seconds, samplers of the servers, and what ends it early.
// All of it is closed with the run. Times are in milliseconds.

import { unlessInterrupted, untilStopped } from '../base/interrupts.js'
import { untilSettled } from '../base/settlement.js'
import { certain } from '../base/typed.js'
import { withUndo } from '../base/undo.js'
import { instrumentsOf } from '../measures/index.js'
import { dataLossOf } from './data-loss.js'
import { everySecond, samplerOf } from './second.js'

/**
 * @import { Phases, Playing } from '../loads/index.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { Seconds, Snapshot } from '../probes/seconds.js'
 * @import { Measuring } from '../measures/contract.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Target } from '../servers/open.js'
 * @import { Member } from '../fleet/member.js'
 * @import { RunClock } from '../probes/run-clock.js'
 * @import { Conducted, Conductor } from './conductor.js'
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
 * @typedef {(step: () => unknown) => void} Undo
 * @typedef {ReturnType<typeof frameOf>} Frame
 */

/**
 * Plays a run from set-up to result; then everything it opened is closed in reverse order, even if it fails.
 * @template Beginning, Result
 * @param {Pick<FrameNeeds, 'stop'> & { conductor?: Conductor, fleet?: Member | null }} needs
 * @param {(undo: Undo) => Promise<{ frame: Frame } & Phases<Beginning, Result, Conducted>>} setUp
 */
export const played = ({ stop, conductor, fleet = null }, setUp) =>
  withUndo(async (undo) => {
    const { frame, ...phases } = await unlessInterrupted(stop, setUp(undo))
    const beginning = await phases.begin()
    const conducted = phases.conducted && conductor?.conduct(phases.conducted, fleet)
    // The error goes to the caller that waits for the end of the run before it is thrown here.
    conducted?.catch(() => {})
    const whole = await frame.untilSettled(phases.over)
    await conducted
    await phases.drained?.(whole)
    frame.endLoad()
    await phases.lastSecond?.()
    await frame.endSeconds()
    return phases.result(beginning, { whole, interrupted: stop.aborted })
  })

// A server's error line may be long.
const longestEvent = 300

/**
 * The events of a run, each with its time.
 * @param {object} needs
 * @param {() => number} needs.elapsed
 * @param {(line: object) => void} needs.write
 * @param {(kind: string, text: string) => void} needs.tell the screen
 */
export const journalOf = ({ elapsed, write, tell }) => {
  /** @type {{ at_ms: number, kind: string, text: string }[]} */
  const events = []
  const note = (/** @type {string} */ kind, /** @type {string} */ text) => {
    const entry = { at_ms: Math.round(elapsed()), kind, text: text.slice(0, longestEvent) }
    events.push(entry)
    write({ epoch_ms: Date.now(), ...entry })
  }
  return {
    events,
    note,
    /** Notes an event and shows it on the screen. @param {string} kind @param {string} text */
    event(kind, text) {
      note(kind, text)
      tell(kind, text.slice(0, longestEvent))
    },
  }
}

/**
 * Each second also looks for jumps of the servers' clocks.
 * @param {Seconds & { time: Pick<RunClock, 'check'> }} of
 * @param {(kind: string, text: string) => void} note
 */
const clockedSeconds = ({ time, ask, ...of }, note) =>
  everySecond({
    ...of,
    async ask(atMs) {
      const [answers, jumps] = await Promise.all([ask?.(atMs), time.check(atMs)])
      for (const text of jumps) note('clock', text)
      return answers
    },
  })

/**
 * @param {FrameNeeds} needs
 * @param {Undo} undo
 * @param {object} [kind] what the load does to keys
 * @param {boolean} [kind.removesKeys] the load removes keys itself
 * @param {() => number} [kind.created] keys that it has created so far
 * @param {() => number} [kind.carried] items that were stored so far
 * @param {() => Record<string, number> | undefined} [kind.seen] replies so far, by their meaning
 */
export const frameOf = (needs, undo, { removesKeys, created, ...counted } = {}) => {
  const { target, results, onEvent, warn = () => {}, guard = () => null, stop, stopNow } = needs
  /** @type {Playing | null} */
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
  /** Ends the run before its time. @param {string} code @param {string} message @param {string} [text] of the event */
  const end = (code, message, text = message) => {
    journal.note(code, text)
    warn({ code, message, invalidates: true })
    hasEnded = true
    load?.stop()
  }
  target.confirmed.endWith((reason) => end('unconfirmed', `the run was ended: ${reason}`, reason))

  const data = dataLossOf({ target, removesKeys, created, elapsed, note: journal.note, warn })
  const sampler = samplerOf(
    target,
    {
      elapsed,
      nodes: () => {
        data.asking()
        return target.reporting()
      },
      onRows(rows) {
        data.check(rows)
        const reason = isOver || hasEnded ? null : guard(rows)
        if (reason !== null) end('guard', `ended by --guard: ${reason}`, reason)
      },
    },
    counted,
  )
  const stopMeasuring = async () => {
    const measuring = running
    running = null
    if (measuring) await untilStopped(stopNow, measuring.stop(), undefined)
  }

  return {
    clock,
    elapsed,
    journal,
    sampler,
    end,
    hasEnded: () => hasEnded,
    /** @param {Playing} opened */
    hang(opened) {
      load = opened
    },
    /** Starts the instruments. @type {Measuring} */
    async measure(taker, more, measures) {
      const instruments = await instrumentsOf(taker, { clock, elapsed, sampler, ...more }, measures)
      undo(instruments.close)
      undo(stopMeasuring)
      running = instruments
      return instruments
    },
    /**
     * Begins the load and its seconds. The timer of the seconds is set first, as offering what is due may take a while.
     * @param {Omit<Seconds, 'instruments' | 'elapsed' | 'show'> & { time: Pick<RunClock, 'check'> }} of how its seconds are taken and shown
     * @param {() => void} start
     * @returns epoch milliseconds of the start
     */
    begin(of, start) {
      const instruments = certain(running)
      instruments.startRun()
      const startedEpochMs = Date.now()
      seconds = clockedSeconds({ ...of, instruments, elapsed, show: needs.show }, journal.note)
      undo(seconds.cancel)
      seconds.start()
      start()
      return startedEpochMs
    },
    /** Waits until the load is over, by itself or by a signal, and what is under way has settled. @param {() => void} [onOver] */
    untilSettled(onOver = () => {}) {
      const playing = certain(load)
      // An end that was asked for before the load had begun.
      if (hasEnded) playing.stop()
      return untilSettled(playing, { stop, stopNow }, () => {
        isOver = true
        onOver()
      })
    },
    /** Reads what is known only once the load is over. */
    endLoad: () => running?.end(),
    async endSeconds() {
      await stopMeasuring()
      await seconds?.stop(stopNow)
      data.end()
    },
  }
}
