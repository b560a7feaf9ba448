// Operations of clients as requests: their commands, and their one outcome: acknowledged with a latency, or lost with a cause.
import { versionOf, versionText } from '../../probes/stale.js'
import { notKept } from '../../transport/durable.js'
import { causeOf } from '../../transport/refusals.js'
import { noValues } from '../../wire/encode.js'
import { countReply } from '../../wire/values.js'

/**
 * @import { Kind, Router } from '../../transport/router.js'
 * @import { MultiStep } from '../../workloads/bind/multi-step.js'
 * @import { Reply } from '../../wire/values.js'
 * @import { FlowNeeds } from './flow.js'
 *
 * @typedef {object} Operation in use again once it is acknowledged
 * @property {number} client
 * @property {number} kind which of the operations
 * @property {number} n what it is about
 * @property {number} dueMs
 * @property {boolean} measured
 * @property {boolean} repeatable
 * @property {number} firstMs when it was first sent; 0: it was not
 * @property {number} sentMs
 * @property {MultiStep} multiStep where its replies are read
 * @property {boolean} isOver one whose replies are read has an outcome: later ones do not count
 * @property {number} attempts
 * @property {string | null} goTo
 * @property {number} notBeforeMs
 * @property {number} version of a write, where answers are compared with what was acknowledged
 * @property {number} floor
 * @property {number} floorMs
 */

// Operations of several commands on their way: what is sent next, the pauses between, and their outcome.

/**
 * @typedef {Parameters<Kind<Operation>['send']>[1]} ToLane
 */

/**
 * @param {Pick<FlowNeeds, 'clients' | 'ledger' | 'latency' | 'machine' | 'durable' | 'onDone'>} needs
 * @param {object} own
 * @param {() => Router<Operation>} own.routing
 * @param {readonly boolean[]} own.waits whether an operation sends a command more, whose reply says whether it is kept
 * @param {Kind<Operation>['lose']} own.lose
 * @param {(atMs: number) => void} own.settledAt
 */
const steppingOf = (needs, { routing, waits, lose, settledAt }) => {
  const { clients, ledger, latency, durable = null, onDone } = needs
  const { clock, timers } = needs.machine
  /** Operations between two of their commands. @type {Map<Operation, NodeJS.Timeout>} */
  const pausing = new Map()

  /** Sends the next commands; false: it is over. @param {Operation} operation @param {ToLane} lane @param {number} nowMs @param {number} lead */
  const say = (operation, lane, nowMs, lead) => {
    const next = operation.multiStep.send()
    if (next === null) return false
    const isKept = durable !== null && waits[operation.kind]
    lane.push(operation, next.replies + (isKept ? 1 : 0), nowMs, lead)
    routing().outbox.plain(lane, next.bytes)
    if (isKept) routing().outbox.plain(lane, durable.bytes)
    ledger.commands.sent += next.replies
    return true
  }
  /** Goes on after its pause, which is no part of its latency. @param {Operation} operation @param {number} pauseMs */
  const pause = (operation, pauseMs) => {
    operation.dueMs += pauseMs
    operation.firstMs += pauseMs
    const goOn = () => {
      pausing.delete(operation)
      routing().begin(operation, clock())
      routing().outbox.end()
    }
    pausing.set(operation, timers.setTimeout(goOn, pauseMs))
  }

  return {
    say,
    /** The replies to its last commands are here. @param {Operation} operation @param {ToLane} lane @param {number} nowMs */
    stepped(operation, lane, nowMs) {
      const { multiStep } = operation
      const fault = multiStep.fault?.() ?? null
      if (fault !== null) {
        operation.isOver = true
        return lose(operation, 'failed', causeOf(fault))
      }
      const pauseMs = multiStep.pauseMs?.() ?? 0
      if (pauseMs > 0) return pause(operation, pauseMs)
      if (say(operation, lane, nowMs, 0)) return
      const overMs = clock()
      operation.isOver = true
      // The client's work on the replies counts as part of the operation.
      onDone?.(operation, overMs)
      if (operation.measured) latency.record(operation.dueMs, operation.firstMs, overMs, 1)
      ledger.acked(1, operation.measured ? 1 : 0)
      clients[operation.client].inFlight--
      settledAt(overMs)
    },
    /** The run has ended: those that pause are unsettled. */
    abandon() {
      for (const [operation, timer] of pausing) {
        timers.clearTimeout(timer)
        lose(operation, 'unsettled', '')
      }
      pausing.clear()
    },
  }
}

