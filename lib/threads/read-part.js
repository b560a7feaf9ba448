// A thread's part of a run of consumers: the same load, in a frame of its own.
import { certain } from '../base/typed.js'
import { readingOf } from '../loads/index.js'
import { instrumentsOf, ofReaders } from '../measures/index.js'
import { plansUnder } from '../servers/announcements.js'

/**
 * @import { Playing as Load, Reading } from '../loads/index.js'
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 * @import { AnnouncedPlan } from '../plan/announcement.js'
 * @import { Frame } from '../run/frame.js'
 * @import { Place } from '../servers/open.js'
 * @import { PartNeeds, Playing } from './thread.js'
 * @import { Run } from '../measures/section.js'
 * @import { Warning } from '../measures/warnings.js'
 *
 * @typedef {{ kind: 'reading', place: Place, plan: ReadPlan, announced: AnnouncedPlan | null, announcements: readonly AnnouncedPlan[] }} ReadOrders
 */

/** @param {ReadOrders} orders @param {PartNeeds} needs @returns {Promise<Playing>} */
export const openReading = async (orders, { target, clock, say, stopNow }) => {
  const { plan } = orders
  /** @type {Load | null} */
  let load = null
  /** @type {Awaited<ReturnType<typeof instrumentsOf>> | null} */
  let instruments = null
  /** @type {Parameters<Frame['begin']>[0] | null} */
  let seconds = null
  /** @type {(() => unknown)[]} */
  const undone = []
  const stop = new AbortController()
  const elapsed = () => load?.elapsed() ?? 0
  const event = (/** @type {string} */ kind, /** @type {string} */ text) => say({ event: [kind, text] })
  const frame = {
    ...{ clock, elapsed, journal: { events: [], note: event, event } },
    hang(/** @type {Load} */ opened) {
      load = opened
    },
    async measure(/** @type {string} */ _, /** @type {Run} */ more) {
      const own = ofReaders.filter(({ by }) => by === 'each')
      instruments = await instrumentsOf(
        'readers',
        { clock, elapsed, ...more, sampler: null, thread: plan.part?.number },
        own,
      )
      return instruments
    },
    begin(/** @type {NonNullable<typeof seconds>} */ of, /** @type {() => void} */ start) {
      seconds = of
      certain(instruments).startRun()
      start()
      return Date.now()
    },
  }
  const phases = await readingOf(plan).open({
    ...{ ...orders, target, frame, stopNow, stop: stop.signal },
    readAnnouncements: async () => (await plansUnder(target, plan.prefix)).announcements,
    results: { interval: () => {} },
    say: (/** @type {string} */ line) => say({ said: line }),
    warn: (/** @type {Warning} */ warning) => say({ warning }),
    undo: (/** @type {() => unknown} */ step) => undone.unshift(step),
  })
  return {
    ready: { encodeMs: 0, encodedBytes: 0 },
    over: /** @type {Load} */ (/** @type {unknown} */ (load)).over,
    begin: phases.begin,
    changed: () => {},
    stop() {
      stop.abort()
      certain(load).stop()
    },
    async second() {
      const { watch, moment, ask, time } = certain(seconds)
      watch?.()
      const { atMs } = moment()
      const [line, , jumps] = await Promise.all([
        certain(instruments).second(true),
        ask?.(atMs),
        time.check(atMs),
      ])
      for (const text of jumps) event('clock', text)
      return { line }
    },
    async settled(limitMs) {
      const whole = await certain(load).settle(limitMs, stopNow)
      // What is verified after that is no part of the time in which it was fetched.
      const overMs = elapsed()
      await phases.drained?.(whole)
      certain(instruments).end()
      const ending = { whole, interrupted: stop.signal.aborted }
      const { live, uniqueness, reads } = Object(await phases.result(0, ending))
      const own = certain(instruments)
      return { whole, overMs, live, uniqueness, reads, facts: own.own().facts, warnings: own.warnings() }
    },
    close() {
      for (const step of undone) step()
      certain(instruments).close()
    },
  }
}
