// What a box sends to the control server, and in which order: intervals one after the other until each is acknowledged, and
// all of them again to a control server that lost its data. Without a clock or a server: the caller decides when to beat.

/** @import { Answer, Control } from './control.js' */

// At most this many intervals in one beat: those kept while the control server was away are sent in several commands.
const intervalsABeat = 50
// The description of the box is sent again after this many beats.
const beatsACard = 10

/**
 * @typedef {Pick<Control, 'join' | 'beat'>} Asked
 *
 * @typedef {object} Joining what a run is joined with
 * @property {string} data id of the run's data, of whichever box begins it
 * @property {string} digest of the plan
 * @property {string} plan as JSON
 * @property {number} writers
 *
 * @typedef {object} IntervalStore intervals on disk, oldest first
 * @property {(text: string) => void} append
 * @property {() => Promise<string[]>} all
 */

/**
 * @param {object} needs
 * @param {Asked} needs.control
 * @param {string} needs.id of the box
 * @param {Joining} needs.joining
 * @param {() => string} needs.description the box as JSON, as it is now
 * @param {boolean} needs.mayLead
 * @param {IntervalStore} needs.store
 */
export const boxOf = ({ control, id, joining, description, mayLead, store }) => {
  let { data } = joining
  let begun = 0
  let appended = 0
  let beats = 0
  /** @type {string[]} not acknowledged */
  let unsent = []
  /** @type {number | null} */
  let startMs = null
  let sent = ''
  let end = ''
  let isEndTold = false

  const join = async () => {
    const joined = await control.join({ ...joining, data, box: id, description: description(), startMs })
    if (joined.state === 'ok') data = joined.data
    startMs ??= joined.startMs
    return joined
  }
  /** The control server has lost its data, as after a restart. */
  const again = async () => {
    const all = await store.all()
    // Intervals appended while the disk was read are not acknowledged either.
    const since = appended - all.length
    unsent = [...all, ...(since > 0 ? unsent.slice(-since) : [])]
    sent = ''
    isEndTold = false
    // Under another id, so that the old data is not taken for this box's.
    data = `${joining.data}-${++begun}`
    await join()
  }

  return {
    id,
    data: () => data,
    join,
    /** @param {string} text an encoded interval */
    append(text) {
      appended++
      store.append(text)
      unsent.push(text)
    },
    /** The final report of the box, after its last interval. @param {string} text */
    end(text) {
      end = text
    },
    waiting: () => unsent.length,
    /** Whether everything was sent and acknowledged. */
    isDone: () => unsent.length === 0 && (end === '' || isEndTold),
    /** @returns {Promise<Answer>} rejects where the control does not answer */
    async beat() {
      const intervals = unsent.slice(0, intervalsABeat)
      const isLast = intervals.length === unsent.length
      const now = description()
      // A request that was given up may be executed after a newer one.
      if (++beats % beatsACard === 0) sent = ''
      const lastWord = isLast && !isEndTold ? end : ''
      const answer = await control.beat({
        data,
        box: id,
        mayLead,
        description: now === sent ? '' : now,
        end: lastWord,
        intervals,
      })
      if (!answer.hasData) {
        await again()
        return answer
      }
      startMs ??= answer.startMs
      unsent.splice(0, intervals.length)
      sent = now
      if (lastWord !== '') isEndTold = true
      return answer
    },
  }
}
