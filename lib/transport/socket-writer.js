// The driver on plain sockets: a queue to every server, the map of slots, and the events of both.
import { TargetError } from '../base/errors.js'
import { itemTimesOf } from '../probes/item-times.js'
import { writeBytes } from './batch-bytes.js'
import { catchUpOf, pausedMs } from './catch-up.js'
import { dueStepsOf } from './due-steps.js'
import { durableOf, notKept } from './durable.js'
import { netOf } from './net.js'
import { isOverdue, policyOf } from './policy.js'
import { renewalsOf } from './reconnecting-socket.js'
import { causeOf, refusalIn } from './refusals.js'
import { poolOf } from './server-queues.js'
import { tickBatchesOf } from './tick-batches.js'
import { closed as closedReason } from './topology-events.js'
import { writeRetriesOf } from './write-retries.js'

/**
 * @import { Socket } from 'node:net'
 * @import { Machine } from '../base/timers.js'
 * @import { Latencies } from '../probes/item-times.js'
 * @import { Loss, ledgerOf } from '../probes/ledger.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Access } from '../servers/dial.js'
 * @import { Sentinels } from '../servers/sentinel.js'
 * @import { Step } from '../workloads/bind/writer.js'
 * @import { Entry, OnReply, SendQueue, SendQueueEvents, Sharing, Tick, TickJobs, Job } from './send-queue.js'
 * @import { Pool } from './server-queues.js'
 * @import { Topology, slotMapOf } from './slot-map.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Batch } from './tick-batches.js'
 *
 * @typedef {object} DriverOptions
 * @property {Plan} plan
 * @property {Step[]} steps
 * @property {DriverTarget} target
 * @property {ReturnType<typeof ledgerOf>} ledger
 * @property {Latencies} latency
 * @property {Machine} machine
 * @property {number} [portionItems] of what is begun together, at least
 * @property {(kind: string, text: string) => void} onEvent
 * @property {(tick: Tick) => void} onBegun
 * @property {(tookMs: number) => void} [onRenewed] a connection was closed on purpose, and made anew
 * @property {OnReply} [onReply]
 * @property {() => void} onProgress answers came: there may be room for more
 * @property {(share: number) => void} [onEncoding]
 *
 * @typedef {object} DriverTarget what a driver needs of a target
 * @property {Topology} topology
 * @property {Access} access
 * @property {(address: string, events: { onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void, readOnly?: boolean }) => Promise<Socket>} dial
 * @property {() => Promise<Topology>} refresh
 * @property {(from: string, to: string) => boolean} follows whether a redirect may be followed: its server is confirmed
 * @property {Sentinels | null} [sentinels] who name the one server
 * @property {(address: string) => Promise<void>} loadScripts
 */

// Divides commands over the owners of their slots: a tick that is offered, and all that waits when the map has changed.

/**
 * @typedef {ReturnType<typeof slotMapOf>} SlotMap
 * @typedef {{ batch: Batch, values: TickValues }} Pass
 */

/**
 * @param {object} needs
 * @param {SlotMap} needs.map
 * @param {() => Iterable<Pool>} needs.pools
 * @param {(address: string) => Pool} needs.poolAt
 */
