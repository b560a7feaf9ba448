// The published figures, in the names that ours have.

import { readFileSync } from 'node:fs'
import { mean } from '../base/sums.js'
import { readsName } from '../measures/index.js'

/**
 * @typedef {Record<string, any>} PublishedRow as published.json holds it
 * @typedef {{ instance?: string, shards?: number, note?: string, rows: PublishedRow[] }} PublishedExperiment
 */

// Time of a published writer per item: with it, a loop that waits for the batch and then sleeps explains most of the
// published CPU.
const clientUsPerItem = 16

/** @returns {{ about: string, setup: string, experiments: Record<string, PublishedExperiment> }} */
export const published = () => JSON.parse(readFileSync(new URL('./published.json', import.meta.url), 'utf8'))

/**
 * Items a second of a writer that sleeps the whole interval after each batch.
 * @param {{ writers: number, perWriter: number, intervalMs: number, usPerItem?: number }} row
 */
export const trueRate = ({ writers, perWriter, intervalMs, usPerItem = clientUsPerItem }) =>
  (writers * perWriter * 1000) / (intervalMs + (perWriter * usPerItem) / 1000)

/** @param {number | undefined} seconds */
const micros = (seconds) => (seconds === undefined ? undefined : seconds * 1e6)

/** @param {PublishedRow} row @returns {Record<string, number>} */
export const publishedFigures = (row) => {
  const masters = row.master_cpu_by_shard ?? (row.master_cpu === undefined ? [] : [row.master_cpu])
  const between = row.master_cpu_min === undefined ? [] : [(row.master_cpu_min + row.master_cpu_max) / 2]
  const replicas = row.replica_cpu_by_shard ?? (row.replica_cpu === undefined ? [] : [row.replica_cpu])
  /** @type {[string, number | undefined][]} */
  const all = [
    ['master.cpu_pct', masters.length > 0 ? mean(masters) : between[0]],
    ['replica.cpu_pct', replicas.length > 0 ? mean(replicas) : undefined],
    ['hottest_master.cpu_pct', masters.length > 1 ? Math.max(...masters) : undefined],
    ['coldest_master.cpu_pct', masters.length > 1 ? Math.min(...masters) : undefined],
    ['passes.memory_bytes_per_item', row.memory_bytes_per_id],
    ['passes.increments.rate', row.increments && row.increments / row.time_s],
    // Only where all increments were made is this the time of the whole.
    ['bundles.time_ms.whole', row.round_trips < row.increments ? row.time_s * 1000 : undefined],
    ['bundles.time_ms.waiting', row.round_trips < row.increments ? row.waiting_s * 1000 : undefined],
    ['queries.min', micros(row.min_s)],
    ['queries.avg', micros(row.avg_s)],
    ['queries.max', micros(row.max_s)],
    ['queries.busy_pct', row.failed_percent],
    ['load.seconds', row.load_s],
    ['load.index_seconds', row.index_s],
    ['rate.achieved', row.events_per_s],
    [`${readsName}.duration_ms.p50`, row.fetch_ms],
    [`${readsName}.ids_ms.p50`, row.without_gets_ms],
    [
      'rate.nominal',
      row.writers && row.per_writer && (row.writers * row.per_writer * 1000) / (row.interval_ms ?? 1000),
    ],
  ]
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
