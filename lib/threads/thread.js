// A thread that plays a part of a plan. It opens the target as its process did, and has connections, counts and instruments of
// its own. Once a second it is asked for what it has measured.
import { parentPort, workerData } from 'node:worker_threads'
import { endThread, untilCompiled } from '../base/thread-end.js'
import { certain } from '../base/typed.js'
import { monotonicMs } from '../probes/monotonic.js'
import { openAt } from '../servers/open.js'

/**
 * @import { MessagePort } from 'node:worker_threads'
 * @import { Target } from '../servers/open.js'
 * @import { ReadOrders } from './read-part.js'
 * @import { Ready, Said } from './threads.js'
 * @import { WriteOrders } from './write-part.js'
 *
 * @typedef {WriteOrders | ReadOrders} Orders what a load needs
 *
 * @typedef {object} State what a run knows better as it goes on; moments are of the clock that all threads share
 * @property {number} fromMs when the warm-up ends, after the start
 * @property {number} aheadMs of the servers' epoch
 * @property {number} stopsAtMs
 *
 * @typedef {{ state?: State, beginAtMs?: number, late?: boolean, second?: true, stop?: true, settleMs?: number, now?: true,
 *   close?: true, password?: string }} Order
 *
 * @typedef {object} PartNeeds
 * @property {Target} target
 * @property {() => number} clock of this thread
 * @property {number} sharedMs what to add to it for the clock that all share
 * @property {() => State} state
 * @property {(said: Said) => void} say
 * @property {AbortSignal} stopNow
 *
 * @typedef {object} Playing a part that is open
 * @property {Ready} ready
 * @property {Promise<unknown>} over nothing new begins
 * @property {(atMs: number, late: boolean) => unknown} begin
 * @property {() => void} changed the state has
 * @property {() => void} stop
 * @property {() => Promise<NonNullable<Said['second']>>} second
 * @property {(limitMs: number) => Promise<NonNullable<Said['end']>>} settled
 * @property {() => void} close
 */

const port = certain(parentPort)
/** @type {Orders} */
const orders = workerData
const say = (/** @type {Said} */ said) => port.postMessage(said)
const clock = () => performance.now()
const sharedMs = monotonicMs() - clock()
const stopNow = new AbortController()
/** @type {State} */
let state = { fromMs: Number.POSITIVE_INFINITY, aheadMs: 0, stopsAtMs: Number.POSITIVE_INFINITY }

const failed = (/** @type {unknown} */ error) => {
  untilCompiled()
  throw error
}
const target = await openAt(orders.place, { say: () => {}, mayStart: false, anyServer: true }).catch(failed)
target.confirmed.endWith((reason) => say({ failed: reason }))
const needs = { target, clock, sharedMs, say, state: () => state, stopNow: stopNow.signal }
const opened = () =>
  orders.kind === 'writing'
    ? import('./write-part.js').then((part) => part.openWriting(orders, needs))
    : import('./read-part.js').then((part) => part.openReading(orders, needs))
/** @type {Playing} */
const playing = await opened().catch(failed)

const close = async () => {
  playing.close()
  await target.close()
  endThread(port)
}
port.on('message', async (/** @type {Order} */ order) => {
  if (order.password !== undefined) target.access.password = order.password
  if (order.state) {
    const isMoved = order.state.fromMs !== state.fromMs
    state = order.state
    if (isMoved) playing.changed()
  }
  if (order.beginAtMs !== undefined) await playing.begin(order.beginAtMs - sharedMs, order.late === true)
  if (order.stop) playing.stop()
  if (order.now) stopNow.abort()
  if (order.second) say({ second: await playing.second() })
  if (order.settleMs !== undefined) say({ end: await playing.settled(order.settleMs) })
  if (order.close) await close()
})
playing.over.then(() => say({ offered: true }))
say({ ready: playing.ready })
