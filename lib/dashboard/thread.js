// The live page as its run sees it: a thread that gets each event.

import { Worker } from 'node:worker_threads'
import { atMost } from '../base/timers.js'

/**
 * @import { Place } from '../fleet/control.js'
 * @import { Limits, Listener } from './service.js'
 * @import { Order } from './worker.js'
 */

const program = new URL('./worker.js', import.meta.url)
const closeLimitMs = 2000

/**
 * @param {object} needs
 * @param {Listener} needs.listener
 * @param {Partial<Limits>} [needs.limits]
 * @param {{ limit?: number, recent?: number }} [needs.size] of the history
 * @param {{ place: Place, run: string }} [needs.fleet] what the page shows is asked of a control
 * @returns {Promise<{ failed: string, message?: string } | Dashboard>} failed: the code of the system
 *
 * @typedef {object} Dashboard
 * @property {number} port
 * @property {string} token
 * @property {(order: Order) => void} tell
 * @property {() => Promise<void>} close
 */
export const dashboardThread = async (needs) => {
  const worker = new Worker(program, {
    workerData: needs,
    env: {},
    argv: [],
    execArgv: [],
    name: 'dashboard',
  })
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  // A page that fails is no reason to end the run.
  worker.on('error', () => {})
  const begun = await Promise.race([
    new Promise((/** @type {(given: any) => void} */ resolve) => worker.once('message', resolve)),
    ended.then(() => ({ failed: 'the thread of the page ended' })),
  ])
  if ('failed' in begun) return begun
  worker.unref()
  return {
    port: begun.port,
    token: begun.token,
    tell: (order) => worker.postMessage(order),
    async close() {
      worker.postMessage('close')
      worker.ref()
      await atMost(closeLimitMs, ended)
      await worker.terminate()
    },
  }
}
