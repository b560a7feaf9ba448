// A thread's part of a run of consumers: the same load, in a frame of its own.
import { readingOf } from '../loads/index.js'
import { instrumentsOf, ofReaders } from '../measures/index.js'
import { plansUnder } from '../servers/announcements.js'

/**
 * @import { Playing as Load, Reading } from '../loads/index.js'
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 * @import { AnnouncedPlan } from '../plan/announcement.js'
 * @import { Seconds } from '../probes/seconds.js'
 * @import { Place } from '../servers/open.js'
 * @import { PartNeeds, Playing } from './thread.js'
 * @import { Run } from '../measures/section.js'
 * @import { Warning } from '../measures/warnings.js'
 *
 * @typedef {{ kind: 'reading', place: Place, plan: ReadPlan, announced: AnnouncedPlan | null, announcements: readonly AnnouncedPlan[] }} ReadOrders
 */

/** @template T @param {T | null} one @returns {T} */
const known = (one) => {
  if (one === null) throw new TypeError('a phase of a part came before what it needs')
  return one
}

/** @param {ReadOrders} orders @param {PartNeeds} needs @returns {Promise<Playing>} */
export const openReading = async (orders, { target, clock, say, stopNow }) => {
  const { plan } = orders
  /** @type {Load | null} */
  let load = null
  /** @type {Awaited<ReturnType<typeof instrumentsOf>> | null} */
  let instruments = null
  /** @type {any} */
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
    begin(/** @type {Seconds} */ of, /** @type {() => void} */ start) {
      seconds = of
      known(instruments).startRun()
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
      known(load).stop()
    },
    async second() {
      seconds.watch()
      const moment = seconds.moment()
      const [line, , jumps] = await Promise.all([
        known(instruments).second(true),
        seconds.ask(),
        seconds.time.check(moment.atMs),
      ])
      for (const text of jumps) event('clock', text)
      return { line }
    },
    async settled(limitMs) {
      const whole = await known(load).settle(limitMs, stopNow)
      await phases.drained?.(whole)
      known(instruments).end()
      const ending = { whole, interrupted: stop.signal.aborted }
      const { live, uniqueness, reads } = Object(await phases.result(0, ending))
      const own = known(instruments)
      return { whole, live, uniqueness, reads, facts: own.own().facts, warnings: own.warnings() }
    },
    close() {
      for (const step of undone) step()
      known(instruments).close()
    },
  }
}
