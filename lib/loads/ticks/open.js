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
 * @typedef {object} WriterRun a run, as the load of its writers sees it
 * @property {Plan} plan
 * @property {ReturnType<typeof strategyOf>} strategy
 * @property {Target} target
 * @property {Records} records
 * @property {Pick<Awaited<ReturnType<typeof instrumentsOf>>, 'source'>} instruments
 * @property {() => number} clock
 * @property {(kind: string, text: string) => void} onEvent
 * @property {Pick<RunClock, 'now'>} time by the servers' clocks
 * @property {() => number} [stopsAtMs] when it is stopped, by the clock, as far as is known
 * @property {Course | null} [course] of one whose rate changes
 * @property {() => number} [measuredFromMs] when the warm-up ends, after the start
 * @property {(share: number) => void} onEncoding
 * @property {() => void} onProgress
 */

/** @param {DriverOptions} options */
const openDriver = async (options) => {
  if (options.plan.driver === 'socket') return socketDriver(options)
  const { libraryDriver } = await import('../../transport/library-writer.js')
  return libraryDriver(options)
}

/** Ticks of a writer, as its driver plays them. @param {WriterRun} run */
export const ticksWriting = async (run) => {
  const { plan, records, instruments, clock } = run
  const ledger = itemsIn(records)
  const driver = await openDriver({
    plan,
    steps: run.strategy.steps(),
    target: run.target,
    ledger,
    latency: records.latency,
    machine: machineWith(clock),
    onEvent: run.onEvent,
    onBegun: records.begun,
    onRenewed: instruments.source(reconnects)?.connected,
    onReply: instruments.source(replies)?.replied,
    onEncoding: run.onEncoding,
    onProgress: run.onProgress,
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
    epochMs: run.time.now,
    stopsAtMs: run.stopsAtMs,
    course: run.course,
    measuredFromMs: run.measuredFromMs,
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