// A server that is busy with a script would refuse the same client thousands of times a second.
const pauseMs = 1000
const sameNumber = (/** @type {number} */ n) => n
export const none = /** @type {MultiStep} */ (/** @type {unknown} */ (null))

/** Latencies of one read: operations that were due and sent at the same moment share one record. @param {Pick<FlowNeeds, 'ledger' | 'latency'>} needs */
export const ackedOf = ({ ledger, latency }) => {
  let run = 0
  let measured = false
  // An array, since a variable with a fraction is allocated again at each change: due, sent, answered.
  const times = new Float64Array(3)
  const acked = {
    lastMs: 0,
    tell() {
      if (run === 0) return
      if (measured) latency.record(times[0], times[1], times[2], run)
      ledger.acked(run, measured ? run : 0)
      acked.lastMs = times[2]
      run = 0
    },
    /** @param {Pick<Operation, 'dueMs' | 'firstMs' | 'measured'>} operation @param {number} nowMs */
    add(operation, nowMs) {
      if (run > 0 && operation.firstMs === times[1] && operation.dueMs === times[0]) {
        if (operation.measured === measured) {
          run++
          return
        }
      }
      acked.tell()
      measured = operation.measured
      times[0] = operation.dueMs
      times[1] = operation.firstMs
      times[2] = nowMs
      run = 1
    },
  }
  return acked
}

/**
 * Notes that something is written now. In a closed loop it was due then, unless it had to wait for its lane.
 * @param {Pick<FlowNeeds, 'schedule'>} needs
 */
export const writtenOf =
  ({ schedule }) =>
  (/** @type {Pick<Operation, 'dueMs' | 'firstMs' | 'sentMs'>} */ one, /** @type {number} */ nowMs) => {
    if (one.firstMs === 0) {
      if (schedule === null && one.sentMs === one.dueMs) one.dueMs = nowMs
      one.firstMs = nowMs
    }
    one.sentMs = nowMs
  }

/** One that is made anew. Times have fractions from the start: a field that changes from integers to fractions is slow. @returns {Operation} */
const made = () => ({
  client: 0,
  kind: 0,
  n: 0,
  dueMs: 0.5,
  measured: false,
  repeatable: false,
  firstMs: 0.5,
  sentMs: 0.5,
  multiStep: none,
  isOver: false,
  attempts: 0,
  goTo: null,
  notBeforeMs: 0.5,
  version: 0,
  floor: 0,
  floorMs: 0.5,
})

/** Records of operations, used again and again. @template {Operation} T @param {FlowNeeds['operations']} operations @param {() => T} create */
export const recordsOf = (operations, create) => {
  /** @type {T[]} */
  const free = []
  return {
    free,
    /** One that was not sent yet. @param {number} client @param {number} kind @param {number} n @param {number} dueMs @param {boolean} measured */
    first(client, kind, n, dueMs, measured) {
      const one = free.pop() ?? create()
      one.client = client
      one.kind = kind
      one.n = n
      one.dueMs = dueMs
      one.measured = measured
      one.repeatable = operations[kind].repeatable
      one.isOver = false
      one.attempts = 0
      one.firstMs = 0
      one.goTo = null
      one.notBeforeMs = 0
      one.version = 0
      one.floor = 0
      one.multiStep = none
      return one
    },
  }
}

