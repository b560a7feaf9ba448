// Intervals of boxes as runs make them, from seeded latencies that a test can record a second time.
import { series } from '../../lib/probes/latency.js'
import { noCounts } from '../../lib/probes/ledger.js'
import { seeded } from './random.js'

/** @import { Interval } from '../../lib/fleet/interval.js' */

/** Of items that are all acknowledged. @param {number} n */
const counts = (n) => ({ ...noCounts(), offered: n, acked: n })

/** Of a second. @param {number} busyPct */
const clientOf = (busyPct) => ({
  ...{ over_s: 1, cpu_s: 0.1, thread: { over_s: 1, busy_s: busyPct / 100, cpu_s: null } },
  ...{ cpu_pct: 10, busy_pct: busyPct, thread_cpu_pct: null, rss_mb: 60 },
})

/**
 * A box that gives one interval after the other.
 * @param {string} box
 * @param {number} agent
 * @param {number} seed
 * @param {(us: number, weight: number) => void} [onRecord]
 * @param {number} [decades] of latencies: what a histogram costs grows with its highest value
 */
export const boxOfIntervals = (box, agent, seed, onRecord = () => {}, decades = 6) => {
  const { below } = seeded(seed)
  const [intended, service, lateness] = [series(), series(), series()]
  let seq = 0
  let stored = 0
  return {
    /** @param {number} [second] @returns {Interval} */
    next(second = seq + 1) {
      seq++
      const items = 100 + below(50)
      stored += items
      for (let i = 0; i < 20; i++) {
        const us = 1 + below(10 ** (1 + below(decades)))
        const weight = 1 + below(9)
        intended.record(us, weight)
        service.record(Math.max(1, us - 1), weight)
        lateness.record(us)
        onRecord(us, weight)
      }
      return /** @type {any} */ ({
        ...{ v: 1, box, seq, phase: 'measuring', items: counts(items), achieved: items, writers: 1 },
        nodes: [],
        ...{ at_ms: second * 1000 - 30 + below(20), epoch_ms: 1_800_000_000_000 + second * 1000 },
        latency_us: { intended: intended.endSecond(), service: service.endSecond() },
        ...{ bystander_us: null, lateness_us: lateness.endSecond() },
        client: clientOf(20 + below(40)),
        sums: {
          ...{ whole: counts(stored), measured: counts(stored), agents: [{ agent, ...counts(stored) }] },
          ...{ failed_by: {}, errors_by: {}, repeated_by: {}, ticks: { count: seq, late: 0, next: seq } },
          commands: { sent: stored, repeated: 0, acked: stored },
        },
      })
    },
    close() {
      for (const one of [intended, service, lateness]) one.close()
    },
  }
}
