// One connection that carries entries: parts of a tape for one tick, settled in the order they were sent.
import { MillraceError } from '../errors.js'
import { replyCounter } from '../wire/decode.js'
import { fifo } from './fifo.js'

/**
 * @typedef {import('./tape.js').Tape} Tape
 * @typedef {import('../measure/ledger.js').Account} Account
 * @typedef {import('../wire/encode.js').TickValues} TickValues
 *
 * @typedef {object} Tick
 * @property {number} index
 * @property {number} chunk which part of the agent's items, over all agents
 * @property {number} dueMs
 * @property {number | null} firstMs when its first byte went to a socket
 * @property {TickValues} values
 * @property {Account} account
 * @property {Float64Array | null} items in the places of the account; null: its own, in order
 *
 * @typedef {object} Entry commands [from, to) of a tape for one tick: the unit of sending and settling
 * @property {Tick} tick
 * @property {TickValues} values the tick's own
 * @property {Tape} tape
 * @property {number} from the first command not yet answered
 * @property {number} to
 * @property {number} lead answers to come before the first command's own (ASKING)
 * @property {boolean} again its bytes are made anew: the tape may hold a later tick's
 * @property {boolean} held counts among the pending commands of its slot
 * @property {string | null} goTo the address that a redirect named for this once
 * @property {number} attempts
 * @property {number} bytes
 * @property {number} sentMs
 *
 * @typedef {object} ConnectionEvents
 * @property {(entry: Entry, commands: number) => void} onAnswered
 * @property {(entry: Entry, command: number, line: string) => void} onRefused
 * @property {() => void} onRead everything a read brought is settled
 * @property {(unanswered: Entry[], error?: Error) => void} onClosed
 */

/**
 * @param {(events: { onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }) => Promise<import('node:net').Socket>} open
 * @param {ConnectionEvents} events
 */
export const connectionOf = async (open, { onAnswered, onRefused, onRead, onClosed }) => {
  const sent = /** @type {ReturnType<typeof fifo<Entry>>} */ (fifo())
  let unansweredBytes = 0
  let unansweredCommands = 0

  const finish = (/** @type {Entry} */ entry) => {
    unansweredBytes -= entry.bytes
    sent.shift()
  }
  const next = () => {
    const entry = sent.first()
    if (!entry) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    return entry
  }
  const answered = (/** @type {number} */ count) => {
    let left = count
    while (left > 0) {
      const entry = next()
      if (entry.lead > 0) {
        entry.lead--
        left--
        continue
      }
      const n = Math.min(left, entry.to - entry.from)
      left -= n
      unansweredCommands -= n
      if (entry.from + n === entry.to) finish(entry)
      onAnswered(entry, n)
      entry.from += n
    }
  }
  const refused = (/** @type {string} */ line) => {
    const entry = next()
    // ASKING refused: the command behind it will say what is wrong.
    if (entry.lead > 0) {
      entry.lead--
      return
    }
    unansweredCommands--
    if (entry.from + 1 === entry.to) finish(entry)
    onRefused(entry, entry.from++, line)
  }
  const count = replyCounter({ done: answered, failed: refused })

  const socket = await open({
    onBytes: (chunk) => {
      count(chunk)
      onRead()
    },
    onClose: (error) => onClosed(sent.all(), error),
  })

  return {
    unanswered: sent.all,
    unansweredBytes: () => unansweredBytes,
    unansweredCommands: () => unansweredCommands,
    /** Bytes that the system has not taken yet. */
    waitingBytes: () => socket.writableLength,
    cork: () => socket.cork(),
    uncork: () => socket.uncork(),
    /**
     * @param {Entry} entry
     * @param {Buffer} bytes
     * @param {(() => void) | null} release the socket has let go of the bytes
     */
    write(entry, bytes, release) {
      entry.bytes = bytes.length
      unansweredBytes += bytes.length
      unansweredCommands += entry.to - entry.from
      sent.push(entry)
      socket.write(bytes, release ?? undefined)
    },
    isOpen: () => !socket.destroyed,
    close: () => socket.destroy(),
  }
}
