// Retries commands that were refused or lost, in order: those of later ticks wait behind them, slot by slot.

/**
 * @import { Machine } from '../base/timers.js'
 * @import { Loss, ledgerOf } from '../probes/ledger.js'
 * @import { Entry, SendQueue } from './send-queue.js'
 * @import { policyOf } from './policy.js'
 * @import { Pool } from './server-queues.js'
 * @import { Net } from './net.js'
 */

// Slots with commands that wait for a retry: later ticks queue behind them, so that no retry overwrites a newer value.

/**
 * @typedef {object} Hold
 * @property {number} pending commands sent again, or about to be, without an outcome
 * @property {number} drains connections that may still answer older commands of the slot
 * @property {Entry[]} repeats to be sent again, oldest first
 * @property {Entry[]} queue of later ticks
 */

/** Whether a tick is the first of its chunk in a queue. @param {Entry[]} queue @param {Entry} entry in it */
const isOldest = (queue, { tick }) => queue.find((one) => one.tick.chunk === tick.chunk)?.tick === tick

/**
 * Removes and returns the commands of the tick of each chunk that has waited longest: they are held from now on. Chunks have
 * no item in common, so their ticks need not wait for each other: where a round trip takes longer than the time between
 * two ticks, a slot whose ticks went one by one would never be free again.
 * @param {Hold} hold
 */
const takeOldest = (hold) => {
  const next = hold.queue.filter((entry) => isOldest(hold.queue, entry))
  hold.queue = hold.queue.filter((entry) => !next.includes(entry))
  for (const entry of next) {
    entry.inSlotQueue = true
    hold.pending += entry.to - entry.from
  }
  return next
}

/** @param {{ send: (slot: number, entries: Entry[]) => void }} options sends entries to the owner of the slot */
export const slotQueuesOf = ({ send }) => {
  /** @type {Map<number, Hold>} */
  const queues = new Map()

  const holdOf = (/** @type {number} */ slot) => {
    let hold = queues.get(slot)
    if (!hold) {
      hold = { pending: 0, drains: 0, repeats: [], queue: [] }
      queues.set(slot, hold)
    }
    return hold
  }
  /** Retries one tick of each chunk at a time: the next when all commands of these have an outcome. */
  const advance = (/** @type {number} */ slot, /** @type {Hold} */ hold) => {
    if (hold.pending > 0 || hold.drains > 0) return
    if (hold.queue.length > 0) send(slot, takeOldest(hold))
    else queues.delete(slot)
  }

  return {
    any: () => queues.size > 0,
    /** Whether two ticks of a chunk wait for an earlier one. */
    isFull: () => {
      for (const { queue } of queues.values())
        if (queue.length > 1 && !isOldest(queue, queue[queue.length - 1])) return true
      return false
    },
    has: (/** @type {number} */ slot) => queues.has(slot),

    /** A refused command that is to be sent again. @param {number} slot @param {Entry} entry */
    refuse(slot, entry) {
      const hold = holdOf(slot)
      if (!entry.inSlotQueue) hold.pending += entry.to - entry.from
      entry.inSlotQueue = true
      hold.repeats.push(entry)
    },

    /** Sends the waiting commands to the slot's current owner. @param {number} slot */
    resend(slot) {
      const hold = queues.get(slot)
      if (hold?.repeats.length) send(slot, hold.repeats.splice(0))
    },

    /** Commands of a later tick. @param {number} slot @param {Entry} entry */
    wait(slot, entry) {
      holdOf(slot).queue.push(entry)
    },

    /** So many commands of the slot that were held have an outcome. @param {number} slot @param {number} n */
    settle(slot, n) {
      const hold = queues.get(slot)
      if (!hold) return
      hold.pending -= n
      advance(slot, hold)
    },

    /** Older commands of these slots may still be answered elsewhere. @param {number[]} slots */
    drain(slots) {
      for (const slot of slots) holdOf(slot).drains++
    },
    /** @param {number[]} slots */
    drained(slots) {
      for (const slot of slots) {
        const hold = queues.get(slot)
        if (!hold) continue
        hold.drains--
        advance(slot, hold)
      }
    },

    /** Takes out what waits behind a hold and was due before `dueMs`. @param {number} dueMs @returns {Entry[]} */
    expired(dueMs) {
      /** @type {Entry[]} */
      const out = []
      for (const hold of queues.values()) {
        const keep = hold.queue.filter((entry) => entry.tick.dueMs >= dueMs)
        if (keep.length === hold.queue.length) continue
        out.push(...hold.queue.filter((entry) => entry.tick.dueMs < dueMs))
        hold.queue = keep
      }
      return out
    },

    /** Everything that waits, at the end of a run. @returns {Entry[]} */
    clear() {
      const out = [...queues.values()].flatMap(({ repeats, queue }) => [...repeats, ...queue])
      queues.clear()
      return out
    },
  }
}

