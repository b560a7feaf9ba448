// What happens once a second beside the workers: the backlog, samples, accounts, the line of intervals.ndjson, the live line.
import { changesOf, isRest, onceASecond, shownOf } from './second.js'

/**
 * @import { instrumentsOf } from '../measures/index.js'
 * @import { WorkPlan } from '../plan/work-plan.js'
 * @import { Snapshot } from '../report/live.js'
 * @import { WorkRecords } from './work-records.js'
 */

/**
 * @param {object} needs
 * @param {WorkPlan} needs.plan
 * @param {{ records: WorkRecords }[]} needs.stages
 * @param {Pick<Awaited<ReturnType<typeof instrumentsOf>>, 'second'>} needs.instruments
 * @param {() => Promise<void>} needs.renew accounts
 * @param {(waiting: number | null) => Promise<void>} needs.look whether the run is over; null: the server does not say
 * @param {() => number} needs.elapsed
 * @param {(line: object) => void} needs.write
 * @param {(snapshot: Snapshot) => void} needs.show
 */
export const everyWorkSecond = (needs) => {
  const { plan, stages, instruments, renew, look, elapsed, write, show } = needs
  const { records } = stages[stages.length - 1]
  const turn = changesOf(() => records.jobs.counts, 'done', elapsed)
  // Of two stages, what the first has done too.
  const filtered = changesOf(() => stages[0].records.jobs.counts, 'done', elapsed)

  const second = async () => {
    const { atMs, epochMs, now, overS, perS: achieved } = turn()
    const { perS: filteredPerS } = filtered()
    const [line] = await Promise.all([instruments.second(true), renew().catch(() => {})])
    const waitingNow = line.backlog === null ? null : line.backlog + (line.between ?? 0)
    await look(waitingNow).catch(() => {})
    write({
      epoch_ms: epochMs,
      at_ms: Math.round(atMs),
      achieved,
      ...(stages.length > 1 && { filtered: filteredPerS }),
      ...line,
    })
    if (isRest(overS)) return
    show({
      ...shownOf(atMs, line.latency_us.intended, line.nodes),
      totalMs: plan.durationMs,
      phase: 'measuring',
      nominalRate: null,
      achievedRate: achieved,
      lost: { waiting: waitingNow ?? 0, again: now.duplicates },
    })
  }
  return onceASecond(second, elapsed)
}
