// Operations of clients as requests: their commands, and their one outcome: acknowledged with a latency, or lost with a cause.
import { notKept } from '../../transport/durable.js'
import { causeOf } from '../../transport/refusals.js'
import { commandBytes, noValues } from '../../wire/encode.js'
import { countReply } from '../../wire/values.js'

/**
 * @import { Kind, Router } from '../../transport/router.js'
 * @import { MultiStep } from '../../workloads/bind/multi-step.js'
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
 */

// A server that is busy with a script would refuse the same client thousands of times a second.
const pauseMs = 1000
const none = /** @type {MultiStep} */ (/** @type {unknown} */ (null))

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

/** Records of operations, used again and again. @param {FlowNeeds['operations']} operations */
const recordsOf = (operations) => {
  /** @type {Operation[]} */
  const free = []
  // Times have fractions from the start: a field that changes from integers to fractions is slow.
  /** @returns {Operation} */
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
  })
  return {
    free,
    /** One that was not sent yet. @param {number} client @param {number} kind @param {number} n @param {number} dueMs @param {boolean} measured */
    first(client, kind, n, dueMs, measured) {
      const one = free.pop() ?? made()
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
      return one
    },
  }
}

/** @param {FlowNeeds} needs @param {() => Router<Operation>} routing */
export const clientOperationsOf = (needs, routing) => {
  const { plan, clients, operations, ledger, latency, clock, onAcked, onBegun, onDone, epochOf } = needs
  const { durable = null, tally } = needs
  // Which of the operations send a command more, whose reply says whether they are kept.
  const waits = operations.map(({ reads, multiStep }) => durable !== null && !reads && !multiStep)
  const acked = ackedOf(needs)
  const records = recordsOf(operations)
  const own = { ...noValues }

  /** Sends the next commands of a multi-step operation; false: it is over. @param {Operation} operation @param {Parameters<Kind<Operation>['send']>[1]} lane @param {number} nowMs @param {number} lead */
  const say = (operation, lane, nowMs, lead) => {
    const commands = operation.multiStep.next()
    if (commands === null) return false
    lane.push(operation, commands.length, nowMs, lead)
    routing().outbox.plain(lane, commandBytes(commands.map(({ args }) => args)))
    ledger.commands.sent += commands.length
    return true
  }
  /** Replies to a multi-step operation may still come: it is another one that is tried again. @param {Operation} operation */
  const again = (operation) => {
    if (operation.multiStep === null && !waits[operation.kind]) return operation
    if (operation.isOver) return null
    operation.isOver = true
    return { ...operation, isOver: false }
  }

  /** @param {Operation} operation @param {number} _ @param {number} nowMs */
  const done = (operation, _, nowMs) => {
    if (onAcked) onAcked(operation.n)
    acked.add(operation, nowMs)
    clients[operation.client].inFlight--
    records.free.push(operation)
  }

  /** @type {Kind<Operation>} */
  const kind = {
    most: Math.max(...operations.map(({ command }) => command.most)) + (durable?.bytes.length ?? 0),
    slotOf: ({ kind, n }) => (plan.cluster ? operations[kind].command.slotOf(n) : 0),
    put({ kind, n, dueMs }, out, at) {
      const { command } = operations[kind]
      const isTimed = epochOf !== undefined && command.timed
      if (isTimed) own.due = String(Math.round(epochOf(dueMs) * 1000))
      const end = command.put(n, out, at, isTimed ? own : noValues)
      if (durable === null || !waits[kind]) return end
      out.set(durable.bytes, end)
      return end + durable.bytes.length
    },
    send(operation, lane, nowMs) {
      const { multiStep } = operations[operation.kind]
      const lead = operation.goTo === null ? 0 : 1
      operation.sentMs = nowMs
      if (operation.firstMs === 0) operation.firstMs = nowMs
      if (multiStep) {
        operation.multiStep = multiStep.begin(operation.n, operation.client)
        onBegun?.(operation, operation.client)
        say(operation, lane, nowMs, lead)
        return
      }
      lane.push(operation, waits[operation.kind] ? 2 : 1, nowMs, lead)
      routing().outbox.put(lane, operation)
      ledger.commands.sent++
    },
    again,
    lose({ client, measured }, outcome, cause) {
      ledger.lost(outcome, cause, measured)
      clients[client].inFlight--
      acked.lastMs = clock()
    },
    answered: done,
    replied(operation, value, left, nowMs, lane) {
      if (operation.isOver) return
      if (operation.multiStep === null) {
        if (!waits[operation.kind] || left > 0) countReply(tally, value)
        if (left > 0) return
        if (!waits[operation.kind] || durable?.isKept(value)) done(operation, 1, nowMs)
        else kind.lose(operation, 'uncertain', notKept)
        return
      }
      // Of commands that are sent with another, only whether they are errors is looked at.
      if (left > 0) return
      operation.multiStep.take(value)
      if (say(operation, lane, nowMs, 0)) return
      const overMs = clock()
      operation.isOver = true
      // The client's work on the replies counts as part of the operation.
      onDone?.(operation, overMs)
      if (operation.measured) latency.record(operation.dueMs, operation.firstMs, overMs, 1)
      ledger.acked(1, operation.measured ? 1 : 0)
      clients[operation.client].inFlight--
      acked.lastMs = overMs
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
      clients[one.client].pausedUntilMs = clock() + pauseMs
      routing().lookLater(one.client, pauseMs)
    },
    settled: acked.tell,
  }

  return {
    kind,
    lastSettledMs: () => acked.lastMs,
    first: records.first,
  }
}

/** @typedef {ReturnType<typeof clientOperationsOf>} Operations */
