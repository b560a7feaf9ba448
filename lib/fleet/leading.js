// What a box does while it leads: its thread folds the stream, and what waits for it to lead is woken.
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
  /** @type {(() => unknown)[]} */
  const steps = []
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
    /** @param {() => unknown} step when this box begins to lead a run that is under way */
    onLead: (step) => void steps.push(step),
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
      if (thread) return
      thread = leadThread({ place, run, box: id, data: data(), boxes }, onFailed)
      for (const step of steps) await step()
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
