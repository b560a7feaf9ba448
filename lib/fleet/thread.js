// The leader's thread, seen from the box.

import { Worker } from 'node:worker_threads'
import { atMost } from '../base/timers.js'

/** @import { Place } from './control.js' */

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
