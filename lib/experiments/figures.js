// What is taken from a run for an experiment's table.
import { isOfWorkers } from '../measures/index.js'
import { isOfReaders, METRICS } from '../result/metrics.js'

/** @import { Document } from '../result/metrics.js' */

export const figureNames = Object.freeze(METRICS.map(({ name }) => name))

/**
 * What was measured, by name.
 * @param {Document} run run.json of the writer
 * @param {Document | null} reader that of the consumer, where one read
 * @returns {Record<string, number>}
 */
export const figuresOf = (run, reader) =>
  Object.fromEntries(
    METRICS.flatMap(({ name, value }) => {
      const document = isOfReaders(name) || (reader?.jobs && isOfWorkers(name)) ? reader : run
      const found = document && value(document)
      return typeof found === 'number' ? [[name, found]] : []
    }),
  )
