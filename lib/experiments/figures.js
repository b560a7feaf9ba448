// What is taken from a run for an experiment's table.
import { isOfReaders, MEASURES } from '../result/measures.js'

/** @import { Document } from '../result/measures.js' */

export const figureNames = Object.freeze(MEASURES.map(({ name }) => name))

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
