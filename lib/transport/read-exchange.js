// One exchange with one server: a command, or the values of ids, and what its replies leave to be done.
import { valuesJob } from './read-jobs.js'
import { commandJob, deaf } from './read-lane.js'

/**
 * @import { ReplySink } from './read-driver.js'
 * @import { ValuesWanted } from './read-jobs.js'
 * @import { ReadLane } from './read-lane.js'
 * @import { Share } from './read-order.js'
 * @import { Round } from './read-retries.js'
 */

/**
 * Resolves with the line that refused the command, and whether the connection ended first.
 * @param {ReadLane} lane
 * @param {string[]} args
 * @param {ReplySink} sink
 * @param {boolean} [asking]
 * @returns {Promise<{ line: string | null, closed: boolean }>}
 */
export const sendOne = (lane, args, sink, asking = false) =>
  new Promise((resolve) => {
    /** @type {string | null} */
    let line = null
    let begun = false
    const noting = {
      ...sink,
      open: (/** @type {number} */ count, /** @type {number} */ depth) => {
        begun = true
        sink.open(count, depth)
      },
      error: (/** @type {string} */ text) => {
        if (begun) sink.error(text)
        else line = text
      },
    }
    if (asking) lane.submit(commandJob(['ASKING'], { sink: deaf, replied() {}, closed() {} }))
    const replied = () => resolve({ line, closed: false })
    const closed = () => resolve({ line: null, closed: true })
    lane.submit(commandJob(args, { sink: noting, replied, closed }))
  })

/**
 * @param {ReadLane} lane
 * @param {Share} share
 * @param {Pick<ValuesWanted, 'list' | 'command' | 'values' | 'sizes' | 'asking'>} wanted
 * @param {Round} round
 * @returns {Promise<void>}
 */
export const readShare = (lane, share, wanted, round) =>
  new Promise((resolve) => {
    const onRefused = (/** @type {number} */ place, /** @type {string} */ line) =>
      round.refused([place], line, lane.address)
    const onClosed = (/** @type {Uint32Array} */ missing) => {
      round.refused(missing, null, lane.address)
      resolve()
    }
    lane.submit(valuesJob({ ...wanted, ...share, onRefused, onClosed, onDone: () => resolve() }))
  })
