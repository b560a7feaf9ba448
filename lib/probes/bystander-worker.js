// The thread of the bystander: it sends and times PINGs, and posts their latencies to a port that the sender reads; at its
// end also the part of PINGs sent late. Its access data comes as workerData, so it is in no argument and no environment.
import { parentPort, workerData } from 'node:worker_threads'
import { dial } from '../servers/dial.js'
import { bystanderProbe } from './bystander.js'
import { monotonicMs } from './monotonic.js'

/**
 * @import { MessagePort } from 'node:worker_threads'
 * @import { Endpoint } from '../servers/address.js'
 * @import { Access } from '../servers/dial.js'
 *
 * @typedef {{ port: MessagePort, access: Access, masters: Endpoint[] }} Order
 * @typedef {{ masters: Endpoint[] } | { password: string } | 'stop'} Instruction
 */

/** @type {Order} */
const { port, access, masters: first } = workerData
// A message for each answer would cost as much as the PING.
const postEveryMs = 250
// A larger part of a latency may not be our own delay.
const ownShare = 0.25
// With fewer PINGs, one late PING affects the p99.
const fewest = 50

let masters = first
/** @type {number[]} the moment it was due and its latency in us, in turn */
let answered = []
let postedMs = 0
let pings = 0
let late = 0
const post = () => {
  if (answered.length === 0) return
  const pairs = Float64Array.from(answered)
  answered = []
  postedMs = monotonicMs()
  port.postMessage(pairs, [pairs.buffer])
}

const probe = bystanderProbe({
  masters: () => masters,
  dial,
  access,
  clock: monotonicMs,
  record: (_, latencyUs, lateUs) => {
    const nowMs = monotonicMs()
    answered.push(nowMs - latencyUs / 1000, latencyUs)
    pings++
    if (lateUs > latencyUs * ownShare) late++
    if (nowMs - postedMs >= postEveryMs) post()
  },
})

port.on('message', (/** @type {Instruction} */ instruction) => {
  if (instruction !== 'stop') {
    if ('masters' in instruction) masters = instruction.masters
    else access.password = instruction.password
    return
  }
  probe.stop()
  post()
  port.postMessage({ lateShare: pings < fewest ? Number.NaN : late / pings })
  port.close()
})
probe.start()
parentPort?.postMessage('started')
