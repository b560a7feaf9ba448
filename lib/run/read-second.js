// What happens once a second beside the fetches: samples, the line of intervals.ndjson, the live line.
import { sectionOf } from '../measures/fold.js'
import { isRest, momentsOf, onceASecond, shownOf } from './second.js'

/**
 * @import { uniquenessOf } from '../measure/uniqueness.js'
 * @import { instrumentsOf } from '../measures/index.js'
 * @import { ReadPlan } from '../plan/read-plan.js'
 * @import { Snapshot } from '../report/live.js'
 */

/** @param {Record<string, number>} verified */
const wrongIn = ({ missing = 0, corrupt = 0, unexpected = 0, stale = 0 }) =>
  missing + corrupt + unexpected + stale

/**
 * @param {object} needs
 * @param {ReadPlan} needs.plan
 * @param {ReturnType<typeof uniquenessOf> | null} needs.uniqueness
 * @param {Pick<Awaited<ReturnType<typeof instrumentsOf>>, 'second' | 'sofar'>} needs.instruments
 * @param {{ watch: () => void }} needs.driver
 * @param {() => number} needs.elapsed
 * @param {(line: object) => void} needs.write
 * @param {(snapshot: Snapshot) => void} needs.show
 */
export const everyReadSecond = ({ plan, uniqueness, instruments, driver, elapsed, write, show }) => {
  const moment = momentsOf(elapsed)

  const second = async () => {
    driver.watch()
    const { atMs, epochMs, overS } = moment()
    const [line] = await Promise.all([instruments.second(true), uniqueness?.sample()])
    write({ epoch_ms: epochMs, at_ms: Math.round(atMs), ...line })
    if (isRest(overS)) return
    const { failed, overrun } = sectionOf(instruments.sofar, 'fetches')
    const found = sectionOf(instruments.sofar, 'verify')
    show({
      ...shownOf(atMs, line.duration_us, line.nodes),
      totalMs: plan.durationMs,
      phase: 'measuring',
      nominalRate: null,
      achievedRate: line.items_per_s,
      lost: { wrong: wrongIn(found), failed, missed: overrun },
      reading: {
        fetches: line.fetches.count,
        ageUs: line.freshness_us?.p50 ?? null,
        checked: found.checked ?? null,
      },
    })
  }
  return onceASecond(second, elapsed)
}
