// One exchange with one server: a command, or the values of ids, and what its replies leave to be done.
import { valuesJob } from './read-jobs.js'
import { commandJob, deaf } from './read-lane.js'
import { verdictOf } from './verdict.js'

/**
 * @typedef {import('./read-driver.js').ReplySink} ReplySink
 * @typedef {import('./read-lane.js').ReadLane} ReadLane
 *
 * @typedef {object} Unread of the values that were wanted: places to be asked again
 * @property {number[]} there where the slot has gone
 * @property {number[]} later
 * @property {Map<string, number[]>} asking by the server that is to be asked with ASKING
 * @property {Record<string, number>} given up, by cause
 * @property {string} cause the last
 */

/**
 * Resolves with the line that refused the command, and what became of the connection.
 * @param {ReadLane} lane
 * @param {string[]} args
 * @param {ReplySink} sink
 * @param {boolean} [asking]
 * @returns {Promise<{ line: string | null, closed: string | null }>}
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
    const replied = () => resolve({ line, closed: null })
    const closed = (/** @type {string} */ cause) => resolve({ line: null, closed: cause })
    lane.submit(commandJob(args, { sink: noting, replied, closed }))
  })

/**
 * Notes in `unread` what must be asked again.
 * @param {ReadLane} lane
 * @param {import('./read-order.js').Share} share
 * @param {Pick<import('./read-jobs.js').ValuesWanted, 'list' | 'command' | 'values' | 'sizes' | 'asking'>} wanted
 * @param {Unread} unread
 * @param {(from: string, to: string) => boolean} follows
 * @returns {Promise<void>}
 */
export const readShare = (lane, share, wanted, unread, follows) =>
  new Promise((resolve) => {
    const onRefused = (/** @type {number} */ place, /** @type {string} */ line) => {
      const { action, address, cause } = verdictOf(line, lane.address)
      unread.cause = cause
      const isStray = address !== undefined && !follows(lane.address, address)
      if (isStray) unread.later.push(place)
      else if (action === 'there') unread.there.push(place)
      else if (action === 'asking' && address) {
        const places = unread.asking.get(address)
        if (places) places.push(place)
        else unread.asking.set(address, [place])
      } else if (action === 'later') unread.later.push(place)
      else unread.given[cause] = (unread.given[cause] ?? 0) + 1
    }
    const onClosed = (/** @type {Uint32Array} */ missing, /** @type {string} */ cause) => {
      unread.cause = cause
      for (const place of missing) unread.later.push(place)
      resolve()
    }
    lane.submit(valuesJob({ ...wanted, ...share, onRefused, onClosed, onDone: () => resolve() }))
  })
