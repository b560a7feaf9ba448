// How each second of a writing run is written and shown.
import { inFlightWords } from '../loads/clients/in-flight.js'
import { namesOfKind } from '../loads/names.js'
import { sumsOf } from '../loads/write-records.js'
import { nodes } from '../measures/nodes.js'
import { changesOf } from '../probes/seconds.js'
import { lengthMs } from './second.js'

/**
 * @import { Changes, Seconds } from '../probes/seconds.js'
 * @import { WriteRun } from './write-run.js'
 * @import { Line } from '../measures/fold.js'
 */

/** Where the seconds go: into the run's files, and in a fleet also to the control server. @param {WriteRun} run @returns {(line: object) => void} */
const secondsTo = ({ plan, needs: { results }, fleet, instruments, records, window, writing }) => {
  if (!fleet) return results.interval
  return (line) => {
    results.interval(line)
    fleet.second({
      ...line,
      writers: plan.agents.length,
      epoch_ms: Math.round(fleet.clock.now()),
      sums: sumsOf(records, window, writing),
      sampler: instruments.source(nodes)?.state?.(),
    })
  }
}

/** @param {Record<string, number>} counts */
const sum = (counts) => Object.values(counts).reduce((total, n) => total + n, 0)

/** @param {WriteRun} run */
export const secondsOf = (run) => {
  const { plan, time, window, journal, presence, load, needs, records, frame } = run
  const { ledger } = records
  const write = secondsTo(run)
  let isInFlightTold = false
  return {
    time,
    watch: load.driver.watch,
    gather: load.writing.gather,
    phase: window.phase,
    totalMs: lengthMs(plan),
    moment: changesOf(() => ledger.whole, 'acked', frame.elapsed),
    ask: presence.sample,
    line: (
      /** @type {Changes} */ { phase, counts, perS },
      /** @type {Line} */ line,
      /** @type {unknown} */ writers,
    ) => ({ phase, items: counts, achieved: perS, ...line, writers }),
    shown: (/** @type {Changes} */ { perS, now: { failed, uncertain, dropped } }) => ({
      nominalRate: plan.nominalHz,
      achievedRate: perS,
      lost: { failed, uncertain, dropped, errors: sum(ledger.errorsBy) },
    }),
    write(/** @type {Line} */ line) {
      const words =
        isInFlightTold || !namesOfKind(plan).keepsInFlight
          ? ''
          : inFlightWords({ plan, achieved: line.achieved, meanUs: line.latency_us.service?.mean })
      if (words) journal.event('connections-full', words)
      isInFlightTold ||= words !== ''
      const notice = window.endWarmUp(line)
      if (notice !== null) {
        load.writing.measureFrom?.(window.fromMs())
        journal.note('warm-up', notice)
        needs.say(notice)
      }
      write(line)
    },
  }
}
