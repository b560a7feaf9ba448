// Starts producer.js; its second sending thread ends soon after its first second: LOST=ended, or by an error of its own: LOST=failed.

import { syncBuiltinESMExports } from 'node:module'
import workerThreads from 'node:worker_threads'

const { LOST } = process.env
const afterMs = 1200
const { Worker } = workerThreads

class DyingWorker extends Worker {
  #isSecond = false
  #hasBegun = false
  /** @param {URL} file @param {import('node:worker_threads').WorkerOptions} options */
  constructor(file, options) {
    super(file, options)
    this.#isSecond = options.name === 'sender 2'
    this.on('message', (said) => this.#heard(said))
  }
  /** @param {any} order */
  postMessage(order) {
    super.postMessage(order)
    if (this.#isSecond && order.beginAtMs !== undefined) this.#hasBegun = true
  }
  /** On a busy machine it begins late. @param {any} said */
  #heard({ second }) {
    if (!second || !this.#hasBegun) return
    this.#hasBegun = false
    setTimeout(() => {
      if (LOST === 'ended') this.terminate()
      else super.postMessage(null)
    }, afterMs)
  }
}

workerThreads.Worker = DyingWorker
syncBuiltinESMExports()
await import('../../producer.js')
