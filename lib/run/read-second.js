// What happens once a second beside the fetches: samples, the line of intervals.ndjson, the live line.
import { changesOf, isRest, onceASecond, shownOf } from './second.js'

/**
 * @typedef {import('../measure/node-sampler.js').NodeRow} NodeRow
 * @typedef {import('../wire/info.js').CommandUse} CommandUse
 */

/** Commands that the nodes of each role ran, over the run. */
export const commandsByRole = () => {
  /** @type {Record<'master' | 'replica', Record<string, CommandUse>>} */
  const sums = { master: {}, replica: {} }
  return {
    /** @param {readonly NodeRow[]} rows */
    add(rows) {
      for (const { role, commands = {} } of rows) {
        for (const [name, { calls, usec }] of Object.entries(commands)) {
          sums[role][name] ??= { calls: 0, usec: 0 }
          sums[role][name].calls += calls
          sums[role][name].usec += usec
        }
      }
    },
    sums,
  }
}

/**
 * @param {object} needs
 * @param {import('../plan/read-plan.js').ReadPlan} needs.plan
 * @param {ReturnType<typeof import('../measure/fetches.js').fetchesOf>} needs.fetches
 * @param {ReturnType<typeof import('../measure/judge.js').judgeOf> | null} needs.judge
 * @param {ReturnType<typeof import('../measure/uniqueness.js').uniquenessOf> | null} needs.uniqueness
 * @param {Pick<Awaited<ReturnType<typeof import('../measures/index.js').instrumentsOf>>, 'second'>} needs.instruments
 * @param {ReturnType<typeof import('../measure/node-sampler.js').nodeSampler>} needs.sampler
 * @param {ReturnType<typeof commandsByRole>} needs.roles
 * @param {{ watch: () => void }} needs.driver
 * @param {() => number} needs.elapsed
 * @param {(line: object) => void} needs.write
 * @param {(snapshot: import('../report/live.js').Snapshot) => void} needs.show
 */
export const everyReadSecond = ({
  plan,
  fetches,
  judge,
  uniqueness,
  instruments,
  sampler,
  roles,
  driver,
  elapsed,
  write,
  show,
}) => {
  const changes = changesOf(() => fetches.whole, 'items', elapsed)

  const second = async () => {
    driver.watch()
    const { atMs, epochMs, now, overS, perS: itemsPerS, counts } = changes()
    const times = fetches.turn()
    const line = instruments.second(true)
    const [nodes] = await Promise.all([sampler.sample(), uniqueness?.sample()])
    roles.add(nodes)
    const wrong = judge
      ? judge.counts.missing + judge.counts.corrupt + judge.counts.unexpected + judge.counts.stale
      : 0
    write({
      epoch_ms: epochMs,
      at_ms: Math.round(atMs),
      fetches: counts,
      items_per_s: itemsPerS,
      ...times,
      numbers: fetches.last()?.numbers ?? {},
      verify: judge ? { ...judge.counts } : null,
      ...line,
      nodes,
    })
    if (isRest(overS)) return
    show({
      ...shownOf(atMs, times.duration_us, nodes),
      totalMs: plan.durationMs,
      phase: 'measuring',
      nominalRate: null,
      achievedRate: itemsPerS,
      lost: { wrong, failed: now.failed, missed: now.overrun },
      reading: {
        fetches: counts.count,
        ageUs: line.freshness_us?.p50 ?? null,
        checked: judge ? judge.counts.checked : null,
      },
    })
  }
  return onceASecond(second, elapsed)
}
