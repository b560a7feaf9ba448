// The thread of the delay proxy: delays what it reads by half of a round trip in each direction, then passes it on in
// order. Timers of Node are accurate to a millisecond, so the last 2 ms of each wait are a busy loop.
import net from 'node:net'
import { parentPort } from 'node:worker_threads'
import { certain } from '../base/typed.js'
import { portOf } from './address.js'

/**
 * @import { MessagePort as Port } from 'node:worker_threads'
 * @import { Endpoint } from './address.js'
 *
 * @typedef {{ dueMs: number, to: net.Socket, bytes: Buffer | null }} Parcel null: the end of a connection
 * @typedef {{ listen: Endpoint, id: number } | { holdMs: number } | { loseEvery: number } | 'figures'} Order
 */

/** @type {Port} */
const port = certain(parentPort)
const spinMs = 2
let holdMs = 0
let loseEvery = 0
let exchanges = 0
let lost = 0
/** @type {Parcel[]} in the order in which they are due */
let parcels = []
let next = 0
let waiting = false

const deliver = () => {
  waiting = false
  for (; next < parcels.length && parcels[next].dueMs <= performance.now(); next++) {
    const { to, bytes } = parcels[next]
    if (to.destroyed) continue
    if (bytes) to.write(bytes)
    else to.end()
  }
  if (next < parcels.length) return wait()
  parcels = []
  next = 0
}
const wait = () => {
  if (waiting) return
  waiting = true
  const leftMs = parcels[next].dueMs - performance.now()
  if (leftMs > spinMs) setTimeout(deliver, Math.floor(leftMs - spinMs + 1))
  else setImmediate(deliver)
}

/** @param {net.Socket} to @param {Buffer | null} bytes */
const send = (to, bytes) => {
  parcels.push({ dueMs: performance.now() + holdMs, to, bytes })
  if (holdMs === 0) deliver()
  else wait()
}

/** @param {net.Socket} inner of the client @param {Endpoint} endpoint */
const join = (inner, endpoint) => {
  const outer = net.connect({ ...endpoint, noDelay: true })
  inner.setNoDelay(true)
  let asked = false
  let greeted = false
  const both = [inner, outer]
  const cut = () => {
    for (const socket of both) socket.destroy()
  }
  inner.on('data', (bytes) => {
    asked = true
    send(outer, bytes)
  })
  outer.on('data', (bytes) => {
    // The first exchange authenticates the connection, so its reply is never lost.
    const isReply = asked && greeted
    if (asked) greeted = true
    asked = false
    if (isReply && ++exchanges % loseEvery === 0) {
      lost++
      return cut()
    }
    send(inner, bytes)
  })
  inner.on('end', () => send(outer, null))
  outer.on('end', () => send(inner, null))
  for (const socket of both) {
    socket.on('error', cut)
    socket.on('close', () => {
      if (socket.errored) cut()
    })
  }
  outer.on('close', () => send(inner, null))
  inner.on('close', () => send(outer, null))
}

/** @param {Extract<Order, { listen: Endpoint }>} order */
const listen = ({ listen: endpoint, id }) => {
  const server = net.createServer({ noDelay: true, allowHalfOpen: true }, (socket) => join(socket, endpoint))
  server.listen(0, '127.0.0.1', () => {
    port.postMessage({ id, port: portOf(server) })
  })
}

port.on('message', (/** @type {Order} */ order) => {
  if (order === 'figures') port.postMessage({ lost })
  else if ('listen' in order) listen(order)
  else if ('holdMs' in order) holdMs = order.holdMs
  else {
    loseEvery = order.loseEvery
    exchanges = 0
  }
})
port.postMessage('ready')
