// What a box says to the control, and in which order: intervals one after the other until each is acknowledged, all of
// them again to a control that lost its data. No clock and no server in it: the caller beats when it is time.

/** @import { Answer, Control } from './control.js' */

// So many intervals go with one beat: what a box kept while the control was away does not come in one command.
const intervalsABeat = 50
// Each so many beats carry the description of the box again.
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
 * @typedef {object} Kept intervals on disk, oldest first
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
 * @param {Kept} needs.kept
 */
export const boxOf = ({ control, id, joining, description, mayLead, kept }) => {
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
  /** The control has lost what it knew: a restart without its data. */
  const again = async () => {
    const all = await kept.all()
    // What was appended while the disk was read is not acknowledged either.
    const since = appended - all.length
    unsent = [...all, ...(since > 0 ? unsent.slice(-since) : [])]
    sent = ''
    isEndTold = false
    // Under another id, so that no other box takes what is there for what it was.
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
      kept.append(text)
      unsent.push(text)
    },
    /** The last word of the box, behind its last interval. @param {string} text */
    end(text) {
      end = text
    },
    waiting: () => unsent.length,
    /** All that this box had to say has been taken. */
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
      if (!answer.known) {
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