/** @param {FlowNeeds} needs @param {() => Router<Operation>} routing */
export const clientOperationsOf = (needs, routing) => {
  const { plan, clients, operations, ledger, durable = null, stale = null } = needs
  const { onAcked, epochOf } = needs
  // Which of the operations send a command more, whose reply says whether they are kept.
  const waits = operations.map(({ reads }) => durable !== null && !reads)
  // Of which key each is the whole value, where answers are compared with what was written.
  const ofKey = operations.map(({ compared = sameNumber }) => (stale === null ? null : compared))
  const acked = ackedOf(needs)
  const records = recordsOf(operations, made)
  const own = { ...noValues }

  /** Replies to a multi-step operation may still come: it is another one that is tried again. @param {Operation} operation */
  const again = (operation) => {
    if (operation.multiStep === none && !waits[operation.kind]) return operation
    if (operation.isOver) return null
    operation.isOver = true
    return { ...operation, isOver: false }
  }

  /** @param {Operation} operation @param {number} _ @param {number} nowMs */
  const done = (operation, _, nowMs) => {
    if (onAcked) onAcked(operation.n)
    if (operation.version > 0) stale?.end(Number(ofKey[operation.kind]?.(operation.n)), true, nowMs)
    acked.add(operation, nowMs)
    clients[operation.client].inFlight--
    records.free.push(operation)
  }

  const written = writtenOf(needs)

  /** @param {number} client */
  const rest = (client) => {
    clients[client].pausedUntilMs = needs.machine.clock() + pauseMs
    routing().lookLater(client, pauseMs)
  }
  /** The reply to its one command, or to the one that waits. @param {Operation} operation @param {Reply} value @param {number} left @param {number} nowMs */
  const answered = (operation, value, left, nowMs) => {
    const isWaiting = waits[operation.kind]
    if (!isWaiting || left > 0) countReply(needs.tally, value)
    if (
      stale !== null &&
      typeof value === 'string' &&
      ofKey[operation.kind] &&
      operations[operation.kind].reads
    )
      stale.answered(operation, versionOf(value), operation.sentMs)
    if (left > 0) return
    if (!isWaiting || durable?.isKept(value)) done(operation, 1, nowMs)
    else kind.lose(operation, 'uncertain', notKept)
  }

  /** @type {Kind<Operation>} */
  const kind = {
    most: Math.max(...operations.map(({ command }) => command.most)) + (durable?.bytes.length ?? 0),
    slotOf: ({ kind, n }) => (plan.cluster ? operations[kind].command.slotOf(n) : 0),
    reads: ({ kind }) => operations[kind].reads === true,
    put(operation, out, at, nowMs) {
      written(operation, nowMs)
      const { kind, n, dueMs, version } = operation
      const { command } = operations[kind]
      const isTimed = command.timed && (epochOf !== undefined || stale !== null)
      if (version > 0) own.stamp = versionText(version)
      if (isTimed && epochOf !== undefined) own.due = String(Math.round(epochOf(dueMs) * 1000))
      const end = command.put(n, out, at, isTimed ? own : noValues)
      if (durable === null || !waits[kind]) return end
      out.set(durable.bytes, end)
      return end + durable.bytes.length
    },
    send(operation, lane, nowMs) {
      const { multiStep } = operations[operation.kind]
      const lead = operation.goTo === null ? 0 : 1
      operation.sentMs = nowMs
      const keyOf = ofKey[operation.kind]
      if (stale !== null && keyOf !== null) {
        if (operations[operation.kind].reads) stale.ask(keyOf(operation.n), operation)
        else if (operation.version === 0) stale.begin(keyOf(operation.n), operation)
      }
      if (multiStep) {
        written(operation, nowMs)
        if (operation.multiStep === none || !operation.multiStep.continues) {
          operation.multiStep = multiStep.begin(operation.n, operation.client)
          needs.onBegun?.(operation, operation.client)
        }
        steps.say(operation, lane, nowMs, lead)
        return
      }
      lane.push(operation, waits[operation.kind] ? 2 : 1, nowMs, lead)
      routing().outbox.put(lane, operation)
      ledger.commands.sent++
    },
    again,
    lose({ client, kind, measured, n, version }, outcome, cause) {
      ledger.lost(outcome, cause, measured)
      if (version > 0) stale?.end(Number(ofKey[kind]?.(n)), false, 0)
      clients[client].inFlight--
      acked.lastMs = needs.machine.clock()
    },
    answered: done,
    replied(operation, value, left, nowMs, lane) {
      if (operation.isOver) return
      if (operation.multiStep === none) return answered(operation, value, left, nowMs)
      // Of commands that are sent with another, only whether they are errors is looked at.
      const last = waits[operation.kind] ? 1 : 0
      if (left === last) operation.multiStep.take(value)
      if (left > 0) return
      if (last === 0 || durable?.isKept(value)) return steps.stepped(operation, lane, nowMs)
      operation.isOver = true
      kind.lose(operation, 'uncertain', notKept)
    },
    /** In a multi-step operation, the first refusal decides. */
    refused(operation, line, left, _, lane) {
      const one = again(operation)
      if (one === null) return
      // The write was executed; the command that waits was refused.
      if (waits[one.kind] && left === 0) return kind.lose(one, 'uncertain', causeOf(line))
      const { fatal = [] } = operations[one.kind]
      if (!fatal.some((cause) => line.startsWith(`${cause} `))) return routing().refused(one, line, lane)
      ledger.commands.refused++
      kind.lose(one, 'failed', line.split(' ', 1)[0])
      rest(one.client)
    },
    settled: acked.tell,
  }

  const steps = steppingOf(needs, {
    routing,
    waits,
    lose: kind.lose,
    settledAt: (atMs) => {
      acked.lastMs = atMs
    },
  })
  return {
    kind,
    lastSettledMs: () => acked.lastMs,
    first: records.first,
    abandon: steps.abandon,
  }
}
