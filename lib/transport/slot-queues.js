// Slots with commands that wait for a retry: later ticks queue behind them, so that no retry overwrites a newer value.

/**
 * @import { Entry } from './tick-entry.js'
 *
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
