// What is taken from a run for an experiment's table.
import { grossCost, isOfReaders, MEASURES, netCost } from '../result/measures.js'

/** @import { Document } from '../result/measures.js' */

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

/** Those of them that are drawn of every experiment, beside the wait of others; the net cost where it is known. */
export const drawnOfAll = Object.freeze(['master.cpu_pct', netCost, grossCost])

// Of the workers of a queue also what a producer has under the same names.
const ofWorkers =
  /^(rate\.achieved|latency|jobs|backlog|workers|stages|waiting|work|take|confirm|client|server\.(cpu_us|net_bytes)_per_job)(\.|$)/

/**
 * What was measured, by name.
 * @param {Document} run run.json of the writer
 * @param {Document | null} reader that of the consumer, where one read
 * @returns {Record<string, number>}
 */
export const figuresOf = (run, reader) =>
  Object.fromEntries(
    MEASURES.flatMap(({ name, value }) => {
      const document = isOfReaders(name) || (reader?.jobs && ofWorkers.test(name)) ? reader : run
      const found = document && value(document)
      return typeof found === 'number' ? [[name, found]] : []
    }),
  )
