// The parts of a writer in ticks: its driver, and the clock that offers it the plan's batches.
import { machineWith, systemTimers } from '../../base/timers.js'
import { reconnects } from '../../measures/reconnects.js'
import { replies } from '../../measures/replies.js'
import { itemsIn } from '../../probes/operations.js'
import { reconnectsOf } from '../../transport/reconnects.js'
import { socketDriver } from '../../transport/socket-writer.js'
import { ticksWriter } from './writer.js'

/**
 * @import { instrumentsOf } from '../../measures/index.js'
 * @import { Course } from '../../plan/course.js'
 * @import { Plan } from '../plan.js'
 * @import { Target } from '../../servers/open.js'
 * @import { DriverOptions } from '../../transport/socket-writer.js'
 * @import { strategyOf } from '../../workloads/bound-strategy.js'
 * @import { RunClock } from '../../probes/run-clock.js'
 * @import { Records } from '../write-records.js'
 *
 * @typedef {Parameters<typeof ticksWriting>[0]} FlowNeeds
 */

/** @param {DriverOptions} options */
const openDriver = async (options) => {
  if (options.plan.driver === 'socket') return socketDriver(options)
  const { libraryDriver } = await import('../../transport/library-writer.js')
  return libraryDriver(options)
}

/**
 * Ticks of a writer, as its driver plays them.
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {ReturnType<typeof strategyOf>} needs.strategy
 * @param {Target} needs.target
 * @param {Records} needs.records
 * @param {Pick<Awaited<ReturnType<typeof instrumentsOf>>, 'source'>} needs.instruments
 * @param {() => number} needs.clock
 * @param {(kind: string, text: string) => void} needs.onEvent
 * @param {Pick<RunClock, 'now'>} needs.time
 * @param {() => number} [needs.stopsAtMs] when the run is stopped, by the clock, as far as is known
 * @param {Course | null} [needs.course] of a run whose rate changes
 * @param {() => number} [needs.measuredFromMs] when the warm-up ends, after the start
 * @param {(share: number) => void} needs.onEncoding
 * @param {() => void} needs.onProgress
 */
export const ticksWriting = async ({
  plan,
  strategy,
  target,
  records,
  instruments,
  clock,
  onEvent,
  time,
  stopsAtMs,
  course,
  measuredFromMs,
  ...on
}) => {
  const { latency, begun: onBegun } = records
  const ledger = itemsIn(records)
  const steps = strategy.steps()
  const driver = await openDriver({
    plan,
    steps,
    target,
    ledger,
    latency,
    machine: machineWith(clock),
    onEvent,
    onBegun,
    onRenewed: instruments.source(reconnects)?.connected,
    onReply: instruments.source(replies)?.replied,
    ...on,
  })
  const reconnecting = reconnectsOf({
    hz: plan.reconnectHz,
    renew: driver.renew,
    clock,
    timers: systemTimers,
  })
  const writing = ticksWriter({
    plan,
    driver,
    ledger,
    clock,
    epochMs: time.now,
    stopsAtMs,
    course,
    measuredFromMs,
  })
  writing.offered.then(reconnecting.stop)
  return {
    driver,
    writing: {
      ...writing,
      start: () => {
        reconnecting.start()
        writing.start()
      },
    },
    reconnects: reconnecting.counts,
  }
}
