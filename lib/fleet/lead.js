// The leader's task: it reads the stream, folds it, and commits the fold with the last entry folded. After any failure it
// starts again from the checkpoint on the control server, as the next leader would.
import { randomUUID } from 'node:crypto'
import { fleetFoldOf } from './fold.js'
import { decodeInterval, secondOf } from './interval.js'

/**
 * @import { Control } from './control.js'
 * @import { Checkpoint } from './fold.js'
 */

// At most this many entries are read at once: 200 boxes write as many a second.
const entriesARead = 400
// A second does not wait for a box that is this far behind the others.
const silentSeconds = 3

/**
 * @param {object} needs
 * @param {Pick<Control, 'read' | 'commit' | 'checkpoint'>} needs.control
 * @param {string} needs.box who leads
 * @param {() => string} needs.data id of the run's data
 * @param {() => number} [needs.boxes] how many there are
 */
export const leaderOf = ({ control, box, data, boxes = () => 0 }) => {
  /** @type {ReturnType<typeof fleetFoldOf> | null} */
  let fold = null
  let committed = { name: '', last: '0-0', n: 0 }

  const begin = async () => {
    const text = await control.checkpoint()
    const from = text === null ? null : JSON.parse(text)
    // Each commit has a name of its own: one that is executed late must not be taken for its repetition.
    committed = { name: from?.commit.name ?? '', last: from?.last ?? '0-0', n: from?.commit.n ?? 0 }
    return fleetFoldOf(from)
  }
  const drop = () => {
    fold?.close()
    fold = null
  }
  /** @param {ReturnType<typeof fleetFoldOf>} current */
  const expected = (current) => {
    const known = Object.values(current.boxes())
    const newest = Math.max(0, ...known.map(({ at_ms: atMs }) => secondOf(atMs)))
    const silent = known.filter(({ at_ms: atMs }) => newest - secondOf(atMs) > silentSeconds).length
    return Math.max(known.length, boxes()) - silent
  }
  /** @param {ReturnType<typeof fleetFoldOf>} current @param {readonly object[]} seconds */
  const commit = async (current, seconds) => {
    const checkpoint = current.checkpoint()
    if (checkpoint.last === committed.last && seconds.length === 0) return checkpoint
    const n = committed.n + 1
    const name = `${n} ${box} ${randomUUID()}`
    const isTaken = await control.commit({
      data: data(),
      box,
      before: committed.name,
      name,
      last: checkpoint.last,
      checkpoint: JSON.stringify({ ...checkpoint, commit: { name, n } }),
      seconds: seconds.map((line) => JSON.stringify(line)),
    })
    if (!isTaken) return null
    committed = { name, last: checkpoint.last, n }
    return checkpoint
  }

  return {
    /**
     * Folds what the stream holds.
     * @param {{ isLast?: boolean }} [how] isLast: seconds that are not complete will never be
     * @returns {Promise<Checkpoint | null>} what is committed; null: not led by this box any more
     */
    async foldNew({ isLast = false } = {}) {
      try {
        fold ??= await begin()
        for (;;) {
          const entries = await control.read(fold.checkpointId(), entriesARead)
          for (const [id, text] of entries) fold.add(id, decodeInterval(text))
          const more = entries.length === entriesARead
          const seconds = isLast && !more ? fold.rest() : fold.closed(expected(fold))
          const checkpoint = await commit(fold, seconds)
          if (!checkpoint) drop()
          if (!checkpoint || !more) return checkpoint
        }
      } catch (error) {
        // Only the control server knows whether it was committed.
        drop()
        throw error
      }
    },
    close: drop,
  }
}
