// Queues and pools whose connections are in memory: servers that answer when a test says so, and turns to send.
import assert from 'node:assert/strict'
import { systemTimers } from '../../lib/base/timers.js'
import { tickValues } from '../../lib/plan/tick-values.js'
import { withBytes } from '../../lib/transport/batch-bytes.js'
import { entryOf } from '../../lib/transport/send-queue.js'
import { batchOf } from '../../lib/transport/tick-batches.js'
import { eachStep } from '../../lib/workloads/bind/writer.js'
/** @import { Tick } from '../../lib/transport/send-queue.js' */
/** @import { Job } from '../../lib/transport/send-queue.js' */

export const values = tickValues(1_790_000_000_000, 60)
export const ok = '+OK\r\n'

/** A socket that takes everything at once. @param {(bytes: Buffer, done?: () => void) => void} write @returns {any} */
export const socketInMemory = (write) => ({
  ...{ destroyed: false, writableLength: 0, cork() {}, uncork() {}, destroy() {}, write },
})

/** The connections that are opened, in order, and the options of queues that use them. */
export const sceneOfQueues = () => {
  /** @type {{ bytes: number, commands: number, answer: (text: string) => void, end: () => void }[]} */
  const connections = []
  const done = /** @type {string[]} */ ([])
  let sent = 0
  const never = () => assert.fail('was not expected')
  const open = async (
    /** @type {{ onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }} */ handlers,
  ) => {
    const own = {
      bytes: 0,
      commands: 0,
      answer: (/** @type {string} */ text) => handlers.onBytes(Buffer.from(text)),
      end: () => handlers.onClose(new Error('reset')),
    }
    connections.push(own)
    return socketInMemory((chunk) => {
      own.bytes += chunk.length
      own.commands += chunk.toString('latin1').split('*3\r\n').length - 1
    })
  }
  return {
    connections,
    done,
    sent: () => sent,
    options: {
      address: '127.0.0.1:1',
      open,
      sharing: {
        most: { bytes: 1000, commands: Number.POSITIVE_INFINITY },
        oneSlot: false,
        spare: { take: () => Buffer.alloc(65_536), give: () => {} },
        slotQueues: { any: () => false, has: () => false, wait: never },
        machine: { clock: () => 0, random: () => 0.5, timers: systemTimers },
      },
      events: {
        onAnswered: (/** @type {any} */ entry, /** @type {number} */ n) =>
          done.push(`${entry.tick.chunk}: ${n}`),
        onUnkept: (/** @type {any} */ entry, /** @type {number} */ n) =>
          done.push(`${entry.tick.chunk}: ${n} not kept`),
        ...{ onRefused: never, onLost: never, onRead: () => {}, onBegun: () => {} },
        ...{ onState: () => {}, onRenewed: () => {} },
        onSent: (/** @type {number} */ commands) => (sent += commands),
      },
    },
  }
}

export const tickOf = (/** @type {number} */ chunk, /** @type {number} */ index = 0) => {
  const fresh = { dueMs: 0, firstMs: null, sends: [], progress: null, values, account: {} }
  return /** @type {Tick} */ (/** @type {unknown} */ ({ index, chunk, ...fresh }))
}

/** What a tick sends by one connection. @param {Tick} tick @param {{ commands?: number, valueBytes?: number, connection?: number }} [size] @returns {Job} */
export const jobOf = (tick, { commands = 2, valueBytes = 1, connection = 0 } = {}) => {
  const step = eachStep((n) => ['SET', `item:${n}`, 'x'.repeat(valueBytes)])
  const batch = batchOf(step, { first: 1, count: commands }, { cluster: false, values })
  return {
    batch: withBytes(batch, values, true, connection),
    values: tick.values,
    ranges: [0, commands],
    at: 0,
  }
}

/** @param {number} chunk @param {number} [index] @param {Parameters<typeof jobOf>[1]} [size] */
export const turnOf = (chunk, index = 0, size = {}) => {
  const tick = tickOf(chunk, index)
  return { tick, jobs: [jobOf(tick, size)] }
}

/** '0.1x4/500' is a turn of chunk 0, index 1, with four commands of values of 500 bytes; 2 and 1 where they are left out. @param {string} name */
export const turnNamed = (name, connection = 0) => {
  const [, chunk, index = 0, commands = 2, valueBytes = 1] =
    /^(\d+)(?:\.(\d+))?(?:x(\d+))?(?:\/(\d+))?$/.exec(name) ?? assert.fail(name)
  const size = { commands: Number(commands), valueBytes: Number(valueBytes), connection }
  return turnOf(Number(chunk), Number(index), size)
}

/** A repeat of all commands of a turn. @param {string} name @param {number} [lead] 1: behind ASKING */
export const repeatNamed = (name, lead = 0) => {
  const { tick, jobs } = turnNamed(name)
  const entry = entryOf(tick, jobs[0].batch, values, 0, jobs[0].ranges[1], true)
  return { ...entry, inSlotQueue: true, lead }
}
