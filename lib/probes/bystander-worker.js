// The thread of the bystander: it sends and times PINGs, and keeps their latencies in memory from which the sender takes them,
// or posts them when that is full; at its end also the part of PINGs sent late. Its access data comes as workerData, so it is
// in no argument and no environment.
import { parentPort, workerData } from 'node:worker_threads'
import { endThread } from '../base/thread-end.js'
import { systemTimers } from '../base/timers.js'
import { dial } from '../servers/dial.js'
import { bystanderProbe } from './bystander.js'
import { monotonicMs } from './monotonic.js'
import { pairsIn } from './shared-pairs.js'

/**
 * @import { MessagePort } from 'node:worker_threads'
 * @import { Endpoint } from '../servers/address.js'
 * @import { Access } from '../servers/dial.js'
 *
 * @typedef {{ port: MessagePort, memory: SharedArrayBuffer, access: Access, masters: Endpoint[] }} Order
 * @typedef {{ masters: Endpoint[] } | { password: string } | 'stop'} Instruction
 */

/** @type {Order} */
const { port, memory, access, masters: first } = workerData
// A message for each answer would cost as much as the PING.
const postEveryMs = 250
// A larger part of a latency may not be our own delay.
const ownShare = 0.25
// With fewer PINGs, one late PING affects the p99.
const fewest = 50

const kept = pairsIn(memory)
let masters = first
/** @type {number[]} the moment it was due and its latency in us, in turn */
let spilled = []
let postedMs = 0
let pings = 0
let late = 0
const post = () => {
  if (spilled.length === 0) return
  const pairs = Float64Array.from(spilled)
  spilled = []
  postedMs = monotonicMs()
  port.postMessage(pairs, [pairs.buffer])
}

const probe = bystanderProbe({
  masters: () => masters,
  dial,
  access,
  clock: monotonicMs,
  sleep: systemTimers.sleep,
  record: (_, latencyUs, lateUs) => {
    const nowMs = monotonicMs()
    const dueMs = nowMs - latencyUs / 1000
    if (!kept.put(dueMs, latencyUs)) spilled.push(dueMs, latencyUs)
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
  endThread(port)
})
probe.start()
parentPort?.postMessage('started')
