// The write driver over a client library, as a Node application would use it. Commands in flight are limited.
import { itemTimesOf } from '../probes/item-times.js'
import { plainCommand } from '../wire/encode.js'
import { catchUpOf, pausedMs } from './catch-up.js'
import { dueStepsOf } from './due-steps.js'
import { connectLibrary, libraryNamed } from './library.js'
import { answerLimitOf, answersOf, unansweredCause } from './library-answers.js'
import { longestReplyOf } from './longest-reply.js'
import { netOf } from './net.js'
import { isOverdue, policyOf } from './policy.js'
import { causeOf } from './refusals.js'
import { tickBatchesOf } from './tick-batches.js'

/**
 * @import { Tick } from './send-queue.js'
 * @import { DriverOptions } from './socket-writer.js'
 * @import { Loss, ledgerOf } from '../probes/ledger.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Batch } from './tick-batches.js'
 * @import { Fault, Library, Redirect } from './library.js'
 * @import { Net } from './net.js'
 */

// Ticks that wait to be sent by a library, oldest first, one command of each chunk: no retry passes a later tick.

/**
 * @typedef {{ batch: Batch, values: TickValues }} Job
 * @typedef {{ tick: Tick, jobs: Job[], j: number, i: number }} WaitingTick
 */

const ofScripts = new Set(['EVAL', 'EVALSHA', 'FCALL'])

/** The first key of a command. @param {(string | Buffer)[]} args */
const firstKeyIn = (args) => String(args[ofScripts.has(String(args[0])) ? 3 : 1] ?? '')

/** @param {ReturnType<typeof ledgerOf>} ledger */
const waitingTicksOf = (ledger) => {
  /** @type {WaitingTick[]} */
  let all = []
  // A chunk has an unsettled tick: its next one waits, so that no retry passes a later one.
  /** @type {Map<number, Tick>} */
  const underWay = new Map()

  const finished = (/** @type {Tick} */ tick) => {
    if (tick.account.open === 0 && underWay.get(tick.chunk) === tick) underWay.delete(tick.chunk)
  }
  /** @param {WaitingTick} waiting @param {Loss} outcome */
  const loseTick = ({ tick, jobs, j, i }, outcome) => {
    for (let k = j; k < jobs.length; k++) {
      const from = k === j ? i : 0
      ledger.lose(tick.account, jobs[k].batch, from, jobs[k].batch.count, outcome, '')
    }
    finished(tick)
  }

  return {
    finished,
    /** @param {Tick} tick @param {Job[]} jobs */
    add: (tick, jobs) => all.push({ tick, jobs, j: 0, i: 0 }),
    count: () => all.length,
    /** @returns {{ tick: Tick, job: Job, i: number } | null} one command, which is no longer here */
    next() {
      for (const waiting of all) {
        const { tick, jobs } = waiting
        const busy = underWay.get(tick.chunk)
        if (busy && busy !== tick && busy.account.open > 0) continue
        underWay.set(tick.chunk, tick)
        const job = jobs[waiting.j]
        const i = waiting.i++
        if (waiting.i === job.batch.count) {
          waiting.i = 0
          waiting.j++
        }
        if (waiting.j === jobs.length) all = all.filter((other) => other !== waiting)
        return { tick, job, i }
      }
      return null
    },
    /** @param {(waiting: WaitingTick) => boolean} test @param {Loss} outcome */
    lose(test, outcome) {
      const gone = all.filter(test)
      if (gone.length === 0) return
      all = all.filter((waiting) => !test(waiting))
      for (const waiting of gone) loseTick(waiting, outcome)
    },
  }
}

// The commands of a writer on a client library: sent, and counted by the library's final replies.

/**
 * @typedef {{ tick: Tick, batch: Batch, values: TickValues, i: number, attempts: number, left: boolean, to: Redirect | null, from: string, write: number, sentMs: number }} One
 * a command; `left` when it may have left this process, `to` where a redirect has sent it, `from` where it was sent,
 * `write` as that of an Entry
 */

// Retries of commands that a client library has not, or may not have, executed: by the same policy as on plain sockets.

// Without a limit, a library that rejects a command again and again would be asked for ever.
const mostAtOnce = 3

/**
 * @param {object} needs
 * @param {Library} needs.library
 * @param {DriverOptions} needs.options
 * @param {ReturnType<typeof policyOf>} needs.policy
 * @param {Pick<Net, 'refresh' | 'events'>} needs.net
 * @param {(one: One, outcome: Loss, cause: string) => void} needs.lose
 * @param {() => void} needs.onDue a command is to be sent again now
 */