const slotRoutingOf = ({ map, pools, poolAt }) => {
  /** @param {Map<Pool, TickJobs>} byPool @param {Tick} tick @param {Pool} pool @param {Job} job */
  const put = (byPool, tick, pool, job) => {
    const known = byPool.get(pool)
    if (known) known.jobs.push(job)
    else byPool.set(pool, { tick, jobs: [job] })
  }

  /** The pool that a retry goes to now. @param {Entry} entry of one slot */
  const poolFor = (entry) => poolAt(entry.goTo ?? map.ownerOf(entry.batch.slotAt(entry.from, entry.values)))

  /** @param {TickJobs[]} waiting oldest first */
  const routeAgain = (waiting) => {
    /** @type {Map<Tick, Map<Pool, TickJobs>>} */
    const byTick = new Map()
    for (const { tick, jobs } of waiting) {
      const byPool = byTick.get(tick) ?? new Map()
      byTick.set(tick, byPool)
      for (const { batch, values, ranges: old, at } of jobs) {
        for (let r = at; r < old.length; r += 2) {
          for (const [address, ranges] of map.split(batch, values, old[r], old[r + 1])) {
            put(byPool, tick, poolAt(address), { batch, values, ranges, at: 0 })
          }
        }
      }
    }
    for (const byPool of byTick.values()) for (const [pool, tickJobs] of byPool) pool.offer(tickJobs)
  }

  return {
    /** A tick's commands, each to the owner of its slot. @param {Tick} tick @param {Pass[]} passes */
    offer(tick, passes) {
      /** @type {Map<Pool, TickJobs>} */
      const byPool = new Map()
      for (const { batch, values } of passes) {
        for (const [address, ranges] of map.rangesOf(batch, values)) {
          put(byPool, tick, poolAt(address), { batch, values, ranges: ranges.slice(), at: 0 })
        }
      }
      for (const [pool, tickJobs] of byPool) pool.offer(tickJobs)
      return byPool.keys()
    },

    poolFor,

    /** Sends everything that waits by the current map. */
    again() {
      /** @type {Entry[]} */
      const urgent = []
      /** @type {TickJobs[]} */
      const waiting = []
      for (const pool of pools()) {
        const all = pool.takeAll()
        urgent.push(...all.urgent)
        waiting.push(...all.waiting)
      }
      for (const entry of urgent) poolFor(entry).sendFirst(entry)
      routeAgain(waiting.sort((a, b) => a.tick.index - b.tick.index))
      for (const pool of pools()) pool.pump()
    },
  }
}

const spareBuffers = 16
// A server that has lost its slots is not waited for.
const lostLimitMs = 2000

/** Buffers for bytes that are made as they are sent. */
const sparePool = () => {
  /** @type {Buffer[]} */
  const free = []
  return {
    take: () => free.pop() ?? Buffer.allocUnsafeSlow(writeBytes),
    give: (/** @type {Buffer} */ buffer) => {
      if (free.length < spareBuffers) free.push(buffer)
    },
  }
}

