// Starts producer.js and counts the messages between its threads: `threads: ORDERS ANSWERS` on stderr at the end.

import { syncBuiltinESMExports } from 'node:module'
import workerThreads from 'node:worker_threads'

/** @import { WorkerOptions } from 'node:worker_threads' */

const { Worker } = workerThreads
let orders = 0
let answers = 0

class CountedWorker extends Worker {
  /** @param {URL} file @param {WorkerOptions} options */
  constructor(file, options) {
    super(file, options)
    if (options.name?.startsWith('sender'))
      this.on('message', () => {
        answers++
      })
  }
  /** @param {unknown} message */
  postMessage(message) {
    orders++
    super.postMessage(message)
  }
}

workerThreads.Worker = CountedWorker
syncBuiltinESMExports()
process.on('exit', () => process.stderr.write(`threads: ${orders} ${answers}\n`))
await import('../../producer.js')
