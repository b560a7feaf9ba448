// What a box does while it leads: its thread folds the stream.
import { leadThread } from './thread.js'

/**
 * @import { Warning } from '../result/warnings.js'
 * @import { Place } from './control.js'
 */

/**
 * @param {object} needs
 * @param {Place} needs.place
 * @param {string} needs.run
 * @param {string} needs.id of the box
 * @param {() => string} needs.data id of the run's data
 * @param {(warning: Warning) => void} needs.warn
 */
export const leadingOf = ({ place, run, id, data, warn }) => {
  /** @type {ReturnType<typeof leadThread> | null} */
  let thread = null
  let isAtWork = false
  let boxes = 0
  const end = async () => {
    const former = thread
    thread = null
    await former?.end()
  }
  const onFailed = (/** @type {Error} */ { message }) => {
    thread = null
    warn({ code: 'fleet', message: `the leader's thread ended: ${message}`, invalidates: false })
  }
  return {
    /** The run is under way. @param {number} count boxes that began it */
    begin(count) {
      boxes = count
      isAtWork = true
    },
    isAtWork: () => isAtWork,
    /** @param {boolean} leads by the control's last answer */
    async follow(leads) {
      if (!isAtWork) return
      if (!leads) return end()
      thread ??= leadThread({ place, run, box: id, data: data(), boxes }, onFailed)
    },
    /** The control lost its data, and the run goes on under another id. */
    moved: () => thread?.follow(data()),
    /** Folding ends here, and goes on where it is needed. */
    async end() {
      isAtWork = false
      await end()
    },
  }
}
