// The write driver over a client library, as a Node application would use it. Commands in flight are limited.

import { catchUpOf, pausedMs } from './catch-up.js'
import { dueStepsOf } from './due-steps.js'
import { connectLibrary, libraryNamed } from './library.js'
import { libraryCommandsOf } from './library-commands.js'
import { longestReplyOf } from './longest-reply.js'
import { netOf } from './net.js'
import { isOverdue, policyOf } from './policy.js'
import { causeOf } from './refusals.js'
import { tickBatchesOf } from './tick-batches.js'
import { waitingTicksOf } from './waiting-ticks.js'

/**
 * @import { Tick } from './send-queue.js'
 * @import { DriverOptions } from './socket-writer.js'
 */

/** Combines calls within one turn of the event loop. @param {() => void} work */
const onceATurn = (work) => {
  let asked = false
  const run = () => {
    asked = false
    work()
  }
  return () => {
    if (asked) return
    asked = true
    setImmediate(run)
  }
}

/**
 * Opens the library, and follows the slots for events: the library has its own map.
 * @param {object} needs
 * @param {DriverOptions} needs.options
 * @param {ReturnType<typeof catchUpOf>} needs.catchUp
 * @param {() => boolean} needs.isRunning
 * @param {() => void} needs.wake commands that wait for a server go out
 */
const openedLibrary = async ({ options, catchUp, isRunning, wake }) => {
  const { plan, target, ledger, machine, onEvent } = options
  const openLibrary = await libraryNamed(plan.driver)
  const library = openLibrary({
    cluster: plan.cluster,
    target,
    address: target.topology.masters[0],
    reads: 'master',
    bytes: false,
    mostBytes: longestReplyOf(plan),
    options: plan.library?.options ?? {},
    clock: machine.clock,
    events: {
      up: (address) => {
        net.events.up(address)
        if (!isRunning()) return
        catchUp.disturbed()
        // The address may be that of another server by now.
        net.refresh()
      },
      down: (address, reason) => {
        if (!isRunning()) return
        catchUp.disturbed()
        net.events.down(address, reason)
      },
      ready: wake,
      turnedAway: (line) => {
        if (isRunning()) ledger.sentAgain(causeOf(line))
      },
      stray: () => net.refresh(),
    },
  })
  const net = netOf({
    target,
    connections: () => library.connections(),
    onLearned(left) {
      if (left.size === 0) return
      catchUp.disturbed()
      library.refreshSlots()
    },
    ...{ onEvent, machine },
  })
  return { library, net }
}

/** @param {DriverOptions} options */
export const libraryDriver = async (options) => {
  const { plan, steps, target, ledger, onProgress } = options
  const { clock } = options.machine
  const dueSteps = dueStepsOf(plan)
  const encodeFrom = clock()
  // Batches are not kept: the library encodes commands itself.
  const { portionItems: items, onEncoding } = options
  const { portionsOf, carriersOf } = await tickBatchesOf(plan, steps, { items, onEncoding, keep: false })
  const encodeMs = clock() - encodeFrom
  const waitingTicks = waitingTicksOf(ledger)
  let started = false
  let closed = false

  const catchUp = catchUpOf({ plan, clock })
  const isRunning = () => started && !closed
  const wake = () => commands.wake()
  const { library, net } = await openedLibrary({ options, catchUp, isRunning, wake })
  const { map } = net
  const policy = policyOf({ maxBehindMs: plan.maxBehindMs, clock, follows: target.follows })

  const progressSoon = onceATurn(() => {
    if (closed) return
    pump()
    if (started) onProgress()
  })
  const commands = libraryCommandsOf({
    ...{ library, options, policy, net, waitingTicks },
    onSettled: progressSoon,
  })

  const pump = () => {
    commands.repeatDue()
    const [from] = map.addresses()
    while (commands.hasRoom()) {
      const next = waitingTicks.next()
      if (!next) break
      const { tick, job, i } = next
      commands.send({ tick, ...job, i, attempts: 0, left: false, to: null, from, write: 0, sentMs: 0 })
    }
  }
  /** @param {Tick} tick @param {number} portion */
  const offer = (tick, portion) => {
    const { account } = tick
    const jobs = []
    for (const batch of portionsOf(tick)[portion]) {
      const times = dueSteps(batch, account.agent, tick.values)
      for (let i = 0; i < times && batch.count > 0; i++) {
        ledger.expect(account, batch.count)
        jobs.push({ batch, values: tick.values })
      }
    }
    if (jobs.length > 0) waitingTicks.add(tick, jobs)
    pump()
  }

  const close = () => {
    closed = true
    commands.close()
    net.close()
    library.close()
  }

  await connectLibrary(library, target.topology.masters[0], target.access)
  started = true

  return {
    encodeMs,
    encodedBytes: 0,
    portionsOf,
    carriersOf,
    offer,
    watch: () => {
      if (closed) return
      const isUp = !map.addresses().some(net.events.isDown)
      const deadline = policy.deadline(plan.schedule !== 'none')
      waitingTicks.lose((waiting) => isOverdue(waiting, deadline, isUp), 'dropped')
      net.listen()
      commands.watch()
      // A library does not report that it has switched to a new master.
      if (!isUp) net.refresh()
      net.watch()
    },
    /** The run has ended: gives up commands without an outcome. */
    abandon: () => {
      close()
      commands.abandon()
      waitingTicks.lose(() => true, 'unsettled')
    },
    close,
    /** The library's connections cannot be renewed. */
    renew: () => null,
    /** How long a tick may wait for room. */
    waitLimitMs: () => catchUp.limitMs(commands.isDisturbed(pausedMs)),
    hasRoom: () => waitingTicks.count() < 2,
    waitingBytes: () => 0,
  }
}
