// The leader's thread, seen from the box.
import { Worker } from 'node:worker_threads'
import { atMost } from '../base/timers.js'

/**
 * @import { Warning } from '../measures/warnings.js'
 * @import { Place } from './control.js'
 */

/**
 * What a box does while it leads: its thread folds the stream.
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

const program = new URL('./lead-worker.js', import.meta.url)
const endLimitMs = 3000

/**
 * @param {{ place: Place, run: string, box: string, data: string, boxes: number }} about
 * @param {(error: Error) => void} onFailed it ended by itself
 */
export const leadThread = (about, onFailed) => {
  // Neither is any business of its; the defaults hand over copies.
  const worker = new Worker(program, { workerData: about, env: {}, argv: [], execArgv: [], name: 'leader' })
  const exited = new Promise((resolve) => worker.once('exit', resolve))
  worker.once('error', onFailed)
  worker.unref()
  about.place.access.renewed?.((password) => worker.postMessage({ password }))
  return {
    /** The control lost its data, and the run goes on under another id. @param {string} data */
    follow: (data) => worker.postMessage({ data }),
    async end() {
      worker.postMessage({ end: true })
      await atMost(endLimitMs, exited)
      await worker.terminate()
    },
  }
}
