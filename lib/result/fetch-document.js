// run.json of a consumer: the parts of a finished run, put together and judged.

import { plainData, plainText } from '../base/units.js'
import { filled, readable } from './document.js'
import { fetchVerdict } from './fetch-verdict.js'

/**
 * @typedef {import('./document.js').Figure} Figure
 * @typedef {import('./document.js').Percentiles} Percentiles
 * @typedef {import('../run/read-run.js').ReadParts} ReadParts
 *
 * @typedef {object} Fetches
 * @property {number} count whole fetches
 * @property {number} failed
 * @property {Record<string, number>} failed_by
 * @property {number} overrun deadlines at which the fetch before was still under way
 * @property {number} items over all fetches
 * @property {number} values
 * @property {number} nils ids without a value
 * @property {number} bytes of values
 * @property {number} duplicates
 * @property {Figure} items_p50
 * @property {Percentiles} duration_ms
 * @property {Percentiles} ids_ms
 * @property {Percentiles} values_ms
 * @property {{ fetches: number, max_ms: number }} [from_future] whose newest item was younger than now
 * @property {Record<string, { mean: number, last: number }>} numbers cardinality and the like
 *
 * @typedef {object} FetchMeasurements
 * @property {1} schema
 * @property {string} run
 * @property {'consumer'} kind
 * @property {string} started
 * @property {number} duration_s
 * @property {boolean} interrupted
 * @property {Record<string, any>} plan
 * @property {Record<string, any> | null} writing the writer's plan, as it stood in the target
 * @property {{ millrace: string, node: string, servers: string[] }} versions
 * @property {{ kind: 'single' | 'cluster', origin: 'address' | 'embedded' | 'attached' }} target
 * @property {number} consumers of this process
 * @property {Fetches} fetches
 * @property {{ nominal: Figure, achieved: Figure, items: Figure, value_bytes: Figure }} rate fetches, items and bytes a second
 * @property {Percentiles} freshness_ms age of the newest item when its id was read
 * @property {Percentiles} replication_ms from the master to its replicas, seen from outside
 * @property {import('../measure/clocks.js').ClockFigures[]} clocks of the servers against ours
 * @property {(import('../measure/judge.js').VerifyCounts & { examples: string[] }) | null} verify
 * @property {import('../measure/live-share.js').LiveShare | null} live what fetches found of the items that live by the plan; null: it is not known how many
 * @property {import('../measure/uniqueness.js').CountRow[] | null} uniqueness
 * @property {Record<string, { commands: number, bytes_in: Figure }>} reads of this process, by server
 * @property {Record<'master' | 'replica', Record<string, { calls: number, usec: number }>>} commands that all nodes of a role ran
 * @property {Record<string, any>} client
 * @property {import('./document.js').NodeFigures[]} nodes
 * @property {{ at_ms: number, kind: string, text: string }[]} events
 *
 * @typedef {FetchMeasurements & ReturnType<typeof fetchVerdict> & { thresholds?: import('./thresholds.js').Judged[], cloudwatch?: import('../cloudwatch/fetch.js').CloudWatchSection }} FetchDocument
 */

const percentiles = { p50: null, p90: null, p99: null, p999: null, max: null }

/** @param {import('../measure/latency.js').Percentiles | null} us */
const inMs = (us) => us && Object.fromEntries(Object.entries(us).map(([name, value]) => [name, value / 1000]))

/** @param {ReadParts} parts */
const ratesOf = ({ plan, fetches: { counts }, consumers, durationS }) => ({
  nominal: plan.pacing === 'closed' ? null : (consumers * 1000) / plan.periodMs,
  achieved: durationS > 0 ? counts.count / durationS : null,
  items: durationS > 0 ? counts.items / durationS : null,
  value_bytes: durationS > 0 ? counts.bytes / durationS : null,
})

/**
 * @param {ReadParts & { run: string, versions: FetchMeasurements['versions'], target: FetchMeasurements['target'], warnings: import('./verdict.js').Warning[] }} parts
 * @returns {FetchDocument}
 */
export const fetchDocument = (parts) => {
  const { counts, summary } = parts.fetches
  /** @type {FetchMeasurements} */
  const measured = {
    schema: 1,
    run: plainText(parts.run),
    kind: 'consumer',
    started: new Date(parts.startedEpochMs).toISOString(),
    duration_s: readable(parts.durationS),
    interrupted: parts.interrupted,
    plan: plainData(parts.plan),
    writing: plainData(parts.writing),
    versions: plainData(parts.versions),
    target: plainData(parts.target),
    consumers: parts.consumers,
    fetches: {
      ...plainData(counts),
      items_p50: summary.items_p50,
      duration_ms: filled(percentiles, summary.duration_ms),
      ids_ms: filled(percentiles, summary.ids_ms),
      values_ms: filled(percentiles, summary.values_ms),
      ...(summary.future.fetches > 0 && { from_future: readable(summary.future) }),
      numbers: readable(plainData(summary.numbers)),
    },
    rate: readable(ratesOf(parts)),
    freshness_ms: filled(percentiles, summary.freshness_ms),
    replication_ms: filled(percentiles, inMs(parts.replication.whole)),
    clocks: readable(plainData(parts.clocks)),
    verify: plainData(parts.verify),
    live: readable(plainData(parts.live)),
    uniqueness: readable(plainData(parts.uniqueness)),
    reads: plainData(parts.reads),
    commands: readable(plainData(parts.commands)),
    client: readable(plainData(parts.client)),
    nodes: readable(plainData(parts.nodes)),
    events: readable(plainData(parts.events)),
  }
  return { ...measured, ...fetchVerdict(measured, plainData(parts.warnings)) }
}