/** @param {DriverOptions} options */
export const socketDriver = async (options) => {
  const { plan, steps, target, ledger, latency, machine } = options
  const { clock } = machine
  const { onEvent, onBegun, onProgress, onRenewed = () => {}, onReply = null } = options
  const dueSteps = dueStepsOf(plan)
  const encodeFrom = clock()
  const batches = await tickBatchesOf(plan, steps, {
    items: options.portionItems,
    onEncoding: options.onEncoding,
  })
  const encodeMs = clock() - encodeFrom
  const itemTimes = itemTimesOf({ steps, latency })
  const { portionsOf, carriersOf } = batches
  /** @type {Map<string, Pool>} */
  const pools = new Map()
  /** @type {Map<string, Error>} */
  const faults = new Map()
  /** @type {Map<string, number[]>} slots that the read under way saw leaving, by the address they left */
  const leaving = new Map()
  const catchUp = catchUpOf({ plan, clock })
  let started = false
  let closed = false

  function* queues() {
    for (const pool of pools.values()) yield* pool.queues
  }
  const net = netOf({
    target,
    connections: queues,
    onLearned(left) {
      if (left.size === 0) return
      catchUp.disturbed()
      for (const [address, slots] of left) {
        retries.slotQueues.drain(slots)
        releaseWhenDrained(address, slots)
      }
      routing.again()
    },
    onEvent,
    machine,
  })
  const { map, events: topologyEvents } = net
  const poolAt = (/** @type {string} */ address) => {
    const known = pools.get(address)
    if (known) return known
    const pool = poolOf({
      address,
      connections: plan.connections,
      chunks: plan.agents.length * plan.chunks,
      open: (events) => target.dial(address, events),
      events: queueEvents,
      sharing,
    })
    pools.set(address, pool)
    if (started) pool.connect()
    return pool
  }
  const routing = slotRoutingOf({ map, pools: () => pools.values(), poolAt })

  /** A server named the new owner of a slot. @param {number} slot @param {string} address */
  const moved = (slot, address) => {
    const was = net.moved(slot, address)
    if (was === null) return
    catchUp.disturbed()
    // Held at once; until when is decided when the read is settled.
    retries.slotQueues.drain([slot])
    const slots = leaving.get(was)
    if (slots) slots.push(slot)
    else leaving.set(was, [slot])
    net.refresh()
  }

  /** Commands of slots that have left a server wait until it has answered the older ones. @param {string} address @param {number[]} slots */
  const releaseWhenDrained = (address, slots) => {
    const release = () => {
      retries.slotQueues.drained(slots)
      for (const pool of pools.values()) pool.pump()
    }
    const pool = pools.get(address)
    if (pool) pool.whenDrained(release)
    else release()
  }

  const policy = policyOf({ maxBehindMs: plan.maxBehindMs, clock, follows: target.follows })
  const retries = writeRetriesOf({
    policy,
    ledger,
    poolFor: routing.poolFor,
    net: { ...net, moved },
    loadScripts: target.loadScripts,
    machine,
  })
  /** @type {Sharing} */
  const sharing = {
    most: { bytes: plan.windowBytes, commands: plan.windowCommands ?? Number.POSITIVE_INFINITY },
    oneSlot: !plan.cluster,
    spare: sparePool(),
    slotQueues: retries.slotQueues,
    durable: durableOf(plan),
    machine,
  }

  /** The replies of one read have been counted: sends the retries that follow. */
  const afterRead = () => {
    if (leaving.size > 0) {
      const left = [...leaving]
      leaving.clear()
      routing.again()
      for (const [address, slots] of left) releaseWhenDrained(address, slots)
    }
    retries.resend()
  }

  const stateChanged = (
    /** @type {SendQueue} */ queue,
    /** @type {'up' | 'down'} */ state,
    /** @type {Error | undefined} */ error,
  ) => {
    const { address } = queue
    if (error) faults.set(address, error)
    if (!started || closed) return
    if (state === 'up') {
      catchUp.disturbed()
      return topologyEvents.up(address)
    }
    topologyEvents.down(address, error?.message ?? closedReason)
    const line = refusalIn(error?.cause)
    if (line !== null) ledger.sentAgain(causeOf(line))
    afterRead()
    // Commands that a redirect sent there go back to the owner, which will redirect again.
    for (const entry of queue.takeUrgent()) {
      entry.goTo = null
      entry.lead = 0
      routing.poolFor(entry).sendFirst(entry)
    }
    net.refresh()
  }

  /** @type {SendQueueEvents} */
  const queueEvents = {
    onAnswered: (entry, n) => {
      if (closed) return
      const { tick, batch, from, write, sentMs } = entry
      const stored = itemTimes.answered(tick, batch, from, from + n, write, sentMs, clock())
      ledger.answered(tick.account, n, stored)
      retries.settle(entry, n)
    },
    onRefused: (entry, command, line, queue) => {
      if (closed) return
      ledger.commands.refused++
      retries.refused(entry, command, line, queue)
    },
    onUnkept: (entry, n) => {
      const { tick, batch, from } = entry
      if (closed) return
      ledger.lose(tick.account, batch, from, from + n, 'uncertain', notKept)
      retries.settle(entry, n)
    },
    onRead: (_, silentMs) => {
      if (closed) return
      // Ticks that waited in a pause of this process are not dropped, though it hears the answers before its timers.
      if (silentMs > pausedMs) catchUp.disturbed()
      afterRead()
      if (started) onProgress()
    },
    onBegun,
    onReply,
    onLost: (entry) => {
      if (!closed) retries.lost(entry)
    },
    onSent: (n) => {
      ledger.commands.sent += n
    },
    onState: stateChanged,
    onRenewed,
  }

  /** @param {TickJobs} tickJobs @param {Loss} outcome */
  const loseJobs = (tickJobs, outcome) => {
    for (const { batch, ranges, at } of tickJobs.jobs) {
      for (let r = at; r < ranges.length; r += 2) {
        ledger.lose(tickJobs.tick.account, batch, ranges[r], ranges[r + 1], outcome, '')
      }
    }
  }

  const isDisturbed = () => {
    if (retries.slotQueues.any()) return true
    for (const queue of queues()) if (!queue.isUp() || queue.silentMs() > pausedMs) return true
    return false
  }

  /** @param {Tick} tick @param {number} portion */
  const offer = (tick, portion) => {
    const { account, values } = tick
    const passes = portionsOf(tick)[portion].flatMap((batch) =>
      Array(dueSteps(batch, account.agent, values)).fill({ batch, values }),
    )
    for (const { batch } of passes) ledger.expect(account, batch.count)
    for (const pool of [...routing.offer(tick, passes)]) pool.pump()
  }

  /** Once a second: drops what has waited too long, checks silent servers, and reports events. */
  const watch = () => {
    if (closed) return
    const deadline = policy.deadline(plan.schedule !== 'none')
    for (const queue of queues()) {
      const isLost = (/** @type {TickJobs} */ tickJobs) => isOverdue(tickJobs, deadline, queue.isUp())
      for (const tickJobs of queue.take(isLost)) loseJobs(tickJobs, 'dropped')
      if (queue.silentMs() > lostLimitMs) {
        net.refresh()
        // It has lost its slots and does not answer: its commands are retried elsewhere.
        if (!net.isOwner(queue.address)) queue.cut()
      }
    }
    for (const pool of pools.values()) {
      // Commands may have waited for those that were dropped.
      pool.pump()
      if (!pool.isUnused() || net.isOwner(pool.address)) continue
      pool.close()
      pools.delete(pool.address)
      topologyEvents.forget(pool.address)
    }
    net.listen()
    for (const entry of retries.slotQueues.expired(deadline)) retries.lose(entry, 'dropped', '')
    net.watch()
  }

  const connectAll = async () => {
    for (const address of map.addresses()) poolAt(address)
    await Promise.all([...pools.values()].map((pool) => pool.connect()))
    for (const pool of pools.values()) {
      if (pool.isUp()) continue
      close()
      throw new TargetError(faults.get(pool.address)?.message ?? `${pool.address}: cannot connect`)
    }
    started = true
  }

  /** The run has ended: gives up commands without an outcome. */
  const abandon = () => {
    /** @type {Entry[]} */
    const entries = [...retries.slotQueues.clear()]
    for (const queue of queues()) {
      const { urgent, waiting } = queue.takeAll()
      entries.push(...queue.unanswered(), ...urgent)
      for (const tickJobs of waiting) loseJobs(tickJobs, 'unsettled')
    }
    close()
    for (const { tick, batch, from, to } of entries)
      ledger.lose(tick.account, batch, from, to, 'unsettled', '')
  }
  const close = () => {
    closed = true
    retries.close()
    net.close()
    for (const pool of pools.values()) pool.close()
  }

  await connectAll()
  return {
    encodeMs,
    encodedBytes: batches.bytes,
    portionsOf,
    carriersOf,
    offer,
    watch,
    abandon,
    close,
    renew: renewalsOf(plan.connections, (at) => [...pools.values()].map(({ queues }) => queues[at])),
    /** How long a tick may wait for room. */
    waitLimitMs: () => catchUp.limitMs(isDisturbed()),
    /** Another tick would find work to do: no server has many ticks waiting, some has none or one. */
    hasRoom: () => {
      if (retries.slotQueues.isFull()) return false
      let canTakeMore = false
      for (const address of map.addresses()) {
        const waiting = pools.get(address)?.waitingTicks() ?? 0
        if (waiting > 2) return false
        if (waiting < 2) canTakeMore = true
      }
      return canTakeMore
    },
    waitingBytes: () => [...pools.values()].reduce((sum, pool) => sum + pool.waitingBytes(), 0),
  }
}