const libraryRetriesOf = ({ library, options, policy, net, lose, onDue }) => {
  const { plan, ledger, target } = options
  const { random } = options.machine
  /** @type {One[]} */
  let atOnce = []
  /** @type {Map<One, NodeJS.Timeout | null>} */
  const postponed = new Map()
  let closed = false

  /** @param {One} one @param {number} waitMs */
  const repeat = (one, waitMs) => {
    ledger.commands.repeated++
    if (waitMs === 0) atOnce.push(one)
    else postponed.set(one, setTimeout(due, waitMs * (0.5 + random()), one))
  }
  const due = (/** @type {One} */ one) => {
    if (closed || !postponed.delete(one)) return
    atOnce.push(one)
    onDue()
  }
  const loadThenRepeat = (/** @type {One} */ one, /** @type {number} */ waitMs) => {
    postponed.set(one, null)
    const again = () => {
      if (!closed) repeat(one, waitMs)
    }
    Promise.all(target.topology.masters.map((address) => target.loadScripts(address))).then(again, again)
  }

  /** @param {One} one @param {boolean} mayHaveLeft */
  const unanswered = (one, mayHaveLeft) => {
    net.refresh()
    const { tick, batch, left, attempts } = one
    const outcome = policy.unanswered(batch.step, left, tick.dueMs, attempts, plan.schedule !== 'none')
    if (outcome) return lose(one, outcome, outcome === 'dropped' ? '' : 'CLOSED')
    if (mayHaveLeft) ledger.sentAgain('CLOSED')
    repeat(one, policy.waitFor(attempts))
  }
  /** @param {One} one @param {string} line */
  const refused = (one, line) => {
    ledger.commands.refused++
    const { from, tick, attempts } = one
    const { action, cause, address, waitMs, lost } = policy.refused(line, from, tick.dueMs, attempts)
    if (lost) return lose(one, lost, cause)
    net.events.refused(cause)
    ledger.sentAgain(cause)
    if (action !== 'asking') net.refresh()
    if ((action === 'there' || action === 'asking') && address !== null)
      one.to = { address, asking: action === 'asking' }
    if (action === 'there') library.refreshSlots()
    if (action === 'load') loadThenRepeat(one, waitMs)
    else repeat(one, waitMs)
  }

  return {
    /** @param {One} one @param {Fault} fault */
    decide(one, fault) {
      if (fault.line !== null) refused(one, fault.line)
      else if (fault.atOnce) repeat(one, one.attempts > mostAtOnce ? policy.waitFor(one.attempts) : 0)
      else unanswered(one, fault.left)
    },
    takeDue: () => atOnce.splice(0),
    /** Commands that wait for their retry. */
    waiting: () => postponed.size,
    /** Commands that wait for the server go out at once. */
    wake() {
      for (const [one, timer] of postponed) {
        if (timer === null) continue
        clearTimeout(timer)
        due(one)
      }
    },
    close() {
      closed = true
      for (const timer of postponed.values()) if (timer) clearTimeout(timer)
    },
    takeAll() {
      const all = [...atOnce, ...postponed.keys()]
      atOnce = []
      postponed.clear()
      return all
    },
  }
}

/**
 * @param {object} needs
 * @param {Library} needs.library
 * @param {DriverOptions} needs.options
 * @param {ReturnType<typeof policyOf>} needs.policy
 * @param {Pick<Net, 'refresh' | 'events'>} needs.net
 * @param {ReturnType<typeof waitingTicksOf>} needs.waitingTicks
 * @param {() => void} needs.onSettled a command has an outcome, or is to be repeated
 */
const libraryCommandsOf = ({ library, options, policy, net, waitingTicks, onSettled }) => {
  const { plan, ledger, onBegun, onReply } = options
  const { clock } = options.machine
  const itemTimes = itemTimesOf(options)
  let answeredMs = clock()
  let closed = false

  /** @param {One} one @param {Loss} outcome @param {string} cause */
  const lose = ({ tick, batch, i }, outcome, cause) => {
    ledger.lose(tick.account, batch, i, i + 1, outcome, cause)
    waitingTicks.finished(tick)
  }
  const retries = libraryRetriesOf({
    library,
    options,
    policy,
    net,
    lose,
    onDue: onSettled,
  })
  const answers = answersOf({
    library,
    limitMs: answerLimitOf(plan),
    clock,
    onReply(/** @type {One} */ one, reply) {
      if (closed) return
      const { tick, batch, i, write, sentMs } = one
      answeredMs = clock()
      const stored = itemTimes.answered(tick, batch, i, i + 1, write, sentMs, answeredMs)
      onReply?.(batch.step, Array.isArray(reply) ? undefined : /** @type {any} */ (reply))
      ledger.answered(tick.account, 1, stored)
      waitingTicks.finished(tick)
      onSettled()
    },
    onFault(one, fault) {
      if (closed) return
      if (fault.line !== null) answeredMs = clock()
      one.attempts++
      one.left ||= fault.left
      if (fault.isSilent) lose(one, 'uncertain', unansweredCause)
      else retries.decide(one, fault)
      onSettled()
    },
  })

  /** @param {One} one */
  const send = (one) => {
    const { tick, batch, values, i, to } = one
    const args = plainCommand(batch.args(i), values)
    const nowMs = clock()
    if (tick.firstMs === null) {
      tick.firstMs = nowMs
      onBegun(tick)
    }
    if (one.write === 0) one.write = tick.sends.push(nowMs)
    ledger.commands.sent++
    one.to = null
    one.from = to?.address ?? ((plan.cluster && library.ownerOf(batch.slotAt(i, values))) || one.from)
    answers.ask(one, () => library.send(args, firstKeyIn(args), to))
  }

  return {
    send,
    repeatDue() {
      for (const one of retries.takeDue()) send(one)
    },
    hasRoom: () => answers.count() + retries.waiting() < library.limit,
    /** Whether a command waits for its retry, or for an answer longer than usual. @param {number} ms */
    isDisturbed: (ms) => retries.waiting() > 0 || (answers.count() > 0 && clock() - answeredMs > ms),
    wake: retries.wake,
    watch: answers.watch,
    close() {
      closed = true
      retries.close()
    },
    /** The run has ended: gives up all commands; one that has long been unanswered may still have been sent. */
    abandon() {
      for (const one of answers.take())
        if (answers.isOverdue(one)) lose(one, 'uncertain', unansweredCause)
        else lose(one, 'unsettled', '')
      for (const one of retries.takeAll()) lose(one, 'unsettled', '')
    },
  }
}

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
