// Indexes over the data loaded before a run: built before or after loading, timed, and removed after the run.
import { setTimeout as sleep } from 'node:timers/promises'
import { TargetError } from '../../base/errors.js'
import { count } from '../../base/units.js'
import { dataBytesIn } from '../../probes/baseline.js'

/**
 * @import { Played } from './flow.js'
 * @import { Operation } from './operation.js'
 * @import { Needs, Strategy } from './fill.js'
 *
 * @typedef {NonNullable<ReturnType<Strategy['indexing']>>} Indexing
 * @typedef {(operation: Played, numbers: number, onDone?: (exchange: Operation) => void) => Promise<{ acked: number, causes: string }>} Play
 *
 * @typedef {object} Indexed
 * @property {number} indexes
 * @property {'before' | 'after'} index_when the data was loaded
 * @property {number | null} index_seconds until it was ready, from when it was asked for, or from when all data was there; null: it came with the data
 * @property {number | null} index_bytes by which the masters' data grew; null: not known apart from the data's
 */

const indexesWords = (/** @type {number} */ n) => `${count(n)} ${n === 1 ? 'index' : 'indexes'}`
const pollMs = 50
const oftenMs = 2000

/** @param {Needs} needs @param {Play} play */
export const indexingOf = ({ strategy, target, say, clock, stop }, play) => {
  const indexing = strategy.indexing()
  const create = async () => {
    if (!indexing?.create) return
    const { operation, count: wanted } = indexing.create
    const { acked, causes } = await play(operation, wanted)
    if (acked < wanted && !stop.aborted)
      throw new TargetError(
        `${target.address}: ${count(acked)} of ${count(wanted)} index operations were done (${causes})`,
      )
  }
  const ready = async () => {
    if (!indexing?.ready) return
    for (let saidMs = clock(); !stop.aborted; await sleep(pollMs)) {
      let whole = 0
      await play(indexing.ready, indexing.indexes, ({ multiStep }) => {
        whole += multiStep.answer().length
      })
      if (whole === indexing.indexes) return
      if (clock() - saidMs < oftenMs) continue
      saidMs = clock()
      say(`indexing: ${whole} of ${indexesWords(indexing.indexes)} ready`)
    }
  }
  /** Indexes of an earlier run usually do not exist. */
  const drop = async () => {
    if (indexing?.drop) await play(indexing.drop, indexing.indexes)
  }
  return {
    drop,
    before: async () => {
      await drop()
      if (indexing?.when === 'before') await create()
    },
    /** @param {number | null} loadedBytes @returns {Promise<Indexed | null>} */
    async after(loadedBytes) {
      if (!indexing) return null
      const startMs = clock()
      if (indexing.when === 'after') await create()
      await ready()
      const seconds = (clock() - startMs) / 1000
      const bytes = await dataBytesIn(target)
      const isApart = indexing.when === 'after' && bytes !== null && loadedBytes !== null
      say(`${indexesWords(indexing.indexes)} ready ${seconds.toFixed(1)} s after the last document`)
      return {
        indexes: indexing.indexes,
        index_when: indexing.when,
        index_seconds: seconds,
        index_bytes: isApart ? bytes - loadedBytes : null,
      }
    },
  }
}
