// Retries commands that were refused or lost, in order: those of later ticks wait behind them, slot by slot.
import { slotQueuesOf } from './slot-queues.js'

/**
 * @import { Machine } from '../base/timers.js'
 * @import { Loss, ledgerOf } from '../probes/ledger.js'
 * @import { Entry } from './tick-entry.js'
 * @import { policyOf } from './policy.js'
 * @import { Pool } from './server-queues.js'
 * @import { SendQueue } from './send-queue.js'
 * @import { Net } from './net.js'
 */

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
      for (const slot of touched) slotQueues.resend(slot)
      touched.clear()
      pump()
    },

    close() {
      closed = true
    },
  }
}
