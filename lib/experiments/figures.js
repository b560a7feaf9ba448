// What is taken from a run for an experiment's table.
import { grossCost, MEASURES, netCost } from '../result/measures.js'

/** @typedef {import('../result/measures.js').Document} Document */

export const figureNames = Object.freeze(MEASURES.map(({ name }) => name))

/** Stand in every table: what another application feels is what averages over a minute cannot show. */
export const commonColumns = Object.freeze([
  'rate.nominal',
  'rate.achieved',
  'master.cpu_pct',
  'replica.cpu_pct',
  netCost,
  grossCost,
  'latency.intended.p99',
  'bystander.p99',
  'bystander.max',
])

const ofReader = /^(fetches|freshness|replication|verify|rate\.(items|value_bytes)$)/

/**
 * What was measured, by name.
 * @param {Document} run run.json of the writer
 * @param {Document | null} reader that of the consumer, where one read
 * @returns {Record<string, number>}
 */
export const figuresOf = (run, reader) =>
  Object.fromEntries(
    MEASURES.flatMap(({ name, value }) => {
      const document = ofReader.test(name) ? reader : run
      const found = document && value(document)
      return typeof found === 'number' ? [[name, found]] : []
    }),
  )
