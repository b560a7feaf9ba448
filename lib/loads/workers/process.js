// A process of workers, started by the run. The first line on its pipe has its orders, `go` on stdin starts it,
// the end of stdin ends it in order, and the end of the pipe at once. It prints a line a second: CPU, and commands refused.
import { createInterface } from 'node:readline'
import { deserialize } from 'node:v8'
import { fromParent } from '../../base/child.js'
import { instrumentsOf } from '../../measures/index.js'
import { steadyClock } from '../../probes/clocks.js'
import { endpointOf } from '../../servers/address.js'
import { dial } from '../../servers/dial.js'
import { journalWriter } from './journal.js'
import { workerGroupOf } from './worker-group.js'

/**
 * @import { WorkPlan } from './plan.js'
 * @import { Access } from '../../servers/dial.js'
 *
 * @typedef {object} Orders
 * @property {WorkPlan} plan
 * @property {readonly string[]} names
 * @property {number} first of its workers, among all
 * @property {number} stepsPerUs
 * @property {number} offsetMs of the server's clock
 * @property {string} address
 * @property {Access} access
 * @property {string} journal
 */

const settleMs = 8000
const clock = () => performance.now()
const tell = (/** @type {object} */ line) => process.stdout.write(`${JSON.stringify(line)}\n`)
// The parent ends this process.
process.on('SIGINT', () => {})

const { ORDERS = '' } = await fromParent(process.env, () => process.exit(1))
/** @type {Orders} */
const { plan, names, first, stepsPerUs, offsetMs, address, access, journal } = deserialize(
  Buffer.from(ORDERS, 'base64'),
)
const steady = steadyClock()
const writer = journalWriter(journal)
const instruments = await instrumentsOf('processes', { plan, clock })
const group = await workerGroupOf({
  plan,
  workers: { names, first },
  stepsPerUs,
  server: {
    dial: (handlers) => dial(endpointOf(address), access, handlers),
    // The queue has moved: asks the parent for the new address.
    refresh: async () => process.exit(3),
    nowUs: () => (steady.epochMs() + offsetMs) * 1000,
  },
  sink: {
    ...writer,
    refused: (cause) => tell({ refused: cause }),
    event: (kind, text) => tell({ event: [kind, text] }),
  },
  clock,
}).catch((error) => {
  tell({ fault: error.message })
  process.exit(3)
})
tell({ ready: true })
// A line on stdin begins the work or brings a new token, its end ends it.
let isWorking = false
const begin = () => {
  isWorking = true
  instruments.startWindow()
  instruments.startRun()
  group.start()
}
const orders = createInterface({ input: process.stdin })
orders.on('line', (line) => {
  if (line === 'go') begin()
  else access.password = line.slice('token '.length)
})
const second = setInterval(() => {
  if (!isWorking) return
  instruments.second(true)
  writer.flush()
  tell({ measured: instruments.own() })
}, 1000)
orders.once('close', async () => {
  group.stop()
  const whole = await group.settle(settleMs).catch(() => false)
  clearInterval(second)
  writer.flush()
  instruments.second(true)
  instruments.end()
  tell({ measured: instruments.own(), whole })
  process.exit(0)
})
