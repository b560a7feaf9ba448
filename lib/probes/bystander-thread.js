// The bystander on its own thread, the only one besides the sender: on the sender's event loop it would measure how long
// that loop was busy.

import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { atMost } from '../base/timers.js'
import { addressOf } from '../servers/address.js'
import { monotonicMs } from './monotonic.js'
import { memoryForPairs, pairsIn } from './shared-pairs.js'

/**
 * @import { Endpoint } from '../servers/address.js'
 * @import { Access } from '../servers/dial.js'
 */

const program = new URL('./bystander-worker.js', import.meta.url)
const stopLimitMs = 2000
// Of one master in 82 seconds; what comes when these are full is posted, and wakes the sender.
const places = 4096

/**
 * Its latencies are kept until they are collected, so that they do not wake the sender.
 * @param {object} needs
 * @param {() => Endpoint[]} needs.masters
 * @param {Access} needs.access
 * @param {(agoMs: number, latencyUs: number) => void} needs.record called by collect() and stop() for each PING, with
 *   how long ago it was due
 * @param {(error: Error) => void} [needs.onFailed] the thread ended by itself
 */
export const bystanderThread = ({ masters, access, record, onFailed = () => {} }) => {
  const { port1: port, port2: theirs } = new MessageChannel()
  const memory = memoryForPairs(places)
  const kept = pairsIn(memory)
  /** @type {Worker | undefined} */
  let worker
  /** @type {Promise<unknown>} */
  let ended = Promise.resolve()
  let sentNames = ''
  let lateShare = Number.NaN

  const namesOf = (/** @type {Endpoint[]} */ list) => list.map(addressOf).join(' ')
  const plain = (/** @type {Endpoint[]} */ list) => list.map(({ host, port }) => ({ host, port }))

  const drain = () => {
    const nowMs = monotonicMs()
    kept.take((dueMs, latencyUs) => record(nowMs - dueMs, latencyUs))
    for (;;) {
      const found = receiveMessageOnPort(port)
      if (!found) return
      if (!(found.message instanceof Float64Array)) {
        lateShare = found.message.lateShare
        continue
      }
      const pairs = found.message
      for (let at = 0; at < pairs.length; at += 2) record(nowMs - pairs[at], pairs[at + 1])
    }
  }

  return {
    /** Resolves when the thread has started, so that its start is not measured. */
    async start() {
      const list = masters()
      sentNames = namesOf(list)
      worker = new Worker(program, {
        workerData: { port: theirs, memory, access, masters: plain(list) },
        transferList: [theirs],
        // The thread needs neither arguments nor environment; by default it would get copies.
        env: {},
        argv: [],
        execArgv: [],
        name: 'bystander',
      })
      ended = new Promise((resolve) => worker?.once('exit', resolve))
      worker.once('error', onFailed)
      const started = new Promise((resolve) => worker?.once('message', resolve))
      await Promise.race([started, ended])
      worker.unref()
      access.renewed?.((password) => port.postMessage({ password }))
    },
    /** Records what was answered since the last call, and follows changes of the masters. */
    collect() {
      drain()
      const list = masters()
      const names = namesOf(list)
      if (names === sentNames) return
      sentNames = names
      port.postMessage({ masters: plain(list) })
    },
    /** Part of the PINGs that were sent late by more than a quarter of their latency, once it has ended; NaN: not known. */
    lateShare: () => lateShare,
    /** PINGs without an answer at the end count with the time that they have waited. */
    async stop() {
      if (!worker) return
      port.postMessage('stop')
      worker.ref()
      await atMost(stopLimitMs, ended)
      drain()
      port.close()
      await worker.terminate()
    },
  }
}