const slotIn = (/** @type {Entry} */ { batch, from, values }) => batch.slotAt(from, values)

/** The next attempt of commands [from, to). @param {Entry} entry @param {number} from @param {number} to @returns {Entry} */
const againOf = (entry, from, to) => {
  const attempts = entry.attempts + 1
  return { ...entry, from, to, again: true, attempts, lead: 0, goTo: null }
}

/** Slots that wait, by how long. @param {Machine} machine @param {(slots: Iterable<number>) => void} then */
const postponing = ({ random, timers }, then) => {
  /** @type {Map<number, Set<number>>} */
  const postponed = new Map()
  return (/** @type {number} */ slot, /** @type {number} */ waitMs) => {
    const slots = postponed.get(waitMs)
    if (slots) return void slots.add(slot)
    const due = new Set([slot])
    postponed.set(waitMs, due)
    const resend = () => {
      postponed.delete(waitMs)
      then(due)
    }
    timers.setTimeout(resend, waitMs * (0.5 + random()))
  }
}

/**
 * @param {object} needs
 * @param {ReturnType<typeof policyOf>} needs.policy
 * @param {ReturnType<typeof ledgerOf>} needs.ledger
 * @param {(entry: Entry) => Pool} needs.poolFor
 * @param {Pick<Net, 'refresh' | 'events'> & { moved: (slot: number, address: string) => void }} needs.net
 * @param {(address: string) => Promise<void>} needs.loadScripts
 * @param {Machine} needs.machine
 */
export const writeRetriesOf = ({ policy, ledger, poolFor, net, loadScripts, machine }) => {
  /** @type {Set<number>} slots with commands to send again as soon as this read is settled */
  const touched = new Set()
  /** @type {Set<Pool>} */
  const toPump = new Set()
  let closed = false

  const slotQueues = slotQueuesOf({
    send: (_, entries) => {
      for (const entry of entries) {
        const pool = poolFor(entry)
        pool.sendFirst(entry)
        toPump.add(pool)
      }
    },
  })
  const pump = () => {
    for (const pool of toPump) {
      toPump.delete(pool)
      pool.pump()
    }
  }

  /** @param {Entry} entry @param {number} n of its commands have an outcome */
  const settle = (entry, n) => {
    if (entry.inSlotQueue) slotQueues.settle(slotIn(entry), n)
  }
  /** @param {Entry} entry @param {Loss} outcome @param {string} cause */
  const lose = (entry, outcome, cause) => {
    ledger.lose(entry.tick.account, entry.batch, entry.from, entry.to, outcome, cause)
    settle(entry, entry.to - entry.from)
  }

  const postpone = postponing(machine, (slots) => {
    if (closed) return
    for (const slot of slots) slotQueues.resend(slot)
    pump()
  })

  return {
    slotQueues,
    settle,
    lose,
    pump,

    /** @param {Entry} entry @param {number} command @param {string} line @param {SendQueue} queue */
    refused(entry, command, line, queue) {
      const one = againOf(entry, command, command + 1)
      const decision = policy.refused(line, queue.address, one.tick.dueMs, one.attempts)
      const { action, cause, address, waitMs } = decision
      if (decision.lost) return lose(one, decision.lost, cause)
      ledger.commands.repeated++
      net.events.refused(cause)
      ledger.sentAgain(cause)
      const slot = slotIn(one)
      if (action === 'there' && address) net.moved(slot, address)
      if (action === 'asking') Object.assign(one, { lead: 1, goTo: address })
      if (decision.isStray || cause === 'READONLY' || cause === 'CLUSTERDOWN') net.refresh()
      slotQueues.refuse(slot, one)
      const wait = () => postpone(slot, waitMs)
      if (action === 'load') loadScripts(queue.address).then(wait, wait)
      else if (waitMs > 0) wait()
      else touched.add(slot)
    },

    /** Call when its answer will not come. @param {Entry} entry */
    lost(entry) {
      const { batch, values, inSlotQueue, tick } = entry
      const outcome = policy.unanswered(batch.step, true, tick.dueMs, entry.attempts + 1, false)
      if (outcome) return lose(entry, outcome, 'CLOSED')
      ledger.commands.repeated += entry.to - entry.from
      ledger.sentAgain('CLOSED', entry.to - entry.from)
      for (let from = entry.from; from < entry.to; ) {
        const slot = batch.slotAt(from, values)
        let to = from + 1
        while (to < entry.to && (inSlotQueue || batch.slotAt(to, values) === slot)) to++
        slotQueues.refuse(slot, againOf(entry, from, to))
        touched.add(slot)
        from = to
      }
    },

    /** Retries what the read that has just been settled returned. */
    resend() {
      // Called at each read: to clear an empty set makes a new one.
      if (touched.size > 0) {
        for (const slot of touched) slotQueues.resend(slot)
        touched.clear()
      }
      if (toPump.size > 0) pump()
    },

    close() {
      closed = true
    },
  }
}
